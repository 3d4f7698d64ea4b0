"""Tables and definition lists as cells: every cell is an exact slice, cut as the Markdown parser cuts it."""

from __future__ import annotations

import asyncio
import html

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.conftest import REPOSITORY
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.conversion.html import convert_html
from webrag_core.errors import FetchError
from webrag_core.retrieval.tables.parsing import Cell, Table, all_tables, tables_at
from webrag_core.retrieval.tables.scoring import Candidate, best_cells

SITES = REPOSITORY / "evals" / "sites"
_GFM = MarkdownIt("commonmark").enable("table")

INSIDE = st.text(st.sampled_from("ab1 |\\`*_:-é字"), max_size=8)
TABLES = st.lists(st.lists(INSIDE, min_size=2, max_size=2), min_size=1, max_size=5)


def html_page(table: str) -> str:
    return convert_html(f"<main><p>Some words before it.</p>{table}</main>".encode(), url="https://s.example/").markdown


def texts(text: str) -> list[list[str]]:
    return [[cell.of(text) for cell in row.cells] for table in all_tables(text) for row in table.rows]


def assert_exact(text: str, table: Table) -> None:
    assert table.rows
    for row in table.rows:
        assert 0 <= row.start < row.end <= len(text)
        for cell in row.cells:
            inked = cell.of(text)
            assert inked == inked.strip()
            assert row.start <= cell.start <= cell.end <= row.end
            if cell.header is not None and cell.header.end > cell.header.start:
                assert cell.header.of(text).strip() == cell.header.of(text)


@given(TABLES)
def test_every_row_is_cut_as_the_markdown_parser_cuts_it(rows: list[list[str]]) -> None:
    lines = ["| Name | Value |", "| --- | --- |", *(f"| {' | '.join(cells)} |" for cells in rows)]
    text = "Words.\n\n" + "\n".join(lines) + "\n"
    tokens = _GFM.parse(text)
    expected = [token.content for token in tokens if token.type == "inline"][3:]  # without paragraph and header
    found = [table for table in all_tables(text) if table.kind == "table"]
    for table in found:
        assert_exact(text, table)
    own = {row.start: row.cells for table in found for row in table.rows if not row.doubtful}
    for number in range(0, len(expected) // 2):
        pair = expected[2 * number : 2 * number + 2]
        start = text.index(lines[number + 2], sum(len(line) + 1 for line in lines[: number + 2]) + 8)
        if start in own:  # empty rows and rules are left out
            cells = [cell.of(text).replace("\\|", "|") for cell in own[start]] + ["", ""]
            assert cells[:2] == pair


CELL = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\ue000\ue001"), max_size=12)


@settings(max_examples=40)
@given(st.lists(st.lists(CELL, min_size=1, max_size=4), min_size=1, max_size=5), st.booleans())
def test_tables_of_pages_keep_their_places(rows: list[list[str]], headed: bool) -> None:
    body = "".join(
        "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
        for number, cells in enumerate(rows)
        for tag in ["th" if headed and not number else "td"]
    )
    text = html_page(f"<table>{body}</table>")
    for table in all_tables(text):
        assert_exact(text, table)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            "<tr><th>Name<th>Use<tr><td><code>a|b</code><td>x | y",
            [["Name", "Use"], ["`a\\|b`", "x \\| y"]],
        ),
        ("<tr><th>a<th>b<th>c<tr><td><td>1<td>", [["", "1", ""]]),
        (  # a first row of code names nothing
            "<tr><td><code>a</code><td><code>1</code><td>x<tr><td><code>b</code><td><code>2</code><td>y",
            [["`a`", "`1`", "x"], ["`b`", "`2`", "y"]],
        ),
        ("<tr><td>Name<td>tea<tr><td>Price<td>3", [["Name", "tea"], ["Price", "3"]]),
        ("<tr><th>a<th>b<th>c<tr><td rowspan=2>x<td>1<td>2<tr><td>3<td>4", [["x", "1", "2"], ["x", "3", "4"]]),
        ("<tr><th>Function<tr><td><code>sin</code> Gives the sine", [["`sin`", "`sin` Gives the sine"]]),
    ],
)
def test_tables_as_the_converter_writes_them(table: str, expected: list[list[str]]) -> None:
    assert texts(html_page(f"<table>{table}</table>")) == expected


