"""Whether plain text is prose: most lines stand in paragraphs that were wrapped, and the rest is no code."""

from __future__ import annotations

from collections.abc import Sequence

from webrag_core.conversion.plain_text.pieces import Kind, Piece, is_option
from webrag_core.conversion.plain_text.reading import ends_sentence, marks_of_code, reads_as_text

_MIN_TEXT = 0.7  # of the lines
_MIN_TEXT_LARGE = 0.35  # of the lines of a manual, which has examples, tables and contents
_SMALL, _LARGE = 12, 60  # lines of paragraphs, between which the share above falls
_MIN_WRAPPED = 3  # lines of paragraphs of more than two that end as sentences
_MIN_WIDTH = 48  # bytes
_MIN_ENDED = 0.5  # of the paragraphs: lines of a log do not end as sentences
_TITLES = 3  # with so many titles a text is a manual
_MIN_LINES_AS_CODE = 40  # of paragraphs, where the mark-up says that it is code
_MAX_CODE = 0.12  # of the lines: code that stands no deeper than the paragraphs
_LONG = 200  # characters: a line that no editor wrapped counts for as many as it would fill
_LINE = 70
_READ = 2_000  # characters of a piece


def is_prose(pieces: Sequence[Piece], *, is_marked_code: bool = False) -> bool:
    """Whether the pieces of a text are prose with, at most, examples in it. In doubt they are not.

    `is_marked_code`: the mark-up around says so, which is believed of all but long texts.
    """
    text = lines = code = wrapped = paragraphs = ended = titles = 0
    after_option = False
    first = min((piece.indent for piece in pieces if piece.kind is Kind.TEXT), default=0)
    for piece in pieces:
        size = _size(piece)
        if piece.kind is Kind.TITLE:
            titles += 1
            continue
        lines += size
        is_text, after_option = after_option and piece.kind is Kind.TEXT, is_option(piece)
        if is_text or (piece.kind in (Kind.TEXT, Kind.ITEM) and reads_as_text(" ".join(piece.lines)[:_READ])):
            text += size
            paragraphs += 1
            if ends_sentence(piece.lines[-1]):
                ended += 1
                is_wide = len(piece.lines[0].encode()) >= _MIN_WIDTH  # no editor wraps lines that short
                wrapped += size if size > 2 and is_wide else 0
        elif (
            piece.indent <= first
            and not after_option
            and marks_of_code(" ".join(piece.lines)[:_READ]) >= max(1, len(piece.lines) // 3)
        ):
            code += size
    is_titled = titles >= _TITLES
    if (
        wrapped < _MIN_WRAPPED
        or (ended < _MIN_ENDED * paragraphs and not is_titled)
        or (is_marked_code and text < _MIN_LINES_AS_CODE)
    ):
        return False
    grown = 1.0 if is_titled else min(1.0, max(0.0, (text - _SMALL) / (_LARGE - _SMALL)))
    return text >= (_MIN_TEXT - grown * (_MIN_TEXT - _MIN_TEXT_LARGE)) * lines and code <= _MAX_CODE * lines


def _size(piece: Piece) -> int:
    """Lines of a piece, as an editor would have wrapped them."""
    return sum(1 if len(line) <= _LONG else len(line) // _LINE for line in piece.lines)
