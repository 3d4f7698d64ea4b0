"""Reading order of pages with columns: `python -m benchmarks.corpus.pdf_columns`.

Pages are written here, with the standard font Helvetica: columns of numbered sentences, with or without titles and
page numbers, column by column or row by row, lines level or shifted, words divided at line ends or not; and tables
and plain pages, which must stay as they are. Prints, per kind, the share of lines that follow the line that they should
follow: in the order in which PDFium finds the text, and after conversion.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean

import pypdfium2

from webrag_core.cli.output import print_table
from webrag_core.conversion.pdf import convert_pdf

_WORDS = re.findall(
    r"\w+",
    """
    queue worker task order limit result system method figure state value model paper measure large small between
    several without another however therefore evaluation implementation the of and to in that with for
    """,
)
_PAGES = 40
_FIRST_SEED = 1_000  # the rules were developed with seeds from 0
_TOP, _BOTTOM, _SIZE, _STEP = 720, 72, 9, 11


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page: where it stands, in points, and its text, which begins with a number of its own."""

    x: float
    y: float
    text: str
    size: int = _SIZE


def main() -> None:
    """Measure all kinds."""
    rows = []
    for name, kind in _KINDS.items():
        before, after = [], []
        for seed in range(_FIRST_SEED, _FIRST_SEED + _PAGES):
            truth, written = kind(random.Random(seed))
            body = write_pdf(written)
            with pypdfium2.PdfDocument(body) as document:
                result = document[0].get_textpage().get_text_range()
            before.append(_share(truth, result))
            after.append(_share(truth, convert_pdf(body).markdown))
        rows.append((name, f"{mean(before):.3f}", f"{mean(after):.3f}"))
    print_table(("kind of page", "as PDFium finds it", "converted"), rows)


def write_pdf(lines: Sequence[Line]) -> bytes:
    """One page, its lines in the order given."""
    shown = "\n".join(
        f"BT /F 1 Tf {line.size} 0 0 {line.size} {line.x:.1f} {line.y:.1f} Tm ({line.text}) Tj ET" for line in lines
    )
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Count 1/Kids[4 0 R]>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F 3 0 R>>>>/Contents 5 0 R>>",
        f"<</Length {len(shown)}>>stream\n{shown}\nendstream",
    ]
    body, offsets = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    end = f"trailer<</Size 6/Root 1 0 R>>\nstartxref\n{len(body)}\n%%EOF"
    return body + f"xref\n0 6\n0000000000 65535 f \n{table}{end}".encode()


def _share(truth: Sequence[Line], text: str) -> float:
    """Share of lines that come right after the line that they should come after."""
    matches = re.findall(r"\bL\d+\b", text)
    after = dict(zip(matches[1:], matches, strict=False))
    marks = [line.text.split()[0] for line in truth]
    return mean(after.get(mark) == before for before, mark in pairwise(marks))


def _sentence(draw: random.Random, number: int, width: float, *, divided: bool = False) -> str:
    """Words that fill `width` points, about."""
    text = f"L{number}"
    while (len(text) + len(word := draw.choice(_WORDS)) + 1) * _SIZE * 0.5 < width:
        text += " " + word
    return text + "-" if divided and draw.random() < 0.3 else text


def _columns(
    draw: random.Random,
    count: int,
    *,
    by_row: bool,
    titled: bool = False,
    shifted: bool = False,
    divided: bool = False,
) -> tuple[list[Line], list[Line]]:
    """(lines as they are read, lines as they are written)."""
    gap = 18.0
    width = (468 - gap * (count - 1)) / count
    numbers = iter(range(1_000))
    top: float = _TOP
    head: list[Line] = []
    if titled:
        head = [Line(150, _TOP, f"L{next(numbers)} A title that runs across the columns", 16)]
        head += [Line(72, _TOP - 24 - 11 * n, _sentence(draw, next(numbers), 468)) for n in range(3)]
        top = _TOP - 80
    columns: list[list[Line]] = []
    for column in range(count):
        x, y = 72 + column * (width + gap), top - (4 if shifted and column % 2 else 0)
        lines = []
        while y > _BOTTOM + 20:
            lines.append(Line(x, y, _sentence(draw, next(numbers), width, divided=divided)))
            y -= _STEP if draw.random() > 0.08 or not shifted else 1.8 * _STEP
        columns.append(lines)
    foot = [Line(300, 40, f"L{next(numbers)}")]
    read = [*head, *(line for lines in columns for line in lines), *foot]
    rows = sorted((line for lines in columns for line in lines), key=lambda line: (-line.y, line.x))
    return read, [*head, *rows, *foot] if by_row else read


def _table(draw: random.Random) -> tuple[list[Line], list[Line]]:
    numbers = iter(range(1_000))
    cells = [
        Line(72 + 160 * column, _TOP - 14 * row, f"L{next(numbers)} {draw.choice(_WORDS)}")
        for row in range(30)
        for column in range(3)
    ]
    return cells, cells


def _plain(draw: random.Random) -> tuple[list[Line], list[Line]]:
    lines = [Line(72, _TOP - 12 * n, _sentence(draw, n, 468, divided=True)) for n in range(50)]
    return lines, lines


def _pairs(draw: random.Random) -> tuple[list[Line], list[Line]]:
    """Terms with their explanations beside them."""

    def rows() -> Iterator[Line]:
        for n in range(24):
            yield Line(72, _TOP - 24 * n, f"L{3 * n} {draw.choice(_WORDS)}")
            yield Line(200, _TOP - 24 * n, _sentence(draw, 3 * n + 1, 320))
            yield Line(200, _TOP - 24 * n - 11, _sentence(draw, 3 * n + 2, 320))

    lines = list(rows())
    return lines, lines


_KINDS = {
    "two columns, written column by column": lambda draw: _columns(draw, 2, by_row=False, divided=True),
    "two columns, written row by row": lambda draw: _columns(draw, 2, by_row=True),
    "the same, with words divided": lambda draw: _columns(draw, 2, by_row=True, divided=True),
    "the same, with a title and an abstract across": lambda draw: _columns(draw, 2, by_row=True, titled=True),
    "the same, lines not level": lambda draw: _columns(draw, 2, by_row=True, shifted=True),
    "three columns, written row by row": lambda draw: _columns(draw, 3, by_row=True),
    "a table of three columns": _table,
    "terms with explanations beside them": _pairs,
    "one column": _plain,
}


if __name__ == "__main__":
    main()
