"""PDF to Markdown: the text of its pages in order, headings where the type is larger than the rest.

PDFium finds characters, words and lines; paragraphs are recognised by the distance of lines, headings by their size.
Lines stay lines, so that listings keep theirs and a quote is what the page shows. Tables and formulas come out as text,
pages that are only images do not come out at all.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import pypdfium2
import pypdfium2.raw as pdfium

from webrag_core.acquisition.dates import parse_date
from webrag_core.conversion.html import ConvertedPage
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


@dataclass(slots=True)
class _Line:
    """One line of text; `size` and `bottom` (points) are those of its middle character, by each."""

    text: str
    size: float
    bottom: float


def convert_pdf(body: bytes) -> ConvertedPage:
    """Convert one PDF. The time limit is checked between pages; the caller stops a page that never ends.

    Raises FetchError: UNSUPPORTED_TYPE when a password is needed, PARSE_FAILURE for a damaged file, EMPTY_PAGE for one
    without text, TOO_LARGE above MAX_PAGES pages or MAX_CHARS characters, TIMEOUT after MAX_SECONDS.
    """
    with _LOCK:
        try:
            with pypdfium2.PdfDocument(body) as document:
                information = document.get_metadata_dict()
                pages = list(_pages(document))
        except pypdfium2.PdfiumError as error:
            if getattr(error, "err_code", None) == pdfium.FPDF_ERR_PASSWORD:
                raise FetchError(Reason.UNSUPPORTED_TYPE, "the PDF is protected by a password") from error
            raise FetchError(Reason.PARSE_FAILURE, "the file is damaged, or is not a PDF") from error
    markdown, heading = _markdown(pages)
    if not any(character.isalnum() for character in markdown):
        raise FetchError(Reason.EMPTY_PAGE, "the PDF has no text: its pages may be scanned images")
    title = storable(" ".join(information.get("Title", "").split()))
    return ConvertedPage(
        markdown=storable(markdown) + "\n",
        title=heading if not title or _NO_TITLE.match(title) else title,
        description=storable(" ".join(information.get("Subject", "").split())) or None,
        language=None,
        published=parse_date(information.get("CreationDate", "")),
        modified=parse_date(information.get("ModDate", "")),
        links=(),
    )


def _pages(document: pypdfium2.PdfDocument) -> Iterator[list[_Line]]:
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
        yield _lines(text_page)
        text_page.close()
        page.close()


def _lines(text_page: pypdfium2.PdfTextPage) -> list[_Line]:
    codes = [pdfium.FPDFText_GetUnicode(text_page, index) for index in range(text_page.count_chars())]
    lines: list[_Line] = []
    start = 0
    for index in range(len(codes) + 1):
        if index < len(codes) and codes[index] not in (0x0A, 0x0D):
            continue
        text = _text(codes[start:index])
        if text:
            visible = [i for i in range(start, index) if codes[i] > 0x20] or [start]
            sample = visible[:: len(visible) // _SAMPLED + 1]  # not one alone: a line may begin in another type
            boxes = [text_page.get_charbox(i, loose=True) for i in sample]
            size = median(top - bottom for _, bottom, _, top in boxes)
            lines.append(_Line(text, max(0.0, size), median(bottom for _, bottom, _, _ in boxes)))
        start = index + 1
    return lines


def _text(codes: Sequence[int]) -> str:
    """Return the text of one line; characters beyond the first plane may come as surrogates."""
    raw = (
        "".join(chr(code) if code < 0x110000 else "\ufffd" for code in codes)
        .encode("utf-16", "surrogatepass")
        .decode("utf-16", "replace")
    )
    return " ".join(raw.translate(_CLEANED).split())


def _markdown(pages: Sequence[Sequence[_Line]]) -> tuple[str, str | None]:
    """(Markdown, the first heading or None)."""
    lines = [line for page in pages for line in page]
    words = Counter(word for line in lines for word in re.findall(r"[^\W\d_]+", line.text.lower()))
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
    body = max(sizes, key=lambda size: (sizes[size], -size), default=0.0)
    larger = sorted({size for size in sizes if size >= body * _HEADING_RATIO}, reverse=True)
    levels = {size: min(level, _MAX_LEVEL) for level, size in enumerate(larger, start=1)}
    blocks: list[str] = []
    heading: str | None = None
    for page in pages:
        for block in _paragraphs(page):
            text = "\n".join(_joined(line.text, words) for line in block)
            level = levels.get(round(block[0].size * 2) / 2)
            if level and len(text) <= _MAX_HEADING_CHARS and any(map(str.isalpha, text)):
                text = " ".join(text.split())
                heading = heading or text
                blocks.append(f"{'#' * level} {text}")
            else:
                blocks.append("\n".join(_line(line) for line in text.split("\n")))
    return "\n\n".join(blocks), heading


def _paragraphs(page: Sequence[_Line]) -> Iterator[list[_Line]]:
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
    block: list[_Line] = []
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


def _alike(above: _Line, line: _Line) -> bool:
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
