"""Count which letters follow each other in each language; write the table by which undeclared charsets are read.

    pip install wordfreq[jieba]==3.1.1 pythainlp==5.4.0
    python -m evals.fitting.letter_pairs

Words and their frequencies are those of the `wordfreq` package, for Thai the Thai National Corpus as `pythainlp` counts
it. Both are needed here and nowhere else.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from webrag_core.acquisition.undeclared import letters

_ALPHABETIC = (
    *("ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "fi", "fr", "he", "hu", "is", "it", "lt", "lv", "mk", "nb"),
    *("nl", "pl", "pt", "ro", "ru", "sh", "sk", "sl", "sv", "tr", "uk"),
)
_LATIN_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LEAST_SHARE = 2e-5
"""Of all letters, for a letter to count as one of the alphabet."""

_UNSEEN = 3e-4
"""Share that is left for pairs that the words do not have, spread evenly."""

_CHARACTERS = 2_000
# as one-byte charsets write them
_ROMANIAN = str.maketrans("șț", "şţ")
_SERBIAN = (
    *(("lj", "љ"), ("nj", "њ"), ("dž", "џ")),
    *zip("abcčćdđefghijklmnoprsštuvzž", "абцчћдђефгхијклмнопрсштувзж", strict=True),
)


def pairs_of(words: Mapping[str, float], *, spaced: bool = True) -> dict[str, str]:
    """The letters of words with their frequencies, the blank first, and how seldom each follows each.

    One mark for each pair, row by row: quarters of bits above the code of `letters.ZERO`. `spaced`: with blanks between
    words.
    """
    counts: defaultdict[str, float] = defaultdict(float)
    for word, frequency in words.items():
        for letter in word:
            counts[letter] += frequency
    total = sum(counts.values())
    known = {letter for letter, count in counts.items() if count / total >= _LEAST_SHARE and _is_of_words(letter)}
    foreign = sum(letter > "\u024f" for letter in known) > len(known) / 2
    known = known - set(_LATIN_LETTERS) if foreign else known | set(_LATIN_LETTERS)
    alphabet = " " + "".join(sorted(known - {" "}))
    pairs: defaultdict[tuple[str, str], float] = defaultdict(float)
    ends: defaultdict[str, float] = defaultdict(float)
    starts: defaultdict[str, float] = defaultdict(float)
    for word, frequency in words.items():
        kept = "".join(letter if letter in known else " " for letter in word)
        spelled = f" {kept} " if spaced else kept
        for first, second in pairwise(spelled):
            pairs[first, second] += frequency
        starts[kept[0]] += frequency
        ends[kept[-1]] += frequency
    if not spaced:
        all_starts = sum(starts.values())
        for first, end in ends.items():
            for second, start in starts.items():
                pairs[first, second] += end * start / all_starts
    rows = []
    for first in alphabet:
        row = sum(pairs[first, second] for second in alphabet) or 1.0
        for second in alphabet:
            share = (1 - _UNSEEN * len(alphabet)) * pairs[first, second] / row + _UNSEEN
            rows.append(chr(letters.ZERO + min(letters.MOST, round(-4 * math.log2(share)))))
    return {"letters": alphabet, "pairs": "".join(rows)}


def _is_of_words(letter: str) -> bool:
    return letter.isalpha() or "\u0e30" <= letter <= "\u0e4e"


def characters_of(words: Mapping[str, float]) -> str:
    """The most frequent characters of words, the most frequent first."""
    counts: defaultdict[str, float] = defaultdict(float)
    for word, frequency in words.items():
        for character in word:
            if character > "\x7f" and character.isalpha():
                counts[character] += frequency
    return "".join(sorted(counts, key=counts.__getitem__, reverse=True)[:_CHARACTERS])


def _serbian(words: Mapping[str, float]) -> dict[str, float]:
    spelled = {}
    for word, frequency in words.items():
        for latin, cyrillic in _SERBIAN:
            word = word.replace(latin, cyrillic)
        spelled[word] = frequency
    return spelled


def _traditional(words: Mapping[str, float]) -> dict[str, float]:
    """Frequencies of the characters of Big5 that words in simplified ones stand for."""
    from wordfreq.chinese import simplify_chinese

    written: dict[str, list[str]] = {}
    for code in range(0x4E00, 0xA000):
        character = chr(code)
        in_big5 = character.encode("big5", "ignore")
        if in_big5 and in_big5[0] < 0xC9:  # the first level: what is common
            written.setdefault(simplify_chinese(character), []).append(character)
    spelled: defaultdict[str, float] = defaultdict(float)
    for word, frequency in words.items():
        for character in word:
            forms = written.get(character, ())
            # where the simplified form is a character of old as well, the fuller one is what is meant
            for form in [form for form in forms if form != character] or forms:
                spelled[form] += frequency / max(1, len(forms))
    return dict(spelled)


def _thai() -> dict[str, float]:
    import pythainlp

    text = (Path(pythainlp.__file__).parent / "corpus" / "tnc_freq.txt").read_text(encoding="utf-8")
    rows: Iterable[list[str]] = (line.split("\t") for line in text.splitlines())
    return {row[0]: float(row[1]) for row in rows if len(row) == 2 and row[0] and "\u0e00" < row[0][0] < "\u0e7f"}


def table() -> dict[str, dict[str, str]]:
    """Letters and pairs, or characters, of every language."""
    from wordfreq import get_frequency_dict

    words = {code: get_frequency_dict(code, wordlist="small") for code in (*_ALPHABETIC, "ja", "ko", "zh")}
    words["ro"] = {word.translate(_ROMANIAN): frequency for word, frequency in words["ro"].items()}
    entries = {code: pairs_of(words[code]) for code in _ALPHABETIC}
    entries["sr"] = pairs_of(_serbian(words["sh"]))
    entries["th"] = pairs_of(_thai(), spaced=False)
    entries |= {code: {"characters": characters_of(words[code])} for code in ("ja", "ko", "zh")}
    entries["zh-hant"] = {"characters": characters_of(_traditional(words["zh"]))}
    return dict(sorted(entries.items()))


def main() -> None:
    """Write `webrag_core/acquisition/undeclared/letter_pairs.json`."""
    target = Path(letters.__file__).with_name("letter_pairs.json")
    target.write_text(json.dumps(table(), ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    print(f"{target.name}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
