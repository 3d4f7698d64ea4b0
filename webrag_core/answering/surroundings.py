"""What stands around a quote on its page: words of the same block, cut where no mark of Markdown is open."""

from __future__ import annotations

import re
from collections.abc import Iterator

from webrag_core.indexing.markdown import faithful_text, parse_blocks

AROUND = 160
"""Characters that are shown of a block before a quote and behind it, at most."""
REACH = 2_000
"""Characters of the page that are looked at on each side, to find where the block and its marks begin and end."""
_GAP = re.compile(r"\s+")
_LINES = ("table", "code")  # blocks of which half a line says nothing


def surroundings(before: str, quote: str, after: str) -> tuple[str, str]:
    """The slices of the page to show before and behind `quote`, of up to AROUND characters each; `before` and `after`
    are what stands around it on the page, up to REACH characters."""
    begin, end = len(before), len(before) + len(quote)
    page = before + quote + after
    blocks = [block for block in parse_blocks(page) if block.end > begin and block.start < end]
    if not blocks:
        return "", ""
    start = min(blocks[0].start, begin)
    if start == 0 and len(before) >= REACH:  # the block begins further up: who knows what is open here
        start = next((gap.end() for gap in re.finditer("\n", before)), begin)
    stop = max(blocks[-1].end, end)
    block = page[start:stop]
    first = _first_cut(block, begin - start, whole_lines=blocks[0].kind in _LINES)
    last = _last_cut(block, end - start, whole_lines=blocks[-1].kind in _LINES)
    return block[first : begin - start], block[end - start : last]


def _first_cut(block: str, begin: int, *, whole_lines: bool) -> int:
    if begin <= AROUND:
        return 0
    gaps = _gaps(block, begin - AROUND - 1, begin, whole_lines=whole_lines)
    return next((gap.end() for gap in gaps if whole_lines or _cuts_nothing(block, gap)), begin)


def _last_cut(block: str, end: int, *, whole_lines: bool) -> int:
    if len(block) - end <= AROUND:
        return len(block)
    gaps = reversed(list(_gaps(block, end, end + AROUND + 1, whole_lines=whole_lines)))
    return next((gap.start() for gap in gaps if whole_lines or _cuts_nothing(block, gap)), end)


def _gaps(block: str, start: int, stop: int, *, whole_lines: bool) -> Iterator[re.Match[str]]:
    return (gap for gap in _GAP.finditer(block, start, stop) if not whole_lines or "\n" in gap[0])


def _cuts_nothing(block: str, gap: re.Match[str]) -> bool:
    """Whether both sides of a gap read alone as they read together: no link, code or emphasis is open there."""
    sides = (faithful_text(block[: gap.start()]), faithful_text(block[gap.end() :]))
    return " ".join(filter(None, sides)) == faithful_text(block)
