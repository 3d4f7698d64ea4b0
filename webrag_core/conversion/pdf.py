"""PDF to Markdown: the text of its pages in order, headings where the type is larger than the rest.

PDFium finds characters, words and lines, in the order in which they were written; columns are put in order where that
runs across them (`pdf_columns`); paragraphs are recognised by the distance of lines, headings by their size.
Lines stay lines, so that listings keep theirs and a quote is what the page shows. Running heads and page numbers go, a
sentence goes on over them (`pdf_running`). Links keep their addresses, raised digits are marked (`pdf_marks`), rows of
three columns are a table (`pdf_tables`). Formulas come out as text, pages that are only images do not come out at all.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import median

import pypdfium2
import pypdfium2.raw as pdfium

from webrag_core.acquisition.dates import parse_date
from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.conversion.markup.models import PageMarkup
from webrag_core.conversion.pdf_columns import Piece, reading_order
from webrag_core.conversion.pdf_marks import DocumentLinks, PageMarks, characters, marks_of
from webrag_core.conversion.pdf_running import goes_on, without_running_lines
from webrag_core.conversion.pdf_tables import MIN_COLUMNS, follows, markdown_table, runs_with_gaps, table_rows
from webrag_core.errors import FetchError, Reason
from webrag_core.store.text import storable

MAX_PAGES = 2_000
MAX_CHARS = 20_000_000
MAX_SECONDS = 20.0  # of CPU time

_LOCK = threading.Lock()  # PDFium is not thread-safe, not even for two documents
_HYPHEN = "\x02"  # PDFium's mark for a hyphen at the end of a line; the next line follows without a break
_LIGATURES = {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st"}
_CLEANED = str.maketrans(
    {chr(code): " " for code in range(32) if chr(code) != _HYPHEN}
    | _LIGATURES
    | {"\xad": "", "\xa0": " ", "\ufeff": "", "\ufffe": _HYPHEN}
)
_BULLET = re.compile(r"[•◦▪‣●∙·]\s*(?=\S)")
_BLOCK_START = re.compile(r"(?=#{1,6}(?:\s|$)|>|<|`{3}|~{3}|(?:=+|-+|(?:[-*_]\s*){3,})$|[-+*]\s*$)")
_NO_TITLE = re.compile(r"^(untitled.*|microsoft word - .*|.*\.(docx?|tex|dvi|indd|pdf|qxd|fm))$", re.IGNORECASE)
_HEADING_RATIO = 1.15
_MAX_HEADING_CHARS = 200
_MAX_LEVEL = 4
_SAMPLED = 9
_SAMPLED_LINES = 12
_MIN_CUTS = 4
_LONG = 30  # characters
_MIN_GAP = 9.0  # points
_GAP = 0.9  # of the size of the type
_LINE_HYPHENS = frozenset({0x02, 0xFFFE})
_RAISED_END = re.compile(r"(?:\^|\[)[-+−]?\d+\]?$")
_DIVIDED = re.compile(rf"[^\W\d_][-\u2010\xad{_HYPHEN}]$")
_REST = re.compile(r"[a-zß-öø-ÿ][^\W\d_]*[^\w\s]*(?:\s+|$)")


def convert_pdf(body: bytes) -> ConvertedPage:
    """Convert one PDF. The time limit is checked between pages; the caller stops a page that never ends.

    Raises FetchError: UNSUPPORTED_TYPE when a password is needed, PARSE_FAILURE for a damaged file, EMPTY_PAGE for one
    without text, TOO_LARGE above MAX_PAGES pages or MAX_CHARS characters, TIMEOUT after MAX_SECONDS.
    """
    with _LOCK:
        try:
            with pypdfium2.PdfDocument(body) as document:
                information = document.get_metadata_dict()
                links = DocumentLinks()
                pages = list(_pages(document, links))
        except pypdfium2.PdfiumError as error:
            if getattr(error, "err_code", None) == pdfium.FPDF_ERR_PASSWORD:
                raise FetchError(Reason.UNSUPPORTED_TYPE, "the PDF is protected by a password") from error
            raise FetchError(Reason.PARSE_FAILURE, "the file is damaged, or is not a PDF") from error
    text = _markdown(without_running_lines(pages), links)
    if not any(character.isalnum() for character in text.markdown):
        raise FetchError(Reason.EMPTY_PAGE, "the PDF has no text: its pages may be scanned images")
    title = storable(" ".join(information.get("Title", "").split()))
    return ConvertedPage(
        markdown=text.markdown + "\n",
        title=text.heading if not title or _NO_TITLE.match(title) else title,
        description=storable(" ".join(information.get("Subject", "").split())) or None,
        language=None,
        published=parse_date(information.get("CreationDate", "")),
        modified=parse_date(information.get("ModDate", "")),
        links=(),
        markup=PageMarkup(anchors=text.pages),
    )


def _pages(document: pypdfium2.PdfDocument, links: DocumentLinks) -> Iterator[list[Piece]]:
    if len(document) > MAX_PAGES:
        raise FetchError(Reason.TOO_LARGE, f"the PDF has more than {MAX_PAGES} pages")
    ends = time.process_time() + MAX_SECONDS
    characters = 0
    for page in document:
        if time.process_time() > ends:
            raise FetchError(Reason.TIMEOUT, f"the PDF takes more than {MAX_SECONDS:g} s to read")
        text_page = page.get_textpage()
        characters += text_page.count_chars()
        if characters > MAX_CHARS:
            raise FetchError(Reason.TOO_LARGE, f"the PDF has more than {MAX_CHARS} characters")
        yield _lines(page, text_page, links)
        text_page.close()
        page.close()


@dataclass(frozen=True, slots=True)
class _Letters:
    """The characters of a page, and the marks between them."""

    page: pypdfium2.PdfTextPage
    codes: Sequence[int]
    drawn: str
    marks: PageMarks

    def box(self, index: int) -> tuple[float, float, float, float]:
        """Left, bottom, right and top of a character's place in its line."""
        left, bottom, right, top = self.page.get_charbox(index, loose=True)
        return left, bottom, right, top


