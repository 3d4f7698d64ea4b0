"""Tables: rows that can be read alone, whatever their cells span."""

from __future__ import annotations

import pytest

from webrag_core.conversion.html import convert_html


def markdown(table: str) -> str:
    page = f"<main><p>Some words before it.</p><table>{table}</table></main>"
    return convert_html(page.encode(), url="https://site.example/").markdown.removeprefix("Some words before it.\n\n")


TWO_LEVELS = """| Model | Power min | Power max |
| --- | --- | --- |
| A | 1 | 2 |
"""
HEADER = "<tr><th rowspan=2>Model<th colspan=2>Power<tr><th>min<th>max"


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (f"<thead>{HEADER}</thead><tbody><tr><td>A<td>1<td>2</tbody>", TWO_LEVELS),
        (f"{HEADER}<tr><td>A<td>1<td>2", TWO_LEVELS),
        (f"<tr><th colspan=3>Engines{HEADER}<tr><td>A<td>1<td>2", f"Engines\n\n{TWO_LEVELS}"),
        (
            "<tr><th>a<th>b<tr><td rowspan=3>x<td>1<tr><td>2<tr><td>3<tr><td>y<td>4",
            "| a | b |\n| --- | --- |\n| x | 1 |\n| x | 2 |\n| x | 3 |\n| y | 4 |\n",
        ),
        (
            "<tr><th>a<th>b<th>c<tr><td>1<td colspan=2><a href=/l>none</a>",
            "| a | b | c |\n| --- | --- | --- |\n| 1 | [none](https://site.example/l) | none |\n",
        ),
        (  # a cell hangs behind the last one of the row
            "<tr><th>a<th>b<tr><td>1<td rowspan=2>2<tr><td>3<tr><td>4<td>5",
            "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 2 |\n| 4 | 5 |\n",
        ),
        (  # spans end with their section
            "<thead><tr><th rowspan=9>a<th>b</thead><tbody><tr><td>1<td>2</tbody>",
            "| a | b |\n| --- | --- |\n| 1 | 2 |\n",
        ),
        (  # a row that is one cell names the rows below
            "<tr><th>a<th>b<tr><th colspan=2>Section<tr><td>1<td>2",
            "| a | b |\n| --- | --- |\n| Section | |\n| 1 | 2 |\n",
        ),
        (  # to the end of the table
            "<tr><th>a<th>b<tr><td rowspan=0>x<td>1<tr><td>2<tr><td>3",
            "| a | b |\n| --- | --- |\n| x | 1 |\n| x | 2 |\n| x | 3 |\n",
        ),
        ("<tr><th>a<th>b<tr><th>c<th>d", "| a | b |\n| --- | --- |\n| c | d |\n"),
    ],
)
def test_spanning_cells_stand_in_every_place_they_span(table: str, expected: str) -> None:
    assert markdown(table) == expected


SETTINGS = "<tr><th>Name<th>Default<th>About<tr><td>depth<td>7<td>Levels.<tr><td>{}<td>none<td>{}"


@pytest.mark.parametrize(
    ("name", "about", "row", "behind"),
    [
        (
            "rules",
            "For example:<pre>a:\n  - b</pre>",
            "| rules | none | For example: |",
            "rules\n\n```\na:\n  - b\n```",
        ),
        ("<pre>a\n b</pre>", "As code.", "|  | none | As code. |", "```\na\n b\n```"),
        ("rules", "<pre>one line</pre>", "| rules | none | `one line` |", ""),
        ("<h4>rules</h4>", "A list.", "| rules | none | A list. |", ""),
        ("rules", "<p>One.</p><p>Two.</p><ul><li>a<li>b</ul>", "| rules | none | One. Two. a b |", ""),
        ("rules", "<blockquote><div>quoted</div></blockquote>text", "| rules | none | quoted text |", ""),
    ],
)
def test_a_block_in_a_cell_leaves_the_columns(name: str, about: str, row: str, behind: str) -> None:
    table = "| Name | Default | About |\n| --- | --- | --- |\n| depth | 7 | Levels. |\n" + row + "\n"
    assert markdown(SETTINGS.format(name, about)) == table + (f"\n{behind}\n" if behind else "")


def test_headings_in_all_cells_of_a_column_are_its_words() -> None:
    rows = "".join(f"<tr><td><h4>P{n}</h4></td><td>{n} l/min</td></tr>" for n in (20, 30))
    assert "| P20 | 20 l/min |\n| P30 | 30 l/min |" in markdown(f"<tr><th>Model</th><th>Speed</th></tr>{rows}")


