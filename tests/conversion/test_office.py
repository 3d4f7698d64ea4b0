"""Office files, from the wire to Markdown, and what makes one be refused."""

from __future__ import annotations

import asyncio
import io
import struct
import zipfile
from datetime import UTC, datetime

import pytest

from tests.acquisition.local_server import gate_to, reply, serving
from tests.conversion.office_files import W, docx, epub, odt, paragraph, pptx, relations, shape, xlsx, zipped
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.http import HttpAcquirer
from webrag_core.acquisition.office_types import DOCX, EPUB, ODT, OLE, PPTX, XLSX, office_type
from webrag_core.conversion.convert import convert_page
from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.conversion.office import xlsx as xlsx_module
from webrag_core.conversion.worker import WorkerPool
from webrag_core.errors import FetchError, Reason

URL = "https://site.example/file"
TABLE = (
    f"<w:tbl><w:tr>{''.join(f'<w:tc>{paragraph(text)}</w:tc>' for text in ('name', 'limit'))}</w:tr>"
    f"<w:tr>{''.join(f'<w:tc>{paragraph(text)}</w:tc>' for text in ('fifo', '10'))}</w:tr></w:tbl>"
)
BODY = (
    paragraph("About queues", "H1")
    + "<w:p><w:r><w:t>A queue holds tasks. See </w:t></w:r>"
    + '<w:hyperlink r:id="r1"><w:r><w:t>the guide</w:t></w:r></w:hyperlink></w:p>'
    + "<w:p><w:del><w:r><w:delText>Never said.</w:delText></w:r></w:del><w:r><w:t>Still said.</w:t></w:r></w:p>"
    + paragraph("Limits", "H2")
    + TABLE
)
DOCUMENT = docx(BODY)
TEXT = (
    "# About queues\n\nA queue holds tasks. See [the guide](https://example.org/guide)\n\nStill said.\n\n## Limits\n\n"
    "| name | limit |\n| --- | --- |\n| fifo | 10 |\n"
)


def page(body: bytes, media_type: str | None = None) -> AcquiredPage:
    kind = media_type or office_type(body) or DOCX
    return AcquiredPage(URL, URL, 200, {"content-type": kind}, body, datetime.now(UTC), len(body))


def convert(body: bytes) -> ConvertedPage:
    return convert_page(page(body))


def refusal(body: bytes, media_type: str | None = None) -> FetchError:
    with pytest.raises(FetchError) as caught:
        convert_page(page(body, media_type))
    return caught.value


def test_a_document_with_its_properties() -> None:
    converted = convert(DOCUMENT)
    assert converted.markdown == TEXT
    assert (converted.title, converted.language) == ("A title", "en")
    assert converted.published == datetime(2024, 3, 5, 10, tzinfo=UTC)
    assert [link.target_url for link in converted.links] == ["https://example.org/guide"]


def test_macros_are_no_text_and_never_run() -> None:
    assert convert(docx(BODY, **{"word/vbaProject.bin": b"Sub AutoOpen() Shell"})).markdown == TEXT


def test_slides_with_lists_tables_and_notes() -> None:
    cell = "<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
    table = f"<p:graphicFrame><a:tbl><a:tr>{cell.format('a')}{cell.format('b')}</a:tr></a:tbl></p:graphicFrame>"
    body = pptx(
        shape("Queues", "title") + shape("first\n\tinner\nsecond", "body") + shape("7", "sldNum") + table,
        shape("Limits", "ctrTitle") + shape("A box of text."),
        notes="Say this aloud.",
    )
    converted = convert(body)
    assert converted.markdown == (
        "## Queues\n\n- first\n  * inner\n- second\n\n| a | b |\n| --- | --- |\n\n> Say this aloud.\n\n"
        "## Limits\n\nA box of text.\n"
    )
    assert converted.title == "A title"


def test_sheets_show_what_their_cells_show() -> None:
    rows = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>share</t>'
        '</is></c><c r="E1" t="str"><v>sum</v></c></row><row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2" s="1">'
        '<v>45356</v></c><c r="C2" s="2"><v>0.25</v></c><c r="E2"><f>1+1</f><v>2.0</v></c></row>'
        '<row r="3" hidden="1"><c r="A3" t="s"><v>0</v></c></row><row r="9"><c r="B9" s="1"><v>45356.5</v></c>'
        '<c r="C9" t="b"><v>1</v></c><c r="E9"><v>12.10</v></c></row>'
    )
    strings = (
        "<si><t>item</t></si><si><t>since</t><rPh><t>reading</t></rPh></si><si><r><t>ket</t></r><r><t>tle</t></r></si>"
    )
    links = '<hyperlinks><hyperlink ref="A2" r:id="r1"/></hyperlinks>'
    assert convert(xlsx(rows, strings=strings, extra=links)).markdown == (
        "## Prices\n\n| item | since | share | sum |\n| --- | --- | --- | --- |\n"
        "| [kettle](https://example.org/kettle) | 2024-03-05 | 25% | 2 |\n|  | 2024-03-05 12:00 | TRUE | 12.1 |\n"
    )


