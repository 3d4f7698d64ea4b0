"""The words of a passage that a model can quote: its best sentences, not its head."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from webrag_core.indexing.terms import terms
from webrag_core.mcp_server.reading import readable

_SENTENCE = re.compile(r".+?(?:[.!?](?=\s)|[。！？]|$)")
_MARK_UP = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|[-*+][ \t]+|\d+[.)][ \t]+|:[ \t]+|>[ \t]?)?")
_NOTHING = re.compile(r"[\W_]*")
_SPACE = re.compile(r"\s+")
_READ = 8_000  # characters of a passage; longer ones are tables without end


@lru_cache(maxsize=256)  # a response is measured before it is written
def best_quote(passage: str, query: str, limit: int) -> str:
    """Consecutive sentences of `passage` (Markdown) with most of the query's words: one line, `limit` characters."""
    sentences = list(_sentences(readable(passage[:_READ])))
    if not sentences:
        return _cut(_SPACE.sub(" ", passage).strip(), limit)
    wanted = set(terms(query))
    found = [wanted & set(terms(sentence)) for sentence in sentences]
    best, best_score = (0, 1), (-1.0, 0)
    for start in range(len(sentences)):
        held: set[str] = set()
        length = 0
        for end in range(start, len(sentences)):
            length += len(sentences[end]) + 1
            if end > start and length > limit:
                break
            held |= found[end]
            # a sentence more must bring a word more, or it is padding
            score = (float(len(held)) - 0.4 * (end - start), -start)
            if score > best_score:
                best, best_score = (start, end + 1), score
    return _cut(" ".join(sentences[slice(*best)]), limit)


def _sentences(text: str) -> Iterator[str]:
    """Sentences of prose, lines of code, rows of tables; each on one line without marks of headings and lists."""
    within_code = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            within_code = not within_code
            continue
        parts = [line] if within_code else _SENTENCE.findall(_MARK_UP.sub("", line))
        for part in parts:
            sentence = _SPACE.sub(" ", part).strip()
            if not _NOTHING.fullmatch(sentence):
                yield sentence


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rsplit(None, 1)[0] + "…"
