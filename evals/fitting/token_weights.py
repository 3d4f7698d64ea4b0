"""Weight the offline model's tokens by word frequencies of general language; write the file that the core ships.

    pip install wordfreq==3.1.1
    python -m evals.fitting.token_weights

Word frequencies are those of the `wordfreq` package: subtitles, news, Wikipedia, books, web and social media, none of
them an evaluation site. It is needed here and nowhere else. Half of the mass is English, the rest is shared by the
other languages that are written in Latin script and have a large word list, so that their function words weigh little.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webrag_core.providers import static_model

_PASSAGE = 256
_PASSAGES = 20_000
"""Passages of the imagined corpus: a token in none of them weighs ln(20,001) = 9.9."""

_VOCABULARY = 32_000
_LANGUAGES = {"en": 0.5, "de": 0.1, "fr": 0.1, "es": 0.1, "it": 0.1, "nl": 0.05, "pt": 0.05}
_CASES = {str.lower: 0.85, str.capitalize: 0.13, str.upper: 0.02}
"""Share of each spelling; the lists are in lower case, the vocabulary is not."""


def weights_of(words: Mapping[str, float]) -> NDArray[np.float16]:
    """ln((n + 1) / (df + 1)) per token id, where df is the expected number of passages of 256 tokens that hold it.

    `words` maps words in lower case to frequencies. Tokens without a letter or digit stand in every passage.
    """
    spelled = [(case(word), share * part) for word, part in words.items() for case, share in _CASES.items()]
    rates = np.zeros(_VOCABULARY)
    for ids, (_, share) in zip(static_model.token_ids([word for word, _ in spelled]), spelled, strict=True):
        np.add.at(rates, ids, share)
    tokens = static_model.token_texts()
    digits = [token.isdigit() for token in tokens]
    rates[digits] = rates[digits].mean()  # the lists write every number with zeros
    rates /= rates.sum()
    documents = _PASSAGES * -np.expm1(-_PASSAGE * rates)
    documents[[not any(map(str.isalnum, token)) for token in tokens]] = _PASSAGES
    return np.log((_PASSAGES + 1) / (documents + 1)).astype(np.float16)


def general_words() -> dict[str, float]:
    """Frequencies of words over all languages of `_LANGUAGES`. Needs `wordfreq`."""
    from wordfreq import get_frequency_dict

    words: dict[str, float] = {}
    for language, share in _LANGUAGES.items():
        for word, frequency in get_frequency_dict(language, wordlist="best" if language == "en" else "small").items():
            words[word] = words.get(word, 0.0) + share * frequency
    return words


def main() -> None:
    """Write `webrag_core/providers/token_weights.npy`."""
    target = Path(static_model.__file__).with_name("token_weights.npy")
    np.save(target, weights_of(general_words()))
    print(f"{target.name}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
