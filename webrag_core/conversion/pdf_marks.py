"""What a PDF shows beside the letters of its text: raised digits, and the addresses of its links."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pypdfium2
import pypdfium2.raw as pdfium

MAX_LINKS = 20_000
"""Of one document."""

_Box = tuple[float, float, float, float]  # left, bottom, right, top, in points
_MAX_LINES = 50  # of one link
_MAX_URL = 2_000
_TOLERANCE = 4.0  # points around a link's border in which its letters are looked for
_SMALLER = 0.85  # raised digits to the letters beside them
_RAISED = 0.15  # of the height of these letters
_UNIT_SIZE = 1.5
_MAX_RAISED = 4  # digits
_SHORT = 3  # letters: from so many on what stands before is a word, not a unit
_DIGITS = re.compile(r"[0-9]+")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_CURRENCY = r"[$€£¥₹]|EUR|USD|GBP|CHF"
_PRICE_BEFORE = re.compile(rf"(?:{_CURRENCY})\s?\d[\d.,]*$")
_PRICE_BEHIND = re.compile(rf"\s?(?:{_CURRENCY})")
_TIME_BEHIND = re.compile(r"\s?(?:Uhr|h\b|a\.?m\b|p\.?m\b|[–-]|bis\b)")
_OPEN, _FIRST = "\U000f8000", 0xF0000
_LINK = re.compile(f"{_OPEN}([^\U000f0000-\U000f8000]*)([\U000f0000-\U000f7fff])")
_BRACKETS = re.compile(r"([\[\]])")


@dataclass(slots=True)
class PageMarks:
    """Texts to be put before (and behind) characters of a page, by index."""

    before: dict[int, str] = field(default_factory=dict)
    behind: dict[int, str] = field(default_factory=dict)

    def text(self, drawn: str, start: int, end: int) -> str:
        """The characters [start, end) of a page with their marks."""
        if not self.before:
            return drawn[start:end]
        pieces: list[str] = []
        for index in sorted({i for i in (*self.before, *self.behind) if start <= i < end}):
            pieces += drawn[start:index], self.before.get(index, ""), drawn[index], self.behind.get(index, "")
            start = index + 1
        return "".join((*pieces, drawn[start:end]))


class DocumentLinks:
    """The addresses of a document's links. In text a link stands between two private characters, so that it is no
    longer than its words; `written` makes it Markdown."""

    def __init__(self) -> None:
        self._urls: list[str] = []

    def add(self, url: str) -> str | None:
        """The character behind the words of a link; None for an address that is none of the web or of mail."""
        url = url.strip()
        if len(self._urls) >= MAX_LINKS or len(url) > _MAX_URL or not url.isprintable():
            return None
        try:
            parts = urlsplit(url)
        except ValueError:
            return None
        if parts.scheme not in ("http", "https", "mailto") or not (parts.netloc or parts.scheme == "mailto"):
            return None
        self._urls.append(url.replace(" ", "%20").replace("(", "%28").replace(")", "%29").replace("<", "%3C"))
        return chr(_FIRST + len(self._urls) - 1)

    def written(self, text: str) -> str:
        """Markdown of a text with marked links. Words that are their own address stay alone."""
        return _LINK.sub(self._link, text).replace(_OPEN, "") if _OPEN in text else text

    def _link(self, match: re.Match[str]) -> str:
        words, url = match[1], self._urls[ord(match[2]) - _FIRST]
        if not words.strip():
            return words
        plain = words.strip().casefold().rstrip("/")
        if plain in (url.casefold().rstrip("/"), url.casefold().partition(":")[2].strip("/")):
            return words
        escaped = _BRACKETS.sub(r"\\\1", words)
        return f"[{escaped}]({url})"


def characters(text_page: pypdfium2.PdfTextPage) -> list[int]:
    """The code points of a page; none of ours."""
    codes = [pdfium.FPDFText_GetUnicode(text_page, index) for index in range(text_page.count_chars())]
    return codes if max(codes, default=0) < _FIRST else [code if code < _FIRST else 0xFFFD for code in codes]


def marks_of(page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage, drawn: str, links: DocumentLinks) -> PageMarks:
    """The marks of one page."""
    marks = PageMarks()
    _raised_digits(text_page, drawn, marks)
    _links(page, text_page, drawn, links, marks)
    return marks


def _raised_digits(text_page: pypdfium2.PdfTextPage, drawn: str, marks: PageMarks) -> None:
    """A caret before exponents, brackets around the marks of footnotes, a point or colon before cents and minutes."""
    for run in _DIGITS.finditer(drawn):
        first, index = run.span()
        if first > 1 and drawn[first - 1] in "-+−" and drawn[first - 2] > " ":
            first -= 1
        before = first - 1 if first and drawn[first - 1] > " " else first
        if before >= index - 1 or _is_of_one_font(text_page, before, index - 1):
            continue
        _, bottom, _, top = text_page.get_charbox(before, loose=True)
        raised = index
        while raised > before + 1 and index - raised <= _MAX_RAISED:
            _, low, _, high = text_page.get_charbox(raised - 1, loose=True)
            if high - low > _SMALLER * (top - bottom) or low - bottom < _RAISED * (top - bottom):
                break
            raised -= 1
        if raised < index and index - raised <= _MAX_RAISED:
            _mark(drawn, raised, index, marks)


def _is_of_one_font(text_page: pypdfium2.PdfTextPage, number: int, other: int) -> bool:
    """Whether two characters surely have one size: much faster to ask than their boxes. Some programs set all text in
    size 1, and make it larger by other means."""
    size = pdfium.FPDFText_GetFontSize(text_page, number)
    return bool(size > _UNIT_SIZE and size == pdfium.FPDFText_GetFontSize(text_page, other))


def _mark(drawn: str, first: int, last: int, marks: PageMarks) -> None:
    text = drawn[max(0, first - 24) : first].replace("\r", "\n").rpartition("\n")[2]
    run, behind = drawn[first:last], drawn[last : last + 6]
    letters = re.search(r"[^\W\d_]*$", text)
    number = re.search(r"\d+$", text)
    if number is not None:
        if len(run) == 2 and (_PRICE_BEFORE.search(text) or _PRICE_BEHIND.match(behind)):
            marks.before[first] = "."
        elif len(run) == 2 and run < "60" and int(number[0][-4:]) < 25 and _TIME_BEHIND.match(behind):
            marks.before[first] = ":"
        elif _YEAR.fullmatch(number[0]) and len(run) < 3:
            marks.before[first], marks.behind[last - 1] = "[", "]"
        else:
            marks.before[first] = "^"
    elif run[0] in "-+−" or (letters is not None and 0 < len(letters[0]) < _SHORT) or text[-1:] in ")]":
        marks.before[first] = "^"
    else:
        marks.before[first], marks.behind[last - 1] = "[", "]"


def _links(
    page: pypdfium2.PdfPage,
    text_page: pypdfium2.PdfTextPage,
    drawn: str,
    links: DocumentLinks,
    marks: PageMarks,
) -> None:
    position, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    taken: set[int] = set()
    while pdfium.FPDFLink_Enumerate(page, position, link):
        url = _address(page, link)
        for box in _boxes(link) if url else ():
            span = _letters(text_page, drawn, box)
            if span is not None and taken.isdisjoint(range(*span)) and (end := links.add(url)) is not None:
                taken.update(range(*span))
                marks.before[span[0]] = _OPEN + marks.before.get(span[0], "")
                marks.behind[span[1] - 1] = marks.behind.get(span[1] - 1, "") + end


def _boxes(link: pdfium.FPDF_LINK) -> list[_Box]:
    """The places of a link, one for each line it runs over where the file says so."""
    quad, boxes = pdfium.FS_QUADPOINTSF(), []
    for index in range(min(_MAX_LINES, pdfium.FPDFLink_CountQuadPoints(link))):
        if pdfium.FPDFLink_GetQuadPoints(link, index, quad):
            across = (quad.x1, quad.x2, quad.x3, quad.x4)
            up = (quad.y1, quad.y2, quad.y3, quad.y4)
            boxes.append((min(across), min(up), max(across), max(up)))
    whole = pdfium.FS_RECTF()
    if not boxes and pdfium.FPDFLink_GetAnnotRect(link, whole):
        boxes.append((whole.left, whole.bottom, whole.right, whole.top))
    return boxes


def _address(page: pypdfium2.PdfPage, link: pdfium.FPDF_LINK) -> str:
    action = pdfium.FPDFLink_GetAction(link)
    if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
        return ""
    size = pdfium.FPDFAction_GetURIPath(page.pdf, action, None, 0)
    if not 1 < size <= _MAX_URL:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFAction_GetURIPath(page.pdf, action, buffer, size)
    return buffer.value.decode("utf-8", "replace")


def _letters(text_page: pypdfium2.PdfTextPage, drawn: str, box: _Box) -> tuple[int, int] | None:
    """The characters of one line in a box: [first, last)."""
    left, bottom, right, top = box
    middle, height = (bottom + top) / 2, (top - bottom) / 2
    probes = (left + share * (right - left) for share in (0.02, 0.1, 0.3, 0.5))
    results = (pdfium.FPDFText_GetCharIndexAtPos(text_page, x, middle, _TOLERANCE, height) for x in probes)
    first = next((int(index) for index in results if index >= 0), -1)
    if not 0 <= first < len(drawn):
        return None
    last = first + 1
    while last < len(drawn) and drawn[last] not in "\r\n":
        if drawn[last] > " ":
            begin, _, end, _ = text_page.get_charbox(last)
            if not left <= (begin + end) / 2 <= right:
                break
        last += 1
    while drawn[last - 1] <= " " and last > first + 1:
        last -= 1
    return first, last