@pytest.mark.parametrize(
    "table",
    [
        "<tr><td><h2>Part</h2><p>Words of the part.</p></td><td><h2>Other</h2><p>Words.</p></td></tr>" * 2,
        "<tr><th>Before</th><th>After</th></tr><tr><td><pre>a\nb</pre></td><td><pre>c\nd</pre></td></tr>",
        "<tr><td colspan=2><h2>Part</h2></td></tr><tr><td>left</td><td>right</td></tr>",
    ],
)
def test_tables_of_boxes_stay_blocks(table: str) -> None:
    assert "|" not in markdown(table)


BY_ROWS = "| Area | 454 km² |\n| Mayor | Anne |\n"
EMPTY = "|  |  |\n| --- | --- |\n"


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("<tr><th>Area<td>454 km²<tr><th>Mayor<td>Anne", EMPTY + BY_ROWS),
        ("<tbody><tr><th>Area<td>454 km²</tbody><tbody><tr><th>Mayor<td>Anne</tbody>", EMPTY + BY_ROWS),
        ("<tr><th colspan=2>Oslo<tr><th>Area<td>454 km²<tr><th>Mayor<td>Anne", f"Oslo\n\n{EMPTY}{BY_ROWS}"),
        ("<tr><th>Area<td>454 km²", f"{EMPTY}| Area | 454 km² |\n"),
        # columns that have names keep them
        ("<tr><td><th>A<tr><th>x<td>1", "|  | A |\n| --- | --- |\n| x | 1 |\n"),
        ("<thead><tr><th>key<td>value</thead><tr><th>x<td>1", "| key | value |\n| --- | --- |\n| x | 1 |\n"),
        ("<tr><td>Area<td>454 km²<tr><td>Mayor<td>Anne", "| Area | 454 km² |\n| --- | --- |\n| Mayor | Anne |\n"),
    ],
)
def test_rows_that_name_themselves_give_no_names_to_columns(table: str, expected: str) -> None:
    assert markdown(table) == expected


def test_a_long_cell_is_not_repeated() -> None:
    text = markdown(f"<tr><th>a<th>b<tr><td rowspan=2>{'long words ' * 20}<td>1<tr><td>2")
    assert text.count("long words") == 20
    assert text.endswith("|  | 2 |\n")


def test_a_table_that_claims_a_million_columns_keeps_its_cells() -> None:
    row = "<tr><td colspan=1000000 rowspan=1000000>one</td><td>two</td></tr>"
    text = markdown(row * 100)
    assert text.count("| one | two |") == 100
    assert len(text) < 5_000


def test_a_single_header_over_the_whole_table_stays_its_header() -> None:
    text = markdown("<tr><th colspan=2>both</th></tr>" + "<tr><td>left</td><td>right</td></tr>" * 3)
    assert "| both | |" in text
    assert text.count("| left | right |") == 3


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("<pre>x = 1\n\ny = 2</pre>", "```\nx = 1\n\ny = 2\n```\n"),
        ("\n <div><pre>x = 1</pre></div>", "```\nx = 1\n```\n"),
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |\n"),
        ("<p>He wrote:</p><pre>x</pre>", "> He wrote:\n>\n> ```\n> x\n> ```\n"),
    ],
)
def test_a_quote_that_only_indents_code_or_a_table_is_none(quote: str, expected: str) -> None:
    page = f"<main><h1>T</h1><blockquote>{quote}</blockquote><p>More words here.</p></main>"
    text = convert_html(page.encode(), url="https://site.example/").markdown
    assert text.removeprefix("# T\n").removesuffix("More words here.\n").strip("\n") == expected.strip("\n")


@pytest.mark.parametrize(
    ("formula", "tex"),
    [
        ("<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>", r"$\frac{1}{2}$"),
        ('<math alttext="x^{2}"><msup><mi>x</mi><mn>2</mn></msup></math>', "$x^{2}$"),
        (
            "<math><semantics><mi>x</mi><annotation encoding='application/x-tex'>a|b</annotation></semantics></math>",
            "$a|b$",
        ),
    ],
)
def test_mathml_is_tex(formula: str, tex: str) -> None:
    page = f"<main><p>Words about {formula} here.</p><table><tr><th>a<tr><td>x<td>{formula}</table></main>"
    text = convert_html(page.encode(), url="https://site.example/").markdown
    assert f"Words about {tex} here." in text
    assert f"| x | {tex.replace('|', chr(92) + '|')} |" in text
