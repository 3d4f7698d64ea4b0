"""What changed between two texts of a page, block by block: the same, moved, edited, added, removed.

Blocks are equal when their plain texts are: link targets, emphasis and white space change nothing. Blocks that occur
once on both sides anchor the order (patience diff); between anchors equal blocks are aligned; a block that left one
place and came in another has moved; blocks in the same gap that share half of their words were edited.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel

from webrag_core.history.facts import Fact, facts_changed
from webrag_core.indexing.markdown import Block, parse_blocks, plain_text

Kind = Literal["same", "moved", "edited", "added", "removed"]
Operation = Literal["same", "added", "removed"]

_SHARED = 0.5  # of the words of two blocks, from which on one was edited into the other
_MANY_TOKENS = 3_000  # beyond which words are not aligned one by one
_MANY_PAIRS = 250_000  # pairs of blocks in one gap that are compared
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_WORD = re.compile(r"\w+")


class TextSpan(BaseModel):
    """[start, end) of one side's text, in code points."""

    start: int
    end: int


class WordChange(BaseModel):
    """A run of words of an edited block."""

    op: Operation
    text: str


class BlockChange(BaseModel):
    """One block on one or both sides. `before` and `after` are its spans there; `words` are set where it was edited,
    `facts_changed` where it was edited, added or removed."""

    kind: Kind
    block: str
    heading_path: list[str]
    before: TextSpan | None = None
    after: TextSpan | None = None
    words: list[WordChange] = []
    facts_changed: list[Fact] = []


class PageDiff(BaseModel):
    """All blocks of both sides, each once, in the order of the new text; removed ones stand where they were."""

    blocks: list[BlockChange]

    @property
    def changes(self) -> list[BlockChange]:
        """Those that are not the same in the same order."""
        return [block for block in self.blocks if block.kind != "same"]

    @property
    def facts_changed(self) -> list[Fact]:
        """Kinds of facts that changed in any block."""
        return sorted({fact for block in self.blocks for fact in block.facts_changed})

    def counts(self) -> dict[str, int]:
        """Number of blocks of each kind."""
        return dict(Counter(block.kind for block in self.blocks))


@dataclass(frozen=True, slots=True)
class _Side:
    text: str
    blocks: Sequence[Block]
    keys: Sequence[str]

    @classmethod
    def of(cls, text: str) -> _Side:
        blocks = parse_blocks(text)
        return cls(text, blocks, [f"{block.kind}\0{_key(text, block)}" for block in blocks])

    def body(self, number: int) -> str:
        return self.text[self.blocks[number].start : self.blocks[number].end]


def diff_texts(before: str, after: str) -> PageDiff:
    """Compare two texts (Markdown). Pure."""
    old, new = _Side.of(before), _Side.of(after)
    partner = dict(_aligned(old.keys, new.keys, 0, len(old.keys), 0, len(new.keys)))
    moved = _equal_elsewhere(old, new, partner)
    edited = _edited(old, new, partner, moved)
    return PageDiff(blocks=list(_in_order(old, new, partner, moved, edited)))


@lru_cache(maxsize=8)
def recent_diff(before: str, after: str) -> PageDiff:
    """`diff_texts`, of which the last few results stay in memory: who reads of a change wants to see it."""
    return diff_texts(before, after)


