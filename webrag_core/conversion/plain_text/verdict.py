"""The lines of a text as pieces, where they are prose; of a long text parts are looked at first."""

from __future__ import annotations

from webrag_core.conversion.plain_text.pages import blank_page_breaks
from webrag_core.conversion.plain_text.pieces import Layout, Piece, cut_pieces
from webrag_core.conversion.plain_text.shape import is_prose

_LONG = 4_000  # lines
_PARTS, _PART = 5, 400  # parts that are looked at, and the lines of each


def prose_of(text: str, *, is_marked_code: bool = False) -> tuple[Layout, list[Piece]] | None:
    """The layout and the pieces of a text that is prose, else None; a long one of which no part is prose is none.

    `is_marked_code`: the mark-up around says that it is code.
    """
    lines = text.split("\n")
    if len(lines) > _LONG:
        starts = range(0, len(lines) - _PART + 1, (len(lines) - _PART) // (_PARTS - 1))
        parts = (lines[start : start + _PART] for start in starts)
        if not any(is_prose(cut_pieces(Layout(blank_page_breaks(part)))) for part in parts):
            return None
    layout = Layout(blank_page_breaks(lines))
    pieces = cut_pieces(layout)
    return (layout, pieces) if is_prose(pieces, is_marked_code=is_marked_code) else None
