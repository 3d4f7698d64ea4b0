"""Rows of a table in a PDF: lines one below the other whose cells stand in the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from webrag_core.conversion.pdf_columns import Piece

MIN_COLUMNS = 3
_MIN_ROWS = 3
_WIDE = 1.12  # width of a character in a line with gaps, to that of others
_MAX_STEP = 4.0  # sizes of type from one row to the next


def runs_with_gaps(lines: Sequence[Piece]) -> Iterator[tuple[int, int]]:
    """Runs [first, last) of enough lines that are wide for their number of characters, so that it is worth looking for
    their gaps."""
    widths = [(line.right - line.left) / max(1.0, len(line.text) * line.size) for line in lines]
    usual = median(sorted(widths)[: len(widths) // 2 + 1]) if widths else 0.0
    first = 0
    for index in range(len(lines) + 1):
        if index < len(lines) and widths[index] > _WIDE * usual:
            continue
        if index - first >= _MIN_ROWS:
            yield first, index
        first = index + 1


def table_rows(rows: Sequence[Sequence[Piece]]) -> list[list[str]] | None:
    """The cells of these lines by column, empty ones too; None where they are no table. The first line has them all."""
    if len(rows) < _MIN_ROWS or len(rows[0]) < MIN_COLUMNS or min(map(len, rows)) < 2:
        return None
    head = rows[0]
    table = []
    for row in rows:
        cells = [""] * len(head)
        last = -1
        for piece in row:
            column = _column(head, piece)
            if column <= last:
                return None
            cells[column], last = piece.text, column
        table.append(cells)
    return table


def _column(head: Sequence[Piece], piece: Piece) -> int:
    """The column that shares most with a cell, else the nearest one."""

    def distance(column: int) -> tuple[float, float]:
        cell = head[column]
        shared = min(cell.right, piece.right) - max(cell.left, piece.left)
        return -max(0.0, shared), abs((cell.left + cell.right) - (piece.left + piece.right))

    return min(range(len(head)), key=distance)


def follows(above: Piece, line: Piece) -> bool:
    """Whether a line may be the next row: of one size, below, and not far."""
    step = above.bottom - line.bottom
    return 0 < step <= _MAX_STEP * line.size and abs(above.size - line.size) <= 0.1 * line.size


def markdown_table(table: Sequence[Sequence[str]]) -> str:
    """The rows as a table with its head."""
    rows = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table]
    return "\n".join([rows[0], "| " + " | ".join("---" for _ in table[0]) + " |", *rows[1:]])
