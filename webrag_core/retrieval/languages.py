"""What the language of a question changes: how far the models' scores of it are trusted, and what is said of it.

The static model knows English best, and other languages as far as its vocabulary has their words: the share of a
question's letters that stand in tokens of three letters or more is .90 (median) in English, .87 in German, .72 in
Spanish, .64 in Russian, .45 in Turkish and 0 in Chinese, Arabic, Hindi and Thai. The rule was made on half of XQuAD in
English, Spanish, German, Chinese and Russian (`benchmarks.retrieval.languages`).
"""

from __future__ import annotations

from collections.abc import Sequence

from webrag_core.config.embedding import EmbeddingSettings
from webrag_core.language.detection import detected, detected_surely
from webrag_core.language.names import language_name
from webrag_core.providers.static_model import known_letters
from webrag_core.retrieval.models import RetrievedChunk
from webrag_core.retrieval.weights import ScoreWeights

_JUDGED = 5  # chunks whose language is looked at
_UNKNOWN, _KNOWN = 0.2, 0.7  # shares of known letters below and above which nothing changes any more


def weights_for(query: str, weights: ScoreWeights, settings: EmbeddingSettings | None = None) -> ScoreWeights:
    """`weights` as they are for a question that the static model knows the words of; the less it does, the more the
    share of BM25 decides. The cosine then counts as far as the embedding model knows the language."""
    known = min(1.0, max(0.0, (known_letters(query) - _UNKNOWN) / (_KNOWN - _UNKNOWN)))
    knows = None if settings is None else embedder_knows(detected(query), settings)
    return weights.trusting(known, known if knows is None else float(knows))


def language_warnings(query: str, chunks: Sequence[RetrievedChunk], settings: EmbeddingSettings) -> list[str]:
    """A warning where the question is surely in one language and the best `_JUDGED` chunks, best first, in others, and
    none of all that were found in the language of the question."""
    language = detected_surely(query)
    results = [chunk.language.partition("-")[0] for chunk in chunks if chunk.language is not None]
    answered = [chunk.language.partition("-")[0] for chunk in chunks[:_JUDGED] if chunk.language is not None]
    if language is None or not answered or language in results:
        return []
    theirs = max(dict.fromkeys(answered), key=answered.count)
    return [crossing_note(language, theirs, bridged=all(embedder_knows(item, settings) for item in (language, theirs)))]


def crossing_note(language: str, answered: str, *, bridged: bool) -> str:
    """What to tell of a question in one language that pages in another answer."""
    first, second = language_name(language), language_name(answered)
    how = (
        "the embedding model finds them by meaning, words match only where both languages share them"
        if bridged
        else f"pages are found by their words, so ask in {second} to find more (or configure a multilingual embedding"
        " model)"
    )
    return f"the question is in {first}, the pages are in {second}: {how}"


def embedder_knows(language: str | None, settings: EmbeddingSettings) -> bool | None:
    """Whether the configured embedding model knows a language (EMBEDDING_LANGUAGES). None = as far as the vocabulary of
    the static model goes."""
    stated = settings.embedding_languages
    if stated is None:
        offline = settings.embedding_base_url is None and settings.embedding_api_key is None
        return None if offline else True
    if stated.strip() == "*" or language is None:
        return True
    return language in {word.strip().lower().partition("-")[0] for word in stated.split(",")}