def test_what_stands_above_and_beside_a_cell_is_known() -> None:
    text = html_page(
        "<h2>Prices</h2><table><tr><th>Kind<th>Price<th>Place<tr><th colspan=3>Green<tr><td>Sencha<td>3<td>Uji"
        "<tr><td>Sencha<td>4<td>Edo<tr><td>Matcha<td>9<td>Uji</table>"
    )
    (table,) = all_tables(text)
    assert table.heading_path == ("Prices",)
    section, first, second, third = table.rows
    assert section.section is None
    assert [row.section and row.section.of(text) for row in (first, second, third)] == ["Green"] * 3
    assert [cell.header and cell.header.of(text) for cell in first.cells] == ["Kind", "Price", "Place"]
    assert text[third.start : third.end] == "| Matcha | 9 | Uji |"


def test_a_repeated_first_column_needs_the_second_to_name_a_row() -> None:
    text = html_page(
        "<table><tr><th>Engine<th>Mode<th>Power<tr><td rowspan=2>A<td>low<td>1<tr><td>high<td>2"
        "<tr><td rowspan=2>B<td>low<td>3<tr><td>high<td>4</table>"
    )
    (table,) = all_tables(text)
    assert {row.keys for row in table.rows} == {2}


def test_definitions_are_rows_with_labels_and_sentences() -> None:
    text = html_page(
        "<dl><dt><b>queue_time (default: 5d)</b><dd>Give up after this. The unit is days."
        "<dt><code>size</code> (<code>integer</code>)<dd><p>One.<p>Two.<dl><dt>inner<dd>Nested words.</dl>"
        "<dt>f(x)<dd>A call.</dl>"
    )
    by_name = {table.rows[0].cells[0].of(text): table for table in all_tables(text)}
    assert list(by_name) == ["queue_time", "`size`", "inner", "f(x)"]
    first = by_name["queue_time"].rows[0].cells
    assert [(cell.of(text), cell.header and cell.header.of(text)) for cell in first[1:]] == [
        ("5d", "default"),
        ("Give up after this.", None),
        ("The unit is days.", None),
    ]
    assert [cell.of(text) for cell in by_name["`size`"].rows[0].cells[1:]][:3] == ["`integer`", "One.", "Two."]
    for table in by_name.values():
        assert table.kind == "definition_list"
        assert_exact(text, table)


@pytest.mark.parametrize("prefix", ["> ", "    ", "> > "])
def test_tables_in_quotations_and_lists(prefix: str) -> None:
    lines = ["| Name | Use | Cost |", "| --- | --- | --- |", "| a\\|b |  | 3 |"]
    start = "- words\n\n" if prefix == "    " else ""
    text = start + "\n".join(prefix + line for line in lines)
    assert texts(text) == [["a\\|b", "", "3"]]


def test_a_table_without_pipes_around_its_rows() -> None:
    text = "Name | Use\n--- | ---\na | b\nc | d\n"
    assert texts(text) == [["Name", "Use"], ["a", "b"], ["c", "d"]]


def test_a_table_is_found_whole_by_a_part_of_it() -> None:
    rows = "\n".join(f"| item {number} | {number} | x |" for number in range(500))
    text = f"# Title\n\n| Name | Number | Mark |\n| --- | --- | --- |\n{rows}\n\nWords after it.\n"
    place = text.index("item 321")
    (table,) = tables_at(text, [(place, place + 4)])
    assert len(table.rows) == 500
    assert table.rows[321].cells[1].of(text) == "321"
    assert table.rows[499].cells[0].header is not None
    assert tables_at(text, [(text.index("Words"), len(text))]) == []
    assert tables_at(text, [(0, 5)]) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "inside", ["`" * 50_000, "[" * 50_000, "(a" * 50_000, "- " * 50_000, "|" * 50_000, "*" * 50_000, "x " * 50_000]
)
def test_a_hostile_table_takes_no_longer_than_its_length(inside: str) -> None:
    text = (
        f"| {inside} | b | c |\n{'| --- ' * (inside.count('|') + 3)}|\n| {inside} | 1 | 2 |\n\n{inside}\n:   {inside}\n"
    )
    candidates = [Candidate(text, table, "", 0.5) for table in all_tables(text)]
    best_cells("what is the value of b", {}, candidates, 5)


def test_an_empty_cell_has_no_text() -> None:
    assert Cell(3, 3).of("anything") == ""


@pytest.mark.slow
@pytest.mark.parametrize("site", ["postfix-3.7", "tomcat-10.1"])
def test_all_tables_of_a_real_site(site: str) -> None:
    warc = SITES / f"{site}.warc.gz"

    async def markdowns() -> list[str]:
        acquirer = WarcAcquirer(warc)
        converted = []
        for url in acquirer.page_urls():
            try:
                page = await acquirer.fetch(url)
            except FetchError:
                continue
            converted.append(convert_html(page.body, url=page.final_url).markdown)
        return converted

    tables = 0
    for text in asyncio.run(markdowns()):
        for table in all_tables(text):
            assert_exact(text, table)
            tables += 1
    assert tables > 200