def cell(place: str, value: str, style: int = 0) -> str:
    kind = ' t="str"' if not style and not value.lstrip("-").replace(".", "").isdigit() else ""
    return f'<c r="{place}" s="{style}"{kind}><v>{value}</v></c>'


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        ("1.5", "[h]:mm", "36:00"),
        ("1.25", "[hh]:mm:ss", "30:00:00"),
        ("0.0625", "[mm]:ss", "90:00"),
        ("123", "00000", "00123"),
        ("5551234", r"000\-0000", "555-1234"),
        ("12.5", '0.00 "EUR"', "12.50 EUR"),
        ("1234.5", r"#,##0.00\ [$€-407]", "1,234.50 €"),
        ("19.994", '"$"0.00', "$19.99"),
        ("-1234.5", '#,##0.00 "kr";[Red](#,##0.00 "kr")', "(1,234.50 kr)"),
        ("0", '_(* #,##0_);_(* \\(#,##0\\);_(* "-"??_);_(@_)', "-"),
        ("1234567", "#,##0", "1,234,567"),
        ("3.14159", "0.00", "3.14159"),
        ("0.5", "0.00%", "50.00%"),
        ("2500000", '0.0,,"M"', "2.5M"),
        ("12", '0 "kg"', "12 kg"),
        ("-0.5", '0.0" °C"', "-0.5 °C"),
        ("45356.75", "dd/mm/yyyy hh:mm", "2024-03-05 18:00"),
        ("0.75", "h:mm AM/PM", "18:00"),
        ("7", 'General" days"', "7 days"),
    ],
)
def test_a_number_is_what_its_cell_shows(value: str, code: str, text: str) -> None:
    rows = f'<row r="1">{cell("A1", "what it is")}</row><row r="2">{cell("A2", value, 3)}</row>'
    assert f"| {text} |" in convert(xlsx(rows, formats=[code])).markdown


@pytest.mark.parametrize("code", ["[h" * 60, "#," * 120, '"' * 9, "[>1]" * 50, "0.0.0;;;;", "\\", "_", "*", "[h]" * 70])
def test_any_format_shows_something(code: str) -> None:
    first = f'<row r="1">{cell("A1", "what it is")}{cell("B1", "x")}</row>'
    rows = f'{first}<row r="2">{cell("A2", "1e300", 3)}{cell("B2", "y")}</row>'
    assert "| y |" in convert(xlsx(rows, formats=[code])).markdown


def test_merged_cells_stand_in_every_place() -> None:
    rows = (
        f'<row r="1">{cell("A1", "team")}{cell("B1", "2024 year")}</row>'
        f'<row r="2">{cell("B2", "Q1")}{cell("C2", "Q2")}</row>'
        f'<row r="3">{cell("A3", "north")}{cell("B3", "1")}{cell("C3", "2")}</row>'
        f'<row r="4">{cell("B4", "3")}{cell("C4", "4")}</row>'
    )
    merges = "".join(
        f'<mergeCell ref="{place}"/>' for place in ("A1:A2", "B1:C1", "A3:A4", "B4:C4", "A1:XFD1048576", "?")
    )
    assert convert(xlsx(rows, extra=f"<mergeCells>{merges}</mergeCells>")).markdown == (
        "## Prices\n\n| team | 2024 year Q1 | 2024 year Q2 |\n| --- | --- | --- |\n"
        "| north | 1 | 2 |\n| north | 3 | 4 |\n"
    )


def test_hidden_words_of_a_document_are_left_out() -> None:
    def run(text: str, properties: str = "") -> str:
        return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'

    shown = run("and seen", '<w:vanish w:val="0"/>')
    styled = run(" never", '<w:rStyle w:val="Gone"/>')
    body = f"<w:p>{run('Shown ')}{run('secret ', '<w:vanish/>')}{shown}{styled}{run('.')}</w:p>"
    styles = (
        f'<w:styles {W}><w:style w:type="character" w:styleId="Gone"><w:name w:val="Gone"/><w:rPr><w:vanish/></w:rPr>'
        "</w:style></w:styles>"
    )
    assert convert(docx(body, **{"word/styles.xml": styles})).markdown == "Shown and seen.\n"


