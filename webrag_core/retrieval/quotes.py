"""Quotes inside a passage: which sentences answer, and what to print around them. Always exact slices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise

from webrag_core.indexing.markdown import plain_text
from webrag_core.indexing.sentences import language_of
from webrag_core.indexing.terms import term_spans, terms
from webrag_core.language.detection import detected
from webrag_core.language.sentence_ends import sentence_ends

MAX_PASSAGE_CHARS = 8_000
"""Characters of a passage that are read; longer passages are endless tables."""

_LINE_MARKS = re.compile(r"[ \t]*(?:#{1,6}[ \t]+|[-*+][ \t]+|\d+[.)][ \t]+|:[ \t]+|>[ \t]?|\|)*")
_CODE_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_WORD = re.compile(r"\w")
_EXTRA_SENTENCE_COST = 0.4
"""Query terms that a further sentence must add at least; below, it is padding."""


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open offsets into a text, in code points."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the exact slice."""
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class QuoteWindow:
    """What to print of a passage: `shown` is cut at word boundaries around `highlight`, the best sentences."""

    shown: Span
    highlight: Span | None


@lru_cache(maxsize=512)  # a response is measured before it is written
def best_sentences(passage: str, query: str, limit: int = 300) -> Span | None:
    """Return the consecutive sentences of `passage` (Markdown) that hold most of the query's terms.

    At most `limit` characters, unless a single sentence is longer: that one is cut at a word. Code counts line by
    line, tables row by row. None when the passage holds no word.
    """
    units = list(sentence_spans(passage[:MAX_PASSAGE_CHARS]))
    if not units:
        return None
    language = detected(query)
    query_terms = set(terms(query, language))
    matches = [query_terms.intersection(terms(plain_text(unit.of(passage)), language)) for unit in units]
    best, best_score = units[0], (-1.0, 0)
    for first, start in enumerate(units):
        if first and not matches[first]:
            continue  # without this sentence the same ones cost less
        covered: set[str] = set()
        for last in range(first, len(units)):
            if last > first and units[last].end - start.start > limit:
                break
            covered |= matches[last]
            score = (len(covered) - _EXTRA_SENTENCE_COST * (last - first), -first)
            if score > best_score:
                best, best_score = Span(start.start, units[last].end), score
    return best if best.end - best.start <= limit else Span(best.start, _word_end(passage, best.start + limit))


def quote_window(passage: str, query: str, width: int = 600) -> QuoteWindow:
    """Return the part of `passage` to print: all of it, or about `width` characters around its best sentences, from the
    beginning of a sentence."""
    highlight = best_sentences(passage, query)
    if len(passage) <= width:
        return QuoteWindow(Span(0, len(passage)), highlight)
    center = highlight or Span(0, 0)
    start = max(0, min(center.start - (width - (center.end - center.start)) // 2, len(passage) - width))
    end = max(min(start + width, len(passage)), center.end)
    if start:
        begun = (unit.start for unit in sentence_spans(passage[: center.start]) if unit.start >= start)
        start = next(begun, center.start)
    return QuoteWindow(Span(start, end if end == len(passage) else max(_word_end(passage, end), center.end)), highlight)


def matching_words(passage: str, query: str, language: str | None = None) -> list[Span]:
    """The words of `passage` that the query has, too, in any of their forms, in order. `language` is the passage's."""
    query_language = detected(query)
    spans: set[tuple[int, int]] = set()
    for item in dict.fromkeys(
        (query_language, language)
    ):  # a query is compared by the rules of the page's language, too
        spans.update(term_spans(passage, set(terms(query, item)), item))
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(end, joined[-1].end))
        else:
            joined.append(Span(start, end))
    return joined


def sentence_spans(text: str) -> Iterator[Span]:
    """Yield sentences of prose, lines of code and rows of tables, without marks of headings, lists and quotes."""
    language = partial(language_of, text)
    in_code = False
    position = 0
    for line in text.splitlines(keepends=True):
        if _CODE_FENCE.match(line):
            in_code = not in_code
        else:
            marks = None if in_code else _LINE_MARKS.match(line)
            first = marks.end() if marks else 0
            ends = [] if in_code else [first + end for end in sentence_ends(line[first:], language)]
            for start, end in pairwise([first, *ends, len(line)]):
                unit = line[start:end]
                if _WORD.search(unit):
                    begin = position + start + len(unit) - len(unit.lstrip())
                    yield Span(begin, begin + len(unit.strip()))
        position += len(line)


def _word_end(text: str, position: int) -> int:
    """The last word boundary at or before `position`."""
    if position >= len(text) or text[position].isspace():
        return position
    cut = max(text.rfind(" ", 0, position), text.rfind("\n", 0, position))
    return cut if cut > position - 60 else position
