"""Structure: what a browser shows apart stays apart, and what belongs together stays together."""

from __future__ import annotations

import pytest

from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.conversion.html import convert_html

URL = "https://site.example/docs/p.html"


def page(body: str) -> ConvertedPage:
    html = f"<html lang=en><body><main><p>Words before it.</p>{body}</main></body></html>"
    return convert_html(html.encode(), url=URL)


def markdown(body: str) -> str:
    return page(body).markdown.removeprefix("Words before it.\n").strip("\n")


def lines(body: str) -> list[str]:
    return [line.strip() for line in markdown(body).splitlines() if line.strip()]


@pytest.mark.parametrize("broken", ["</br>", "<br></br>", "</BR >", "<br /></br>", "<br>"])
def test_a_break_that_is_written_as_an_end_is_a_break(broken: str) -> None:
    assert lines(f"<p>Mill Lane 4{broken}Leeds</p>") == ["Mill Lane 4", "Leeds"]
    assert "| 9-12 14-18 |" in markdown(f"<table><tr><th>Day<th>Hours<tr><td>Mon<td>9-12{broken}14-18</table>")


@pytest.mark.parametrize("tag", ["mat-card", "sl-tab", "my-very-own.box", "X-Tile"])
def test_custom_elements_are_boxes(tag: str) -> None:
    assert lines(f"<{tag}-title>Pump A</{tag}-title><{tag}-body>Moves 20 litres.</{tag}-body>") == [
        "Pump A",
        "Moves 20 litres.",
    ]
    assert lines(f"<{tag}><h2>Pump</h2><p>text</p></{tag}>") == ["## Pump", "text"]


@pytest.mark.parametrize(
    ("html", "line"),
    [
        ("<p>See <x-term>dead band</x-term> of the valve.</p>", "See dead band of the valve."),
        ("<h2>All of <x-name>Gizmo</x-name></h2>", "## All of Gizmo"),
        ("<div><span>Updated</span><x-time>4 March</x-time><span>by Ann</span></div>", "Updated 4 March by Ann"),
        ("<p><label for=a>macOS</label><label for=b>Fedora</label></p>", "macOS Fedora"),
        ("<p><label>Width</label><span>20</span></p>", "Width 20"),
        ("<p>Ends with <x-term>a term</x-term><b>.</b></p>", "Ends with a term**.**"),
    ],
)
def test_words_of_a_line_stay_in_it_and_do_not_run_together(html: str, line: str) -> None:
    assert lines(html) == [line]


PORTS = "| Port | State |\n| --- | --- |\n| 8080 | off |\n| 443 | on |"


def _aria_table(tag: str, cell: str, group: str, table: str = "table") -> str:
    def row(role: str, *cells: str) -> str:
        return f"<{tag} role=row>{''.join(f'<{cell} role={role}>{each}</{cell}>' for each in cells)}</{tag}>"

    rows = [row("columnheader", "Port", "State"), row("gridcell", "8080", "off"), row("cell", "443", "on")]
    return f"<div role={table}>{''.join(group.format(each) for each in rows)}</div>"


@pytest.mark.parametrize("table", ["table", "grid", "treegrid"])
@pytest.mark.parametrize("group", ["{}", "<div role=rowgroup>{}</div>", "<x-group><div>{}</div></x-group>"])
@pytest.mark.parametrize(("tag", "cell"), [("div", "span"), ("span", "span"), ("x-row", "x-cell"), ("div", "div")])
def test_rows_and_cells_by_role_are_a_table(tag: str, cell: str, group: str, table: str) -> None:
    assert markdown(_aria_table(tag, cell, group, table)) == PORTS


def test_cells_by_role_span_columns_and_keep_what_stands_beside_them() -> None:
    html = """<div role=grid><p>Before the rows.</p><div role=row><b role=columnheader>A</b><b role=columnheader>B</b>
        </div><div role=row><div role=cell aria-colspan=2>both</div></div>
        <div role=row><i>loose</i><div><div role=cell>1</div></div><div role=cell>2</div></div></div>"""
    text = markdown(html)
    assert text.startswith(
        "Before the rows.\n\n| **A** | **B** |" if "**A**" in text else "Before the rows.\n\n| A | B |"
    )
    assert "loose" in text
    assert "| 1 | 2" in text


