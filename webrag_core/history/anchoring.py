"""Where a quote of one text stands in another: the cascade behind the states of citations.

Only equal text is ever `valid` or `moved`; what is merely similar is `changed`. A quoted sentence that grew is another
sentence: where the quote began or ended one, its place must, too. In order:

1. the same Markdown in the same section: valid (a section is the same when its heading names the same thing, though
   it may be worded otherwise, such as a function's signature, and stand in another chapter);
2. the same Markdown elsewhere: moved (of several places the one whose surroundings agree longest);
3. the same words, with other link targets, emphasis, white space or typographic signs: moved, by `markup`;
4. (`history.citations`) the same on another page: moved, to the `page`;
5. a passage that keeps `REWORDED` of the quote's words in their order: changed, `reworded`;
6. nothing of it: changed, `lost`.

A quote of several sentences that does not stand as a whole is followed sentence by sentence: it moved when each of them
still stands, and is changed otherwise.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

from webrag_core.history.facts import Fact, deprecation_changed, facts_changed
from webrag_core.history.page_text import PageText, without_markup, words_of

State = Literal["valid", "moved", "changed", "gone", "broken"]
How = Literal["same", "text", "markup", "page", "reworded", "lost"]

REWORDED = 0.8
"""Share of a quote's words that a passage keeps, from which on it is the quote in other words."""
SURROUNDINGS = 64
"""Characters before and after a quote that tell its place from others with the same text."""
CLEAR_MARGIN = 8
"""Characters by which the surroundings of one place must agree longer than those of the next, to be told apart."""
DISTINCT = 40
"""Characters from which on a quote is not said by chance in another place; shorter ones need equal surroundings."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a quote stands now. `kept` is the share of its words that stand there, in [0, 1]; `ambiguous`: it stands
    in several places that cannot be told apart; `context_changed`: other headings, other neighbours on both sides, or a
    note of deprecation that was not there."""

    state: State
    how: How
    kept: float
    start: int | None = None
    end: int | None = None
    ambiguous: bool = False
    context_changed: bool = False
    facts_changed: tuple[Fact, ...] = ()
    sentences: int = 1
    standing: int = 1
    """Sentences (or smaller units) of the quote, and how many of them stand unchanged."""


def find_quote(old: PageText, start: int, end: int, new: PageText, *, similar: bool = True) -> Place | None:
    """Where the quote [start, end) of `old` stands in `new`; None when nothing of it does.

    With `similar` False only equal text counts: steps 1 to 3. Pure.
    """
    units = old.units(start, end)
    place = _same_text(old, start, end, new) or _same_words(old, start, end, new)
    if place is not None:
        return replace(place, sentences=len(units), standing=len(units))
    if not similar:
        return None
    return _by_sentence(old, units, new) if len(units) > 1 else _similar(old.text[start:end], new)


def _by_sentence(old: PageText, units: Sequence[tuple[int, int]], new: PageText) -> Place | None:
    """What became of a quote whose sentences have fates of their own."""
    places = [(find_quote(old, start, end, new), end - start) for start, end in units]
    standing = [place for place, _ in places if place is not None and place.state in ("valid", "moved")]
    spans = [(place.start, place.end) for place, _ in places if place is not None and place.start is not None]
    kept = sum(length * (0.0 if place is None else place.kept) for place, length in places) / sum(
        place for _, place in places
    )
    if not spans and kept == 0:
        return None
    whole = len(standing) == len(units)
    similar = whole or kept >= REWORDED
    return Place(
        "moved" if whole else "changed",
        "text" if whole else "reworded" if similar else "lost",
        1.0 if whole else round(min(kept, 0.999), 3),
        min(start for start, _ in spans) if similar and spans else None,
        max(end or 0 for _, end in spans) if similar and spans else None,
        any(item.ambiguous for item in standing),
        True,
        tuple(sorted({fact for place, _ in places if place is not None for fact in place.facts_changed})),
        len(units),
        len(standing),
    )


def _same_text(old: PageText, start: int, end: int, new: PageText) -> Place | None:
    quote = old.text[start:end]
    edges = old.edges(start, end)
    places = ((at, at + len(quote)) for at in _occurrences(quote, new.text))
    spans = [span for span in places if _fits(edges, new.edges(*span))]
    best = _best_of(old, start, end, new, spans, len(quote))
    if best is None:
        return None
    here, ambiguous, at, last = best
    state: State = "valid" if here else "moved"
    changed = not here or _context_changed(old, start, end, new, at, last)
    return Place(state, "same" if here else "text", 1.0, at, last, ambiguous, changed)