def _lines(page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage, links: DocumentLinks) -> list[Piece]:
    """The lines of a page in reading order."""
    codes = characters(text_page)
    drawn = "".join(map(chr, codes))
    letters = _Letters(text_page, codes, drawn, marks_of(page, text_page, drawn, links))
    lines: list[Piece] = []
    places: list[tuple[int, int]] = []
    start = 0
    for index in range(len(codes) + 1):
        if index < len(codes) and codes[index] not in (0x0A, 0x0D):
            continue
        if (line := _piece(letters, start, index)) is not None:
            if lines and _is_its_rest(lines[-1], line):
                start = places.pop()[0]  # behind a raised digit the library breaks the line
                line = _piece(letters, start, index) or line
                lines.pop()
            lines.append(line)
            places.append((start, index))
        start = index + 1
    if _has_gaps(letters, lines, places):
        pieces = [piece for place in places for piece in _pieces(letters, *place)]
        ordered = reading_order(pieces)
        if ordered is not None:
            return _with_whole_words(ordered)
    elif (ordered := reading_order(lines)) is not None:
        return _with_whole_words(ordered)
    for first, last in runs_with_gaps(lines):
        cuts = [list(_cuts(letters, *place)) for place in places[first:last]]
        if max(map(len, cuts)) >= MIN_COLUMNS - 1:
            for line, place, at in zip(lines[first:last], places[first:last], cuts, strict=True):
                line.cells = tuple(_between(letters, [place[0], *at, place[1]])) if at else ()
    return lines


def _is_its_rest(line: Piece, rest: Piece) -> bool:
    """Whether what follows a raised digit stands on the same line as what is before it."""
    if not _RAISED_END.search(line.text):
        return False
    return abs(line.bottom - rest.bottom) <= 0.1 * line.size and -1 <= rest.left - line.right <= line.size