def test_hidden_sheets_are_left_out() -> None:
    body = xlsx('<row><c t="str"><v>a secret of words</v></c></row>', state="hidden")
    assert refusal(body).reason is Reason.EMPTY_PAGE


def test_an_opendocument_text() -> None:
    text = (
        '<text:tracked-changes><text:p>Never said.</text:p></text:tracked-changes><text:h text:outline-level="2">Queues'
        '</text:h><text:p>A queue<text:s text:c="2"/>holds <text:a xlink:href="https://example.org/x">tasks</text:a>'
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Or jobs.</text:p>"
        "</text:note-body></text:note>.</text:p><text:list><text:list-item><text:p>first</text:p><text:list><text:list-item><text:p>inner"
        "</text:p></text:list-item></text:list></text:list-item></text:list>"
        '<text:p text:style-name="Preformatted_20_Text">a =<text:tab/>1</text:p>'
        '<text:p text:style-name="Preformatted_20_Text"><text:s text:c="2"/>b</text:p>'
        '<table:table><table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>x</text:p>'
        "</table:table-cell></table:table-row></table:table>"
    )
    assert convert(odt(text)).markdown == (
        "## Queues\n\nA queue holds [tasks](https://example.org/x) (Or jobs.).\n\n- first\n\n  * inner\n\n"
        "```\na =\t1\n  b\n```\n\n| x | x |\n| --- | --- |\n"
    )


def test_chapters_of_a_book_in_their_order() -> None:
    converted = convert(
        epub('<h1>One</h1><p>A <a href="c1.xhtml">queue</a>.</p>', "<h1>Two</h1><script>x</script><p>More of it.</p>")
    )
    assert converted.markdown == "# One\n\nA queue.\n\n# Two\n\nMore of it.\n"
    assert (converted.title, converted.language) == ("A book", "de")


def lying(body: bytes, name: bytes, size: int) -> bytes:
    """A zip file whose directory claims another size for a part."""
    place = body.rindex(name) - 46
    return body[: place + 24] + struct.pack("<I", size) + body[place + 28 :]


def locked(body: bytes) -> bytes:
    """A zip file whose first part is marked as encrypted."""
    place = body.index(b"PK\x01\x02")
    marked = bytearray(body)
    while place != -1:
        marked[place + 8] |= 1
        place = body.find(b"PK\x01\x02", place + 4)
    return bytes(marked)


ENTITIES = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
ENCRYPTED = OLE + b"\x00" * 600 + "EncryptedPackage".encode("utf-16-le") + b"\x00" * 600
ENCRYPTION = (
    '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#">'
    '<e:CipherReference URI="OPS/text/c%200.xhtml"/></encryption>'
)


@pytest.mark.parametrize(
    ("body", "reason", "message"),
    [
        (ENCRYPTED, Reason.UNSUPPORTED_TYPE, "password"),
        (OLE + b"\x00" * 600, Reason.UNSUPPORTED_TYPE, "older office program"),
        (locked(DOCUMENT), Reason.UNSUPPORTED_TYPE, "password"),
        (odt("<text:p>x</text:p>", "<m><encryption-data/></m>"), Reason.UNSUPPORTED_TYPE, "password"),
        (epub("<p>x</p>", **{"META-INF/encryption.xml": ENCRYPTION}), Reason.UNSUPPORTED_TYPE, "rights"),
        (DOCUMENT[:-200], Reason.PARSE_FAILURE, "no zip file"),
        (DOCUMENT.replace(b"PK\x03\x04", b"PK\x03\x05", 9)[4:], Reason.PARSE_FAILURE, "damaged"),
        (zipped({"word/document.xml": b"<w:document"}), Reason.PARSE_FAILURE, "damaged"),
        (zipped({"word/document.xml": f"<w:document {W}/>"}), Reason.PARSE_FAILURE, "damaged"),
        (zipped({"xl/workbook.xml": "", "a": ""}), Reason.PARSE_FAILURE, "XML"),
        (zipped({"mimetype": ODT}), Reason.PARSE_FAILURE, "no content.xml"),
        (docx(BODY, **{"word/numbering.xml": ENTITIES + "<x>&b;</x>"}), Reason.PARSE_FAILURE, "entities"),
        (docx(BODY, **{"word/numbering.xml": (ENTITIES + "<x/>").encode("utf-16")}), Reason.PARSE_FAILURE, "entities"),
        (zipped({"xl/workbook.xml": ENTITIES + "<x>&b;</x>"}), Reason.PARSE_FAILURE, "entities"),
        (zipped({"mimetype": ODT, "content.xml": ENTITIES + "<x>&b;</x>"}), Reason.PARSE_FAILURE, "entities"),
        (docx(" " * 5_900_000), Reason.TOO_LARGE, "multiple"),
        (docx(" " * 7_000_000), Reason.TOO_LARGE, "6000000 bytes"),
        (odt(" " * 25_000_000), Reason.TOO_LARGE, "24000000 bytes"),
        (zipped({f"xl/{n}": "" for n in range(10_001)} | {"xl/workbook.xml": ""}), Reason.TOO_LARGE, "parts"),
        (lying(docx("x" * 1_000_000), b"word/document.xml", 1_000), Reason.PARSE_FAILURE, "unpacked"),
            ],
    ids=[
        "password",
        "old",
        "locked-zip",
        "locked-odt",
        "locked-book",
        "cut",
        "garbled",
        "xml",
        "no-body",
        "empty-part",
        "no-content",
        "entities",
        "entities-wide",
        "entities-sheet",
        "entities-odt",
        "bomb-ratio",
        "bomb-docx",
        "bomb-odt",
        "bomb-parts",
        "bomb-that-lies",
    ],
)  # fmt: skip
def test_what_is_refused(body: bytes, reason: Reason, message: str) -> None:
    error = refusal(body)
    assert (error.reason, message in error.message) == (reason, True), error.message