def _same_words(old: PageText, start: int, end: int, new: PageText) -> Place | None:
    words = without_markup(old.text[start:end])
    if not _WORD.search(words):
        return None
    edges = old.edges(start, end)
    places = ((at, at + len(words)) for at in _occurrences(words, new.plain.text))
    spans = [new.plain.span(*place) for place in places if _fits(edges, new.plain.edges(*place))]
    best = _best_of(old, start, end, new, spans, len(words))
    if best is None:
        return None
    here, ambiguous, at, last = best
    changed = not here or _context_changed(old, start, end, new, at, last)
    return Place("moved", "markup", 1.0, at, last, ambiguous, changed)


def _best_of(
    old: PageText, start: int, end: int, new: PageText, spans: Sequence[tuple[int, int]], length: int
) -> tuple[bool, bool, int, int] | None:
    """Of the `spans` of `new` that say the same as a quote of `length` characters: whether the best one is in the same
    section, whether it is ambiguous, and the span. The section counts first, then how far the surroundings agree. None
    without any, and where the best may say so by chance (`DISTINCT`)."""
    ranked = sorted(
        (
            (old.same_section(start, new, first), _agreement(old.text, start, end, new.text, first, last), -first, last)
            for first, last in spans
        ),
        reverse=True,
    )
    if not ranked:
        return None
    here, agreement, negative, last = ranked[0]
    if not here and length < DISTINCT and agreement < SURROUNDINGS // 4:
        return None
    ambiguous = len(ranked) > 1 and ranked[1][0] == here and agreement - ranked[1][1] < CLEAR_MARGIN
    return here, ambiguous, -negative, last


def _similar(quote: str, new: PageText) -> Place | None:
    words = words_of(quote)
    if not words:
        return None
    best = _best_window(words, new)
    if best is None:
        return None
    shared, window = best
    kept = shared / len(words)
    if kept < REWORDED:
        return Place("changed", "lost", round(kept, 3), standing=0)
    start, end = new.words.span(window)
    return Place(
        "changed",
        "reworded",
        round(kept, 3),
        start,
        end,
        facts_changed=tuple(facts_changed(quote, new.text[start:end])),
        context_changed=True,
        standing=0,
    )


def _best_window(words: Sequence[str], new: PageText) -> tuple[int, tuple[int, int]] | None:
    """The window of `new` that has most of these words in their order, the first of equal ones, and how many.

    Words in any order are an upper bound: windows that cannot win by it are not aligned.
    """
    windows, counts = new.words.windows(words), Counter(words)
    bounds = sorted((-new.words.shared(window, counts), place) for place, window in enumerate(windows))
    best: tuple[int, int] | None = None  # negative number of words, place
    for bound in bounds:
        if best is not None and bound > best:
            break
        matcher = SequenceMatcher(None, words, new.words.words(windows[bound[1]]), autojunk=False)
        shared = sum(block.size for block in matcher.get_matching_blocks())
        best = min(filter(None, (best, (-shared, bound[1]))))
    return None if best is None else (-best[0], windows[best[1]])


def _occurrences(quote: str, text: str) -> list[int]:
    places: list[int] = []
    at = text.find(quote)
    while at >= 0 and len(places) < 1_000:
        if _whole_words(text, at, at + len(quote)):
            places.append(at)
        at = text.find(quote, at + 1)
    return places


def _fits(old: tuple[bool, bool], new: tuple[bool, bool]) -> bool:
    return (new[0] or not old[0]) and (new[1] or not old[1])


def _whole_words(text: str, start: int, end: int) -> bool:
    """Whether no word is cut: "cat" does not stand in "catalogue"."""
    before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    after = end < len(text) and text[end - 1].isalnum() and text[end].isalnum()
    return not before and not after


def _agreement(old: str, start: int, end: int, new: str, at: int, at_end: int) -> int:
    """Characters for which the surroundings of both places agree, outwards from the quote."""
    before = zip(
        reversed(old[max(0, start - SURROUNDINGS) : start]), reversed(new[max(0, at - SURROUNDINGS) : at]), strict=False
    )
    after = zip(old[end : end + SURROUNDINGS], new[at_end : at_end + SURROUNDINGS], strict=False)
    return _common(before) + _common(after)


def _common(pairs: zip[tuple[str, str]]) -> int:
    length = 0
    for pair, other in pairs:
        if pair != other:
            break
        length += 1
    return length


def _context_changed(old: PageText, start: int, end: int, new: PageText, at: int, at_end: int) -> bool:
    if old.headings_at(start) != new.headings_at(at):
        return True
    pairs = zip(old.neighbours(start, end), new.neighbours(at, at_end), strict=True)
    changed = [(pair, other) for pair, other in pairs if pair != other]
    return len(changed) == 2 or any(deprecation_changed(first, other) for first, other in changed)
