"""Questions to begin with, made of the headings of stored pages, in the language of the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter

from psycopg import AsyncConnection

from webrag_core.indexing.markdown import parse_blocks, plain_text
from webrag_core.page_text import one_line
from webrag_core.text_work import beside_loop

_ABOUT: Mapping[str, str] = {
    "de": "Was steht dort über {}?",
    "en": "What does it say about {}?",
    "es": "¿Qué dice sobre {}?",
    "fr": "Que dit le site sur {} ?",
    "it": "Che cosa dice su {}?",
    "nl": "Wat staat er over {}?",
    "pt": "O que diz sobre {}?",
}
_ASKING = re.compile(r"(?:how|what|when|where|which|who|why)\b", re.IGNORECASE)
_NUMBER = re.compile(r"^(?:chapter |section )?[\dIVX]+(?:\.\d+)*[.:)]?\s+(?=\D)", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]{3}")
_SHORTEST, _LONGEST = 8, 70
_PAGES = 8
"""Pages of a source whose headings are looked at, each up to `_CHARACTERS`."""
_CHARACTERS = 6_000
# in no order within a source: an ordered part of a large one would read all of it
_TEXTS = """
SELECT s.key, left(v.markdown, %(characters)s), language_of(v.language, v.detected_language)
FROM sources s CROSS JOIN LATERAL (SELECT d.id, d.current_version FROM documents d
 WHERE d.source_id = s.id AND d.current_version IS NOT NULL LIMIT %(pages)s) d
CROSS JOIN LATERAL (SELECT * FROM document_versions WHERE id = d.current_version LIMIT 1) v
WHERE s.key = ANY(%(keys)s) AND v.markdown IS NOT NULL ORDER BY s.key, d.id
"""


async def example_questions(connection: AsyncConnection, keys: Sequence[str], most: int = 2) -> dict[str, list[str]]:
    """At most `most` questions for each source, by key, each of another page. Sources without a heading that makes a
    question are left out."""
    cursor = await connection.execute(_TEXTS, {"keys": list(keys), "pages": _PAGES, "characters": _CHARACTERS})
    texts = [(str(key), str(text), str(language or "")) for key, text, language in await cursor.fetchall()]
    return await beside_loop(_questions, texts, most)


def _questions(texts: Iterable[tuple[str, str, str]], most: int) -> dict[str, list[str]]:
    """The questions of (key, text, language) of pages."""
    best: dict[str, list[tuple[int, str]]] = {}
    for key, text, language in texts:
        known = {question for _, question in best.get(key, ())}
        new = [ranked for ranked in _questions_of(text, language) if ranked[1] not in known]
        if new:
            best.setdefault(key, []).append(min(new, key=itemgetter(0)))
    return {key: [question for _, question in sorted(ranked, key=itemgetter(0))[:most]] for key, ranked in best.items()}


@lru_cache(maxsize=256)  # of the same pages each time
def _questions_of(text: str, language: str) -> tuple[tuple[int, str], ...]:
    """The questions of the sections of a text, below its first heading, each with how little it fits."""
    headings = dict.fromkeys(
        block.heading_path[-1]
        for block in parse_blocks(text)
        if len(block.heading_path) > 1 and block.kind != "heading"
    )
    questions = (question_of(plain_text(heading), language) for heading in headings)
    return tuple(question for question in questions if question is not None)


def question_of(heading: str, language: str) -> tuple[int, str] | None:
    """A question of a heading in `language` (BCP 47), and how little it fits, from 0; None for a heading that names too
    little or too much, or whose language has no form here. Pure."""
    text = _NUMBER.sub("", one_line(heading)).strip(" :.#¶")
    if not _SHORTEST <= len(text) <= _LONGEST or not _LETTERS.search(text):
        return None
    if text.endswith(("?", "？")):
        return 0, text
    if language.startswith("en") and _ASKING.match(text):
        return 1, f"{text}?"
    form = _ABOUT.get(language.partition("-")[0])
    if form is None or len(text.split()) < 2:  # single words are names of chapters: introduction, notes
        return None
    first = text.partition(" ")[0]
    if language.startswith("en") and first.endswith("ing") and first.istitle():
        text = text[0].lower() + text[1:]
    return 2, form.format(text)
