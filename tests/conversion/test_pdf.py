"""PDF pages, from the wire to Markdown. The files are written here, by hand."""

from __future__ import annotations

import asyncio
import pickle
import re
import threading
from collections.abc import Sequence
from datetime import UTC, datetime

import pypdfium2
import pytest

from tests.acquisition.local_server import gate_to, reply, serving
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.http import HttpAcquirer
from webrag_core.answering.stored import describe_quotes
from webrag_core.config import Settings
from webrag_core.conversion import pdf as module
from webrag_core.conversion.convert import convert_page
from webrag_core.conversion.pdf import convert_pdf
from webrag_core.corpus.documents import load_version
from webrag_core.corpus.quotes import Quote
from webrag_core.errors import FetchError, Reason
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.answers import CitedQuote
from webrag_core.retrieval.text_fragments import fragment_url

Line = tuple[int, int, int, str]  # size, x, y in points, text

TEXT: list[Line] = [(12, 72, 700, "Queues are not thread-safe"), (12, 72, 686, "and never were.")]


def write_pdf(pages: Sequence[Sequence[Line]], info: str = "", trailer: str = "", links: str = "") -> bytes:
    """A PDF of one font, each line where it is put; `links` are annotations of every page."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    ]
    for number, lines in enumerate(pages):
        shown = "\n".join(f"BT /F 1 Tf {size} 0 0 {size} {x} {y} Tm ({text}) Tj ET" for size, x, y, text in lines)
        resources = "/MediaBox[0 0 612 792]/Resources<</Font<</F 3 0 R>>>>"
        objects.append(f"<</Type/Page/Parent 2 0 R{resources}/Annots[{links}]/Contents {5 + 2 * number} 0 R>>")
        objects.append(f"<</Length {len(shown.encode('cp1252'))}>>stream\n{shown}\nendstream")
    objects.append(f"<<{info}>>")
    body, offsets = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n".encode("cp1252")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    end = f"trailer<</Size {size}/Root 1 0 R/Info {len(objects)} 0 R{trailer}>>\nstartxref\n{len(body)}\n%%EOF"
    return body + f"xref\n0 {size}\n0000000000 65535 f \n{table}{end}".encode()


def refusal(body: bytes) -> FetchError:
    with pytest.raises(FetchError) as caught:
        convert_pdf(body)
    return caught.value


def markdown(*lines: Line) -> str:
    return convert_pdf(write_pdf([lines])).markdown


def test_pages_in_order_with_headings_paragraphs_and_metadata() -> None:
    first: list[Line] = [
        *(
            (24, 72, 720, "Asynchronous queues"),
            (12, 72, 680, "A first paragraph that goes"),
            (12, 72, 666, "on here."),
        ),
        *((12, 72, 630, "A second paragraph."), (16, 72, 590, "Limits"), (12, 72, 560, "Nothing is for ever.")),
    ]
    info = "/Title(A book  of queues)/Subject(All of them)/CreationDate(D:20240131120000+01'30')/ModDate(D:2025)"
    converted = convert_pdf(write_pdf([first, [(12, 72, 700, "The next page.")]], info))
    assert converted.markdown == (
        "# Asynchronous queues\n\nA first paragraph that goes\non here.\n\nA second paragraph.\n\n"
        "## Limits\n\nNothing is for ever.\n\nThe next page.\n"
    )
    assert (converted.title, converted.description) == ("A book of queues", "All of them")
    assert converted.published == datetime(2024, 1, 31, 10, 30, tzinfo=UTC)
    assert converted.modified == datetime(2025, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "title", ["", "/Title( )", "/Title(Untitled-1)", "/Title(Microsoft Word - a.doc)", "/Title(x.tex)"]
)
def test_a_title_that_is_none_gives_way_to_the_first_heading(title: str) -> None:
    heading: Line = (24, 72, 730, "Of queues")
    converted = convert_pdf(write_pdf([[heading, *TEXT]], f"{title}/CreationDate(D:20241399)"))
    assert (converted.title, converted.published) == ("Of queues", None)
    assert convert_pdf(write_pdf([TEXT], title)).title is None


def test_hyphens_go_only_where_the_whole_word_is_known() -> None:
    lines = ("The inter-", "national rules are state-of-the-", "art, of international rank, well-known.")
    text = markdown(*[(12, 72, 700 - 14 * row, line) for row, line in enumerate(lines)])
    assert text == "The international rules are state-of-the-\nart, of international rank, well-known.\n"


def test_lines_that_markdown_would_take_for_something_else() -> None:
    lines = ["words before", "# no heading", "--- ", "===", "> no quote", "```", "<div>", "-", "1. one", "a | b"]
    text = markdown(*[(12, 72, 700 - 14 * row, line) for row, line in enumerate(lines)])
    escaped = ["words before", "\\# no heading", "\\---", "\\===", "\\> no quote", "\\```", "\\<div>", "\\-"]
    assert text == "\n".join([*escaped, "1. one", "a | b"]) + "\n"


def test_bullets_are_list_items() -> None:
    rows = ("Some:", "\u2022 one that", "goes on", "\u2022two")
    text = markdown(*[(12, 72, 700 - 14 * row, line) for row, line in enumerate(rows)])
    assert text == "Some:\n\n- one that\ngoes on\n\n- two\n"


def test_what_is_no_readable_pdf() -> None:
    whole = write_pdf([TEXT])
    assert refusal(b"%PDF-1.7 and then garbage").reason is Reason.PARSE_FAILURE
    assert refusal(b"<html>").reason is Reason.PARSE_FAILURE
    assert refusal(b"").reason is Reason.PARSE_FAILURE
    assert refusal(whole[:200]).reason is Reason.PARSE_FAILURE
    assert refusal(write_pdf([[], []])).reason is Reason.EMPTY_PAGE
    assert refusal(write_pdf([[(12, 72, 700, ". . .")]])).reason is Reason.EMPTY_PAGE
    lock = f"/Encrypt<</Filter/Standard/V 1/R 2/O({'x' * 32})/U({'y' * 32})/P -4>>/ID[(a)(a)]"
    error = refusal(write_pdf([TEXT], trailer=lock))
    assert (error.reason, error.message) == (Reason.UNSUPPORTED_TYPE, "the PDF is protected by a password")


def test_a_damaged_table_of_objects_is_mended() -> None:
    assert "thread-safe" in convert_pdf(write_pdf([TEXT]).replace(b"startxref\n", b"startxref\n9")).markdown


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    three = write_pdf([TEXT] * 3)
    for name, value, reason in (
        ("MAX_PAGES", 2, Reason.TOO_LARGE),
        ("MAX_CHARS", 60, Reason.TOO_LARGE),
        ("MAX_SECONDS", -1.0, Reason.TIMEOUT),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            assert refusal(three).reason is reason
    assert convert_pdf(three).markdown.count("thread-safe") == 3


def test_two_at_a_time() -> None:
    body = write_pdf([TEXT] * 20)
    texts: list[str] = []
    threads = [threading.Thread(target=lambda: texts.append(convert_pdf(body).markdown)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 8
    assert len(set(texts)) == 1


async def acquire(body: bytes, *headers: str) -> AcquiredPage:
    async with serving({"/paper": reply(body, *headers)}) as site:
        acquirer = HttpAcquirer(gate_to(f"127.0.0.1:{site.port}"))
        return await acquirer.fetch(f"http://127.0.0.1:{site.port}/paper")


@pytest.mark.parametrize(
    "declared",
    ["application/pdf", "application/x-pdf", "application/octet-stream", "text/html", "text/plain; charset=x", ""],
)
def test_a_pdf_is_one_whatever_the_server_calls_it(declared: str) -> None:
    page = asyncio.run(acquire(write_pdf([TEXT]), *([f"content-type: {declared}"] if declared else [])))
    assert page.media_type == "application/pdf"
    converted = convert_page(pickle.loads(pickle.dumps(page)))
    assert converted.markdown == "Queues are not thread-safe\nand never were.\n"


def test_what_only_claims_to_be_a_pdf_is_told_by_the_conversion() -> None:
    page = asyncio.run(acquire(b"<html><p>Please log in first", "content-type: application/pdf"))
    with pytest.raises(FetchError) as caught:
        convert_page(page)
    assert caught.value.reason is Reason.PARSE_FAILURE


def test_a_pdf_is_taken_in_and_indexed(settings: Settings) -> None:
    async def work() -> tuple[str, str, str | None]:
        async with serving({"/paper": reply(write_pdf([[(24, 72, 730, "Of queues"), *TEXT]]))}) as site:
            acquirer = HttpAcquirer(gate_to(f"127.0.0.1:{site.port}"))
            async with Corpus.open(settings, acquirer) as corpus:
                added = await corpus.add(f"http://127.0.0.1:{site.port}/paper")
                async with corpus.database.connection() as connection:
                    version = await load_version(connection, added.version_id)
        assert version is not None
        return added.outcome, version.markdown, version.title

    text = "# Of queues\n\nQueues are not thread-safe\nand never were.\n"
    assert asyncio.run(work()) == ("fetched", text, "Of queues")


def test_a_quote_names_its_page(settings: Settings) -> None:
    async def work() -> list[int | None]:
        async with serving({"/paper": reply(write_pdf(book(5)))}) as site:
            acquirer = HttpAcquirer(gate_to(f"127.0.0.1:{site.port}"))
            async with Corpus.open(settings, acquirer) as corpus:
                added = await corpus.add(f"http://127.0.0.1:{site.port}/paper")
                async with corpus.database.connection() as connection:
                    version = await load_version(connection, added.version_id)
                    assert version is not None
                    starts = [version.markdown.index(f"goes on as {word}") for word in WORDS[:5]]
                    quotes = {
                        number: CitedQuote(Quote.of(version.markdown, version.id, start, start + 10), None, 1.0)
                        for number, start in enumerate(starts, start=1)
                    }
                    return [one.page for one in await describe_quotes(connection, quotes)]

    assert asyncio.run(work()) == [1, 2, 3, 4, 5]
    assert fragment_url("https://pump.example/a.pdf#x", "words", 3) == "https://pump.example/a.pdf#page=3"


LEFT = [f"left line {n} of a column that goes on" for n in range(8)]
RIGHT = [f"right line {n} of another column here" for n in range(8)]


def columns(*, by_row: bool, shift: int = 0, left: Sequence[str] = LEFT, right: Sequence[str] = RIGHT) -> list[Line]:
    first = [(10, 72, 700 - 12 * n, text) for n, text in enumerate(left)]
    second = [(10, 320, 700 - shift - 12 * n, text) for n, text in enumerate(right)]
    if not by_row:
        return first + second
    return [line for row in zip(first, second, strict=True) for line in row]


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("shift", [0, 4])
def test_columns_are_read_one_after_the_other(by_row: bool, shift: int) -> None:
    text = markdown((14, 150, 740, "A title across the columns"), *columns(by_row=by_row, shift=shift))
    assert text == "# A title across the columns\n\n" + "\n".join(LEFT) + "\n\n" + "\n".join(RIGHT) + "\n"


def test_words_divided_at_the_end_of_a_line_within_a_column() -> None:
    left = [*LEFT[:3], "left line 3 is about implementa-", "tion of an implementation here", *LEFT[5:]]
    text = markdown(*columns(by_row=True, left=left))
    assert "left line 3 is about implementation\nof an implementation here\nleft line 5" in text


def test_a_band_across_the_columns_divides_them() -> None:
    above, below = (
        columns(by_row=True),
        [(s, x, y - 140, t.replace("line", "row")) for s, x, y, t in columns(by_row=True)],
    )
    text = markdown(
        *above, (10, 72, 588, "A caption that runs across both of the columns of this page, as wide as it is."), *below
    )
    marks = re.findall(r"(?:left|right) (?:line|row) \d|caption", text)
    sides = [*(f"left line {n}" for n in range(8)), *(f"right line {n}" for n in range(8))]
    assert marks == [*sides, "caption", *(side.replace("line", "row") for side in sides)]


def test_tables_stay_row_by_row() -> None:
    names = {"key": 72, "value": 250, "unit": 420}
    rows = [(10, x, 700 - 14 * n, f"{name} {n}") for n in range(12) for name, x in names.items()]
    text = markdown(*rows)
    assert re.findall(r"\w+ \d+", text) == [f"{name} {n}" for n in range(12) for name in names]


@pytest.mark.parametrize(
    ("before", "raised", "behind", "expected"),
    [
        ("about 10", "6", " cells", "about 10^6 cells"),
        ("an area of 12 m", "2", " each", "an area of 12 m^2 each"),
        ("the pumps", "3", " of them", "the pumps[3] of them"),
        ("since 2019", "1", " only", "since 2019[1] only"),
        ("costs $19", "99", " now", "costs $19.99 now"),
        ("costs 19", "99", " EUR now", "costs 19.99 EUR now"),
        ("open from 9", "30", " Uhr on", "open from 9:30 Uhr on"),
        ("It ended.", "12", " Then more", "It ended.[12] Then more"),
    ],
)
def test_raised_digits_are_marked(before: str, raised: str, behind: str, expected: str) -> None:
    drawn = f"{before}) Tj /F 0.58 Tf 0.4 Ts ({raised}) Tj /F 1 Tf 0 Ts ({behind}"
    assert markdown((12, 72, 700, drawn)) == f"{expected}\n"


def right_end(body: bytes) -> int:
    with pypdfium2.PdfDocument(body) as document:
        text_page = document[0].get_textpage()
        right: float = text_page.get_charbox(text_page.count_chars() - 1)[2]
        return round(right)


def test_lowered_digits_stay() -> None:
    drawn = "H) Tj /F 0.58 Tf -0.2 Ts (2) Tj /F 1 Tf 0 Ts (O is water."
    assert markdown((12, 72, 700, drawn)) == "H2O is water.\n"


WORDS = ("pump", "valve", "filter", "hose", "motor", "seal", "gauge")


def book(pages: int) -> list[list[Line]]:
    """Pages with a head, a foot and a number, whose sentences go on over them."""
    return [
        [
            *((9, 72, 760, "Manual of the pump"), (9, 300, 30, f"Page {number} of {pages}"), (9, 500, 30, "Draft v3")),
            *((12, 72, 700, f"goes on as {word}."), (12, 72, 686, f"A sentence of the {word} that")),
        ]
        for number, word in enumerate(WORDS[:pages], start=1)
    ]


@pytest.mark.parametrize("pages", [3, 7])
def test_running_heads_stand_in_no_sentence(pages: int) -> None:
    converted = convert_pdf(write_pdf(book(pages)))
    text = converted.markdown
    assert "A sentence of the pump that\ngoes on as valve." in text
    assert text.count("Manual of the pump") == text.count("Draft v3") == 1
    assert text.count("Page ") <= 1
    assert [name for name, _ in converted.markup.anchors] == [f"page={number}" for number in range(1, pages + 1)]
    for word, (_, offset) in zip(WORDS[1:], converted.markup.anchors[1:], strict=False):
        assert text[offset:].startswith(f"goes on as {word}.")


def test_lines_that_only_look_alike_stay() -> None:
    pages: list[list[Line]] = [[(12, 72, 700, f"Step {7 * n % 5}"), (12, 72, 400, f"Text {n * n}")] for n in range(5)]
    text = convert_pdf(write_pdf(pages)).markdown
    assert all(f"Step {7 * n % 5}" in text and f"Text {n * n}" in text for n in range(5))
    assert convert_pdf(write_pdf([TEXT] * 4)).markdown.count("thread-safe") == 4


def test_an_empty_cell_keeps_its_column() -> None:
    rows = [("Sensor", "Min", "Max"), ("A1", "12", "45"), ("B|2", "", "50"), ("C3", "7", "")]
    lines = [(12, 72 + 120 * c, 600 - 18 * r, cell) for r, row in enumerate(rows) for c, cell in enumerate(row) if cell]
    prose = [(12, 72, 700 - 14 * n, "Plain words of a paragraph before the table.") for n in range(4)]
    text = markdown(*prose, *lines)
    assert text.endswith(
        "| Sensor | Min | Max |\n| --- | --- | --- |\n| A1 | 12 | 45 |\n| B\\|2 |  | 50 |\n| C3 | 7 |  |\n"
    )


def test_links_keep_their_addresses() -> None:
    def link(rectangle: str, url: str) -> str:
        return f"<</Type/Annot/Subtype/Link/Rect[{rectangle}]/A<</S/URI/URI({url})>>>>"

    right = right_end(write_pdf([[(12, 72, 700, "See the site")]]))
    for url, expected in (
        ("https://pump.example/a b", "See the [site](https://pump.example/a%20b)"),
        ("mailto:help@pump.example", "See the [site](mailto:help@pump.example)"),
        ("javascript:alert", "See the site"),
        ("https:///", "See the site"),
    ):
        body = write_pdf([[(12, 72, 700, "See the site")]], links=link(f"{right - 18} 696 {right + 60} 712", url))
        assert convert_pdf(body).markdown == f"{expected}\n"
    alone = write_pdf([[(12, 72, 700, "pump.example/x")]], links=link("70 696 300 712", "https://pump.example/x"))
    assert convert_pdf(alone).markdown == "pump.example/x\n"