def test_a_workbook_of_too_many_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_module, "MAX_CELLS", 5)
    row = "<row>" + "<c><v>1</v></c>" * 3 + "</row>"
    assert len(convert(xlsx(row)).markdown.split()) > 3
    assert refusal(xlsx(row * 2)).message == "the workbook has more than 5 cells"
    assert "places" in refusal(xlsx("".join(f'<row><c r="{c}1"><v>1</v></c></row>' for c in "ABCD"))).message


def test_entities_of_a_book_come_to_nothing() -> None:
    chapter = "<p>ha &xxe; &b; ha</p>"
    part = f"<?xml version='1.0'?>{ENTITIES}<html><body>{chapter} ha</body></html>"
    assert len(convert(epub(chapter, **{"OPS/text/c 0.xhtml": part})).markdown) < 200


def test_a_part_that_stands_twice(recwarn: pytest.WarningsRecorder) -> None:
    target = io.BytesIO(DOCUMENT)
    with zipfile.ZipFile(target, "a") as file:
        file.writestr("word/document.xml", "<other/>")
    assert refusal(target.getvalue()).message == "the file is damaged: it holds a part twice"


def test_a_link_out_of_the_package_reads_nothing() -> None:
    body = zipped(
        {
            "xl/workbook.xml": "<workbook/>",
            "xl/_rels/workbook.xml.rels": relations("../../../../etc/passwd"),
        }
    )
    assert refusal(body).reason is Reason.EMPTY_PAGE


@pytest.mark.slow
def test_in_the_worker_too() -> None:
    pool = WorkerPool(1)
    try:
        assert asyncio.run(pool.convert(page(DOCUMENT))).markdown == TEXT
        with pytest.raises(FetchError) as caught:
            asyncio.run(pool.convert(page(docx(" " * 5_900_000))))
        assert caught.value.reason is Reason.TOO_LARGE
    finally:
        pool.close()


@pytest.mark.parametrize(
    ("media_type", "body", "kind"),
    [
        (DOCX, DOCUMENT, DOCX),
        ("application/vnd.ms-word.document.macroEnabled.12", DOCUMENT, DOCX),
        ("application/octet-stream", DOCUMENT, DOCX),
        ("", epub("<p>x</p>"), EPUB),
        ("application/octet-stream", odt(""), ODT),
        ("application/octet-stream", pptx(""), PPTX),
        (DOCX, xlsx(""), XLSX),
        (DOCX, ENCRYPTED, DOCX),
        (DOCX, b"<html>an error page</html>", None),
        ("application/octet-stream", zipped({"a.txt": "x"}), None),
        ("application/octet-stream", ENCRYPTED, None),
        ("application/zip", DOCUMENT, None),
    ],
)
def test_what_comes_from_a_server(media_type: str, body: bytes, kind: str | None) -> None:
    async def run() -> str:
        async with serving({"/file": reply(body, f"content-type: {media_type}")}) as site:
            acquirer = HttpAcquirer(gate_to(f"127.0.0.1:{site.port}"))
            return (await acquirer.fetch(f"http://127.0.0.1:{site.port}/file")).media_type

    if kind is not None:
        assert asyncio.run(run()) == kind
        return
    with pytest.raises(FetchError) as caught:
        asyncio.run(run())
    assert caught.value.reason is Reason.UNSUPPORTED_TYPE