def test_rows_of_one_cell_are_no_table_and_inner_tables_are_their_own() -> None:
    single = "".join(f"<div role=row><span role=gridcell>entry {n}</span></div>" for n in range(3))
    assert lines(f"<div role=grid>{single}</div>") == ["entry 0", "entry 1", "entry 2"]
    inner = _aria_table("div", "span", "{}")
    assert "| 8080 | off |" in markdown(f"<div role=grid><div role=row><div role=cell>{inner}</div></div></div>")


def test_lists_by_role_are_lists_unless_their_items_are_boxes() -> None:
    items = "<div role=listitem>first</div><x-item role=listitem>second</x-item>"
    assert lines(f"<div role=list>{items}</div>") == ["- first", "- second"]
    assert lines("<div role=list><div role=listitem><h2>Part</h2>text</div></div>") == ["## Part", "text"]
    assert lines("<div><span role=listitem>one</span><span role=listitem>two</span></div>") == ["one", "two"]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li>alpha</li><ul><li>one</li></ul><li>beta</li></ul>", "- alpha\n  * one\n- beta"),
        ("<ol><li>alpha</li><ul><li>one</li></ul><li>beta</li></ol>", "1. alpha\n   - one\n2. beta"),
        ("<ul><li>a</li><ul><li>b</li><ul><li>c</li></ul></ul></ul>", "- a\n  * b\n    + c"),
        ("<ul><li>a</li><!-- x --><ul><li>b</li></ul><ul><li>c</li></ul></ul>", "- a\n  * b\n  * c"),
    ],
)
def test_a_list_directly_in_a_list_belongs_to_the_item_before(html: str, expected: str) -> None:
    assert [line for line in markdown(html).splitlines() if line.strip()] == expected.splitlines()


@pytest.mark.parametrize("attribute", ["shadowrootmode=open", "shadowrootmode=closed", "shadowroot=open"])
def test_shadow_roots_are_shown_with_the_content_of_their_slots(attribute: str) -> None:
    html = f"""<x-card><template {attribute}><style>p {{}}</style><h2><slot name=title>None</slot></h2><slot></slot>
        <p><slot name=price>Ask us.</slot></p></template><span slot=title>Pump</span><p>Moves water.</p></x-card>"""
    assert lines(html) == ["## Pump", "Moves water.", "Ask us."]


def test_shadow_roots_nest_and_keep_what_has_no_slot() -> None:
    html = """<x-a><template shadowrootmode=open><x-b><template shadowrootmode=open><p>inner</p><slot></slot></template>
        <slot name=word></slot></x-b></template><em slot=word>passed on</em><p>without a slot</p></x-a>
        <template><p>inert</p></template>"""
    assert lines(html) == ["inner", "*passed on*", "without a slot"]


def test_a_page_that_is_one_shadow_root_is_a_page() -> None:
    html = b"<x-page><template shadowrootmode=open><h1>Depth</h1><p>It is 7 levels.</p></template></x-page>"
    assert convert_html(html, url=URL).markdown == "# Depth\n\nIt is 7 levels.\n"


SIGNED = ["¶", "#", "§", "", "\u200b", "\U0001f517", "Permalink", "Permalink to this heading", "link to this section"]


@pytest.mark.parametrize("sign", SIGNED)
def test_permalinks_are_no_text_of_a_heading_or_of_the_path_below_it(sign: str) -> None:
    link = f"<a id=part href='#part' class=x aria-label='Permalink: Part'>{sign}</a>"
    for html in (f"<h2>{link} Part 7</h2>", f"<h2>Part 7{link}</h2>", f"<div class=y><h2>Part 7</h2>{link}</div>"):
        converted = page(f"{html}<p><a href=/next>on</a></p>")
        assert "\n## Part 7\n\n[on]" in converted.markdown
        assert converted.links[0].heading_path == ("Part 7",)
        assert dict(converted.markup.anchors)["part"] == converted.markdown.index("Part 7") + len("Part 7")


