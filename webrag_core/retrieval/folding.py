"""What a result list must not be full of: the same text of many pages, and passages of a single page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

from webrag_core.retrieval.models import AlsoOn, RankedChunk
from webrag_core.retrieval.redundancy import text_overlaps

FIRST = 10
"""Results among which a page has at most `OF_A_PAGE`."""
OF_A_PAGE = 3

_ALIKE = 0.7  # share of the shingles of both from which two passages say the same, if in the same numbers and names
# words of small letters are passed over before it: they are most of a text, and tell nothing
_WORD = re.compile(r"(?:\W*+[a-z]++[.,:-]*+(?!\w))*+\W*+(?:(?P<word>\w[\w.,:-]*\w|\w)|\Z)")
_TELLING = re.compile(r"[^\W_a-z]")
_STARTS = re.compile(r"(?:^|[.!?:|>#*\n])[\s\"'“„«(*_`|>#-]*$")
_REACH = 8  # characters before a word that say whether it begins a sentence

Item = TypeVar("Item")


def folded(ranked: Sequence[RankedChunk], ceiling: float) -> list[RankedChunk]:
    """The chunks, best first, without those whose text a better one already holds, each with the pages of those that
    say the same; with a `ceiling` of 1 those that say it in the very words. Passages that differ in a number or a name
    stay apart: they may be about two things."""
    texts = [passage.chunk.text for passage in ranked]
    overlaps = text_overlaps(texts).tolist()
    telling = lru_cache(maxsize=None)(lambda index: _telling(texts[index]))
    kept: dict[int, list[int]] = {}
    for index in range(len(texts)):
        for other in kept:
            here, there = overlaps[index][other], overlaps[other][index]
            is_within = here > 0 and here >= ceiling and telling(index) <= telling(other)
            is_alike = ceiling < 1 and min(here, there) >= _ALIKE and telling(index) == telling(other)
            if is_within or is_alike:
                kept[other].append(index)
                break
        else:
            kept[index] = []
    return [_with_pages(ranked[index], [ranked[other] for other in others]) for index, others in kept.items()]


def _with_pages(ranked_chunk: RankedChunk, others: Sequence[RankedChunk]) -> RankedChunk:
    """A chunk with the other pages that say the same."""
    chunk = ranked_chunk.chunk
    pages: dict[int, AlsoOn] = {}
    for other in (ranked.chunk for ranked in others):
        if other.document_id != chunk.document_id and other.document_id not in pages:
            pages[other.document_id] = AlsoOn(
                document_id=other.document_id,
                version_id=other.version_id,
                source_url=other.source_url,
                title=other.title,
                char_start=other.char_start,
                char_end=other.char_end,
                is_equal=other.text.split() == chunk.text.split(),
            )
    if not pages:
        return ranked_chunk
    return ranked_chunk.model_copy(update={"chunk": chunk.model_copy(update={"also_on": list(pages.values())})})


def spread(items: Sequence[Item], page_of: Callable[[Item], object], is_relevant: Callable[[Item], bool]) -> list[Item]:
    """The items, best first, with at most `OF_A_PAGE` of a page among the first `FIRST`, as long as another page has a
    relevant one; the others of it come behind those."""
    rest = list(items)
    first: list[Item] = []
    counts: Counter[object] = Counter()
    while rest and len(first) < FIRST:
        fitting = (at for at, item in enumerate(rest) if counts[page_of(item)] < OF_A_PAGE and is_relevant(item))
        at = next(fitting, None)
        if at is None:
            break  # nor will any later
        item = rest.pop(at)
        first.append(item)
        counts[page_of(item)] += 1
    return [*first, *rest]


def _telling(text: str) -> frozenset[str]:
    """The numbers, codes and names of a text: words with a digit, or with a capital that does not begin a sentence."""
    results = set()
    for match in _WORD.finditer(text):
        word = match["word"] or ""
        rest, start = word[1:], match.start("word")
        is_coded = word[:1].isdigit() or (
            _TELLING.search(rest) is not None and any(character.isdigit() or character.isupper() for character in rest)
        )
        if is_coded or (word[:1].isupper() and not _STARTS.search(text[max(0, start - _REACH) : start])):
            results.add(word)
    return frozenset(results)