def _piece(letters: _Letters, start: int, end: int) -> Piece | None:
    """The characters from `start` to `end`; None where they are blank. Size and place are those of its middle
    character, by each."""
    codes = letters.codes
    text = _text(letters, start, end)
    if not text:
        return None
    visible = [i for i in range(start, end) if codes[i] > 0x20] or [start]
    sample = visible[:: len(visible) // _SAMPLED + 1]  # not one alone: a line may begin in another type
    boxes = [letters.box(i) for i in sample]
    size = median(top - bottom for _, bottom, _, top in boxes)
    right = letters.box(visible[-1])[2]
    left = boxes[0][0]
    return Piece(text, max(0.0, size), median(bottom for _, bottom, _, _ in boxes), left, max(left, right))


def _has_gaps(letters: _Letters, lines: Sequence[Piece], places: Sequence[tuple[int, int]]) -> bool:
    """Whether long lines, as a sample shows, mostly have a gap: then they run across columns."""
    long = [place for line, place in zip(lines, places, strict=True) if len(line.text) >= _LONG]
    sample = long[:: len(long) // _SAMPLED_LINES + 1]
    cuts = [sum(letters.codes[cut - 1] not in _LINE_HYPHENS for cut in _cuts(letters, *place)) for place in sample]
    return sum(cuts) >= _MIN_CUTS and sum(map(bool, cuts)) >= len(cuts) / 3


def _cuts(letters: _Letters, start: int, end: int) -> Iterator[int]:
    """Where a line is to be cut: after a gap wider than any space or a step back, and after a hyphen at the
    end of a line."""
    codes = letters.codes
    for index in range(start + 1, end):
        if codes[index - 1] in _LINE_HYPHENS:
            yield index
        elif codes[index] > 0x20 and codes[index - 1] <= 0x20:
            before = next((i for i in range(index - 1, start - 1, -1) if codes[i] > 0x20), None)
            if before is not None:
                _, bottom, right, top = letters.box(before)
                left = letters.box(index)[0]
                if left - right > max(_MIN_GAP, _GAP * (top - bottom)) or left < right - (top - bottom):
                    yield index


def _pieces(letters: _Letters, start: int, end: int) -> Iterator[Piece]:
    """The parts of a line between its gaps."""
    return _between(letters, [start, *_cuts(letters, start, end), end])


def _between(letters: _Letters, bounds: Sequence[int]) -> Iterator[Piece]:
    for first, last in pairwise(bounds):
        if (piece := _piece(letters, first, last)) is not None:
            yield piece


def _with_whole_words(pieces: list[Piece]) -> list[Piece]:
    """Take the rest of a word that is divided at the end of a line to its beginning, with the mark between."""
    for line, following in pairwise(pieces):
        if _DIVIDED.search(line.text) and (rest := _REST.match(following.text)) and _alike(line, following):
            line.text = line.text[:-1] + _HYPHEN + rest[0].strip()
            following.text = following.text[rest.end() :]
    return [piece for piece in pieces if piece.text]


def _text(letters: _Letters, start: int, end: int) -> str:
    """Return the text of one line; characters beyond the first plane may come as surrogates."""
    drawn = letters.marks.text(letters.drawn, start, end)
    raw = drawn.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(raw.translate(_CLEANED).split())


@dataclass(frozen=True, slots=True)
class _Text:
    """Markdown, its first heading, and where each page begins."""

    markdown: str
    heading: str | None
    pages: tuple[tuple[str, int], ...]


def _markdown(pages: Sequence[Sequence[Piece]], links: DocumentLinks) -> _Text:
    lines = [line for page in pages for line in page]
    words = Counter(word for line in lines for word in re.findall(r"[^\W\d_]+", line.text.lower()))
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
    body = max(sizes, key=lambda size: (sizes[size], -size), default=0.0)
    larger = sorted({size for size in sizes if size >= body * _HEADING_RATIO}, reverse=True)
    levels = {size: min(level, _MAX_LEVEL) for level, size in enumerate(larger, start=1)}
    blocks: list[str] = []
    places: list[tuple[int, int, int]] = []  # page, its first block, offset in it
    heading: str | None = None
    above: list[Piece] = []
    for number, page in enumerate(pages, start=1):
        for index, block in enumerate(_paragraphs(page)):
            text = "\n".join(_joined(line.text, words) for line in block)
            level = levels.get(round(block[0].size * 2) / 2)
            if (table := _table(block)) is not None:
                written = markdown_table(table)
            elif level and len(text) <= _MAX_HEADING_CHARS and any(map(str.isalpha, text)):
                text = " ".join(text.split())
                heading = heading or storable(links.written(text))
                written = f"{'#' * level} {text}"
            else:
                written = "\n".join(_line(line) for line in text.split("\n"))
            written = storable(links.written(written))
            if index == 0 and blocks and goes_on(above, block) and not block[0].cells:
                places.append((number, len(blocks) - 1, len(blocks[-1]) + 1))
                blocks[-1] += f"\n{written}"
            else:
                if index == 0:
                    places.append((number, len(blocks), 0))
                blocks.append(written)
            above = block
    starts = [0, *accumulate(len(block) + 2 for block in blocks)]
    anchors = tuple((f"page={number}", starts[block] + offset) for number, block, offset in places)
    return _Text("\n\n".join(blocks), heading, anchors)


def _table(block: Sequence[Piece]) -> list[list[str]] | None:
    return table_rows([line.cells for line in block]) if len(block[0].cells) >= MIN_COLUMNS else None


def _paragraphs(page: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Group lines into paragraphs, and rows of a table."""
    start = index = 0
    while index < len(page):
        end = index
        while end < len(page) and page[end].cells and (end == index or follows(page[end - 1], page[end])):
            end += 1
        if end > index and _table(page[index:end]) is not None:
            yield from _prose(page[start:index])
            yield list(page[index:end])
            start = end
        index = max(end, index + 1)
    yield from _prose(page[start:])


def _prose(page: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Group lines into paragraphs: one size, one distance, and no bullet but at the beginning."""
    steps = [above.bottom - line.bottom for above, line in pairwise(page)]
    usual = median(
        [
            step
            for step, (above, line) in zip(steps, pairwise(page), strict=True)
            if _alike(above, line) and 0 < step <= 2.1 * line.size  # more than double spacing is no next line
        ]
        or [0.0]
    )
    block: list[Piece] = []
    for index, line in enumerate(page):
        if block:
            step, above = steps[index - 1], page[index - 1]
            near = -0.5 <= step <= max(usual, line.size) * 1.3
            if not near or not _alike(above, line) or _BULLET.match(line.text):
                yield block
                block = []
        block.append(line)
    if block:
        yield block


def _alike(above: Piece, line: Piece) -> bool:
    return abs(line.size - above.size) <= 0.1 * max(line.size, above.size)


def _joined(text: str, words: Counter[str]) -> str:
    """Remove hyphens at line ends where the whole word occurs elsewhere in the document."""

    def mend(match: re.Match[str]) -> str:
        whole = (match[1] + match[2]).lower()
        return match[1] + match[2] if words[whole] else f"{match[1]}-\n{match[2]}"

    mended = re.sub(rf"([^\W\d_]+){_HYPHEN}([^\W\d_]+)", mend, text)
    return re.sub(rf"{_HYPHEN}\s*", "-\n", mended).rstrip("\n")


def _line(text: str) -> str:
    """Escape a line that Markdown would take for another block; bullets become list items."""
    if _BULLET.match(text):
        return _BULLET.sub("- ", text, count=1)
    return "\\" + text if _BLOCK_START.match(text) else text