EDITS = [
    '<span class="mw-editsection"><span>[</span><a href="/w/index.php?title=L&amp;action=edit&amp;section=1">edit</a>'
    "<span>]</span></span>",
    ' <span>[<a href="/w?veaction=edit">Bearbeiten</a> | <a href="/w?title=L&action=edit">Quelltext</a>]</span>',
    ' [<a href="?action=edit">編集</a>]',
    ' <a class="edit-link" href="/wiki/lake/edit">Edit</a>',
    ' <small>(<a href="doku.php?id=lake&do=edit">modifier</a>)</small>',
]


@pytest.mark.parametrize("edit", EDITS)
def test_links_that_edit_a_section_are_no_text_of_its_heading(edit: str) -> None:
    for html in (f"<h2>History{edit}</h2>", f"<div class=head><h2>History</h2>{edit}</div>"):
        if edit.startswith(" [") and "head" in html:
            continue  # loose brackets beside a heading are text of the box
        converted = page(f"{html}<p><a href=/next>on</a></p>")
        assert "\n## History\n\n[on]" in converted.markdown
        assert [(link.anchor_text, link.heading_path) for link in converted.links] == [("on", ("History",))]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h2><a href='#top'>Link</a></h2>", ["## Link"]),
        ("<h2>The C# <a href='#x'>language</a></h2>", ["## The C# language"]),
        ("<div><h2>Notes</h2><a href='/help/edit/page'>Edit pages</a></div>", None),
        ("<h2>Sum (of <a href='/edit'>all parts of it</a>)</h2>", None),
        ("<h2>Array[ ]</h2>", ["## Array[ ]"]),
        ("<h2>open()<a href='#open'>¶</a></h2>", ["## open()"]),
        ("<h2>open() [<a href='?action=edit'>edit</a>]</h2>", ["## open()"]),
        ("<h2>open()<span>[<a href='?action=edit'>edit</a>]</span></h2>", ["## open()"]),
    ],
)
def test_other_links_of_headings_stay(html: str, expected: list[str] | None) -> None:
    found = lines(html)
    assert found == expected if expected else any("Edit pages" in line or "Sum (of" in line for line in found)


FRAMES = """<html><head><title>Old</title></head><frameset cols="20%,80%"><frame src="menu.htm" name="menu">
<FRAMESET rows="9,*"><frame src="../main.htm" title="All chapters" name=c><frame src="about:blank"></FRAMESET>
<noframes><body>No frames? <a href="main.htm">Go to content</a></body></noframes></frameset></html>"""


def test_the_frames_of_a_frameset_are_links() -> None:
    converted = convert_html(FRAMES.encode(), url=URL)
    assert [(link.target_url, link.anchor_text) for link in converted.links] == [
        ("https://site.example/docs/menu.htm", "menu"),
        ("https://site.example/main.htm", "All chapters"),
        ("https://site.example/docs/main.htm", "Go to content"),
    ]
    assert "<" not in converted.markdown
    assert "No frames? [Go to content](https://site.example/docs/main.htm)" in converted.markdown


def test_frames_within_a_page_are_links_where_they_show_a_page_of_the_same_host() -> None:
    html = """<p>Some words.</p><iframe src=/sizes.html title="Table of sizes"></iframe><iframe src="//ads.example/x">
        </iframe><iframe src=/count.html width=1 height=1></iframe><iframe src=/x style="display: none"></iframe>
        <iframe src=#here></iframe><iframe src="http://[bad"></iframe><noframes><p>raw</p></noframes>"""
    converted = page(html)
    assert [link.target_url for link in converted.links] == ["https://site.example/sizes.html"]
    assert lines(html)[1:] == ["[Table of sizes](https://site.example/sizes.html)"]


@pytest.mark.parametrize("tag", ["div class=card", "article", "li class=tile", "section"])
@pytest.mark.parametrize("inner", ["{}", "<div>{}</div>"])
def test_the_footer_of_a_card_is_its_own(tag: str, inner: str) -> None:
    def card(name: str, price: int) -> str:
        foot = inner.format(f"<footer>It costs {price} EUR.</footer>")
        return f"<{tag}><h2>{name}</h2><p>Words about it.</p>{foot}</{tag.split()[0]}>"

    html = f"<body><header>Site</header><div>{card('A', 10)}{card('B', 20)}</div><footer>Imprint</footer></body>"
    text = convert_html(html.encode(), url=URL).markdown
    assert ["It costs 10 EUR." in text, "It costs 20 EUR." in text, "Imprint" in text] == [True, True, False]