def word_changes(before: str, after: str) -> list[WordChange]:
    """How the words of one text became those of another. Joined without the removed ones they are `after`."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if max(len(old), len(new)) > _MANY_TOKENS:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    changes: list[WordChange] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            changes.append(WordChange(op="same", text="".join(new[c:d])))
            continue
        if b > a:
            changes.append(WordChange(op="removed", text="".join(old[a:b])))
        if d > c:
            changes.append(WordChange(op="added", text="".join(new[c:d])))
    return changes


def shared_words(before: str, after: str) -> float:
    """Share of words that two texts have in common (Dice), in [0, 1]; 1 for two texts without a word."""
    return _shared(_words(before), _words(after))


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(plain_text(text).casefold()))


def _shared(old: Counter[str], new: Counter[str]) -> float:
    total = old.total() + new.total()
    return 2 * (old & new).total() / total if total else 1.0


def _key(text: str, block: Block) -> str:
    body = text[block.start : block.end]
    return body.strip() if block.kind == "code" else plain_text(body)


def _aligned(old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int) -> Iterator[tuple[int, int]]:
    """Pairs of equal blocks in the same order, of old[a:b] and new[c:d]."""
    while a < b and c < d and old[a] == new[c]:
        yield a, c
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b, d = b - 1, d - 1
        yield b, d
    if a == b or c == d:
        return
    anchors = _anchors(old, new, a, b, c, d)
    if not anchors:
        if (b - a) * (d - c) > _MANY_PAIRS:
            return  # they count as moved where they are equal
        for match in SequenceMatcher(None, old[a:b], new[c:d], autojunk=False).get_matching_blocks():
            yield from ((a + match.a + step, c + match.b + step) for step in range(match.size))
        return
    for i, j in [*anchors, (b, d)]:
        yield from _aligned(old, new, a, i, c, j)
        if i < b and j < d:
            yield i, j
        a, c = i + 1, j + 1


def _anchors(old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int) -> list[tuple[int, int]]:
    """Longest run of pairs, in order on both sides, of blocks that occur once on each."""
    counts = Counter(old[a:b]), Counter(new[c:d])
    places = {new[j]: j for j in range(c, d) if counts[1][new[j]] == 1}
    pairs = [(i, places[old[i]]) for i in range(a, b) if counts[0][old[i]] == 1 and old[i] in places]
    tails: list[int] = []  # longest increasing run, by patience sorting
    piles: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        pile = bisect_left(tails, j)
        tails[pile:] = [j, *tails[pile + 1 :]]
        piles[pile:] = [number, *piles[pile + 1 :]]
        before.append(piles[pile - 1] if pile else -1)
    run: list[tuple[int, int]] = []
    number = piles[-1] if piles else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]


def _equal_elsewhere(old: _Side, new: _Side, partner: dict[int, int]) -> dict[int, int]:
    """Equal blocks in another order, first to first."""
    taken = set(partner.values())
    places: dict[str, list[int]] = {}
    for j in range(len(new.keys) - 1, -1, -1):
        if j not in taken:
            places.setdefault(new.keys[j], []).append(j)
    return {i: places[key].pop() for i, key in enumerate(old.keys) if i not in partner and places.get(key)}


def _edited(old: _Side, new: _Side, partner: dict[int, int], moved: dict[int, int]) -> dict[int, int]:
    """Blocks that share half of their words, the most alike first: those of one gap between aligned blocks, then what
    is left anywhere (a paragraph that was edited while its section moved)."""
    pairs: dict[int, int] = {}
    taken = {*moved.values(), *partner.values()}
    for first, last, start, stop in [
        *_gaps(len(old.blocks), len(new.blocks), partner),
        (0, len(old.blocks), 0, len(new.blocks)),
    ]:
        left = [i for i in range(first, last) if i not in partner and i not in moved and i not in pairs]
        right = [j for j in range(start, stop) if j not in taken]
        if not left or not right or len(left) * len(right) > _MANY_PAIRS:
            continue
        words_old = {i: _words(old.body(i)) for i in left}
        words_new = {j: _words(new.body(j)) for j in right}
        scored = [
            (-_shared(words_old[i], words_new[j]), abs((i - first) - (j - start)), i, j)
            for i in left
            for j in right
            if old.blocks[i].kind == new.blocks[j].kind
        ]
        for negative, _, i, j in sorted(scored):
            if -negative >= _SHARED and i not in pairs and j not in taken:
                pairs[i] = j
                taken.add(j)
    return pairs


def _gaps(old: int, new: int, partner: dict[int, int]) -> Iterator[tuple[int, int, int, int]]:
    a = c = 0
    for i, j in [*sorted(partner.items()), (old, new)]:
        if i > a or j > c:
            yield a, i, c, j
        a, c = i + 1, j + 1


def _in_order(
    old: _Side, new: _Side, partner: dict[int, int], moved: dict[int, int], edited: dict[int, int]
) -> Iterator[BlockChange]:
    """The blocks of the new text in order; removed ones before what followed them."""
    kinds: dict[int, tuple[Kind, int]] = {j: ("same", i) for i, j in partner.items()}
    kinds |= {j: ("moved", i) for i, j in moved.items()}
    kinds |= {j: ("edited", i) for i, j in edited.items()}
    kept = {i for _, i in kinds.values()}
    removed: dict[int, list[int]] = {}
    place = len(new.blocks)
    for i in range(len(old.blocks) - 1, -1, -1):
        place = partner.get(i, edited.get(i, place))
        if i not in kept:
            removed.setdefault(place, []).insert(0, i)
    for j in range(len(new.blocks) + 1):
        for i in removed.get(j, ()):
            block = old.blocks[i]
            yield _change("removed", block, before=(block, old.body(i)))
        if j == len(new.blocks):
            return
        block = new.blocks[j]
        if j in kinds:
            kind, i = kinds[j]
            yield _change(kind, block, before=(old.blocks[i], old.body(i)), after=(block, new.body(j)))
        else:
            yield _change("added", block, after=(block, new.body(j)))


def _change(
    kind: Kind, block: Block, *, before: tuple[Block, str] | None = None, after: tuple[Block, str] | None = None
) -> BlockChange:
    words: list[WordChange] = []
    facts: list[Fact] = []
    if kind in ("edited", "added", "removed"):
        old, new = "" if before is None else before[1], "" if after is None else after[1]
        facts = facts_changed(old, new)
        if kind == "edited":
            words = word_changes(old, new)
        else:  # what is new states its numbers, and changes none
            facts = [fact for fact in facts if fact == "deprecation"]
    return BlockChange(
        kind=kind,
        block=block.kind,
        heading_path=list(block.heading_path),
        before=None if before is None else TextSpan(start=before[0].start, end=before[0].end),
        after=None if after is None else TextSpan(start=after[0].start, end=after[0].end),
        words=words,
        facts_changed=facts,
    )


def unified(before: str, after: str, diff: PageDiff, *, names: tuple[str, str] = ("before", "after")) -> str:
    """The changed blocks of `diff` as text: `-` and `+` lines under their headings, `~` where a block only moved."""
    lines = [f"--- {names[0]}", f"+++ {names[1]}"]
    path: list[str] | None = None
    for change in diff.changes:
        if change.heading_path != path:
            path = change.heading_path
            lines.append(f"@@ {' > '.join(path)} @@")
        if change.kind == "moved" and change.after is not None:
            lines += [f"~ {line}" for line in after[change.after.start : change.after.end].splitlines()]
            continue
        if change.before is not None:
            lines += [f"- {line}" for line in before[change.before.start : change.before.end].splitlines()]
        if change.after is not None:
            lines += [f"+ {line}" for line in after[change.after.start : change.after.end].splitlines()]
        if change.facts_changed:
            lines.append(f"  ({', '.join(change.facts_changed)} changed)")
    return "\n".join(lines) + "\n"
