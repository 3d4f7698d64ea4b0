"""The name of a tab stands before its panel, and on the path of what is in it."""

from __future__ import annotations

import pytest

from webrag_core.conversion.html import convert_html
from webrag_core.indexing.markdown import parse_blocks

NAMES = ("macOS", "Fedora", "Docker Hub")
PANELS = ("Use the package gizmo-full.", "Use the package gizmo-rpm.", "Use the image gizmo/all.")


def markdown(html: str) -> str:
    return convert_html(html.encode(), url="https://example.org/install.html").markdown


# [Tn] is a name, [Pn] a panel's text; {…|…} is repeated for every tab with its number for n.
SETS = {
    "Bootstrap 5": """<ul class="nav nav-tabs" role=tablist>{<li class=nav-item role=presentation><button class=nav-link
        data-bs-toggle=tab data-bs-target="#tn" type=button role=tab>[Tn]</button></li>}</ul><div class=tab-content>
        {<div class="tab-pane fade" id=tn role=tabpanel tabindex=0>[Pn]</div>}</div>""",
    "Bootstrap 5 in nav": """<nav><div class="nav nav-tabs" id=nav-tab role=tablist>{<button class=nav-link id=nn-tab
        data-bs-toggle=tab data-bs-target="#nn" type=button role=tab aria-controls=nn>[Tn]</button>}</div></nav>
        <div class=tab-content>{<div class="tab-pane" id=nn role=tabpanel aria-labelledby=nn-tab><p>[Pn]</p>
        </div>}</div>""",
    "Bootstrap 3": """<ul class="nav nav-tabs">{<li><a data-toggle=tab href="#hn">[Tn]</a></li>}</ul><div
        class=tab-content>
        {<div id=hn class="tab-pane fade"><p>[Pn]</p></div>}</div>""",
    "MkDocs Material": """<div class="tabbed-set tabbed-alternate" data-tabs="1:3">{<input id=__tabbed_1_n
        name=__tabbed_1
        type=radio>}<div class=tabbed-labels>{<label for=__tabbed_1_n>[Tn]</label>}</div><div class=tabbed-content>
        {<div class=tabbed-block><p>[Pn]</p></div>}</div></div>""",
    "MkDocs Material with links": """<div class="tabbed-set">{<input id=__tn name=__t type=radio>}<div
        class=tabbed-labels>{<label for=__tn><a href="#__tn" tabindex=-1>[Tn]</a></label>}</div><div
        class=tabbed-content>{<div class=tabbed-block><pre><code>[Pn]</code></pre></div>}</div></div>""",
    "old MkDocs": """<div class=tabbed-set data-tabs="1:3">{<input id=on name=o type=radio><label
        for=on>[Tn]</label><div
        class=tabbed-content><p>[Pn]</p></div>}</div>""",
    "Sphinx tabs": """<div class="sphinx-tabs docutils container"><div aria-label="Tabbed content" class=closeable
        role=tablist>{<button aria-controls=panel-0-n aria-selected=false class=sphinx-tabs-tab id=tab-0-n name=x
        role=tab
        tabindex=-1>[Tn]</button>}</div>{<div aria-labelledby=tab-0-n class=sphinx-tabs-panel hidden=true id=panel-0-n
        role=tabpanel tabindex=0><p>[Pn]</p></div>}</div>""",
    "sphinx-design": """<div class="sd-tab-set docutils">{<input id=sd-tab-item-n name=sd-tab-set-0 type=radio><label
        class=sd-tab-label for=sd-tab-item-n>[Tn]</label><div class="sd-tab-content docutils"><p>[Pn]</p>
        </div>}</div>""",
    "Docusaurus": """<div class="theme-tabs-container tabs-container tabList__CuJ"><ul role=tablist
        aria-orientation=horizontal class=tabs>{<li role=tab tabindex=-1 aria-selected=false
        class="tabs__item">[Tn]</li>}
        </ul><div class=margin-top--md>{<div role=tabpanel class=tabItem_Ymn6 hidden><p>[Pn]</p></div>}</div></div>""",
    "AEM": """<div class=cmp-tabs><ol role=tablist class=cmp-tabs__tablist>{<li role=tab id=tabs-n-tab
        class=cmp-tabs__tab
        aria-controls=tabs-n-panel tabindex=-1>[Tn]</li>}</ol>{<div id=tabs-n-panel role=tabpanel
        aria-labelledby=tabs-n-tab
        class=cmp-tabs__tabpanel aria-hidden=true><div class=text><p>[Pn]</p></div></div>}</div>""",
    "Starlight": """<starlight-tabs><div class="tablist-wrapper not-content"><ul role=tablist>{<li role=presentation
        class=tab><a role=tab href="#tab-panel-n" id=tab-n aria-selected=false tabindex=-1>[Tn]</a></li>}</ul></div>
        {<div id=tab-panel-n aria-labelledby=tab-n role=tabpanel hidden><p>[Pn]</p></div>}</starlight-tabs>""",
    "VitePress": """<div class=vp-code-group><div class=tabs>{<input type=radio name=group-1 id=tab-vn><label
        data-title=x for=tab-vn>[Tn]</label>}</div><div class=blocks>{<div class="language-sh"><button title="Copy Code"
        class=copy></button><span class=lang>sh</span><pre class=shiki><code><span class=line>[Pn]</span></code></pre>
        </div>}</div></div>""",
    "GitBook": """<div class="rounded"><div role=tablist class=flex>{<button type=button role=tab id=tab-gn
        aria-controls=tabpanel-gn aria-selected=false><span>[Tn]</span></button>}</div>{<div role=tabpanel
        id=tabpanel-gn
        aria-labelledby=tab-gn class="hidden">[Pn]</div>}</div>""",
    "labelled alone": """<div role=tablist>{<div role=tab id=la-n>[Tn]</div>}</div><div>{<section role=tabpanel
        aria-labelledby=la-n><p>[Pn]</p></section>}</div>""",
    "order alone": """<div><div role=tablist>{<button role=tab>[Tn]</button>}</div><div><div>{<div
        role=tabpanel>[Pn]</div>}</div></div></div>""",
    "links to ids": """<ul class=tabs>{<li><a href="#jn">[Tn]</a></li>}</ul><div class=tab_container>{<div id=jn
        class=tab_content style="display:none"><p>[Pn]</p></div>}</div>""",
    "W3": """<div class=tab>{<button class=tablinks onclick="openCity(event, 'cityn')">[Tn]</button>}</div>{<div
        id=cityn
        class=tabcontent><p>[Pn]</p></div>}""",
    "hugo-book": """<div class=book-tabs>{<input type=radio class=toggle name=tabs-u id=tabs-u-n><label
        for=tabs-u-n>[Tn]</label><div class="book-tabs-content markdown-inner"><p>[Pn]</p></div>}</div>""",
    "Hextra": """<div class="hextra-scrollbar"><div class="hx-mt-4">{<button class=hextra-tabs-toggle role=tab
        type=button
        aria-controls=tabs-panel-n>[Tn]</button>}</div></div><div>{<div class="hextra-tabs-panel hx-hidden"
        id=tabs-panel-n role=tabpanel><p>[Pn]</p></div>}</div>""",
    "Divi": """<div class="et_pb_tabs"><ul class="et_pb_tabs_controls clearfix">{<li class=et_pb_tab_n><a
        href="#">[Tn]</a></li>}</ul><div class=et_pb_all_tabs>{<div class="et_pb_tab clearfix"><div
        class=et_pb_tab_content>[Pn]</div></div>}</div></div>""",
    "web components": """<sl-tab-group>{<sl-tab slot=nav panel=pn>[Tn]</sl-tab>}{<sl-tab-panel
        name=pn>[Pn]</sl-tab-panel>}</sl-tab-group>""",
    "Microsoft": """<div class=tabGroup><ul role=tablist>{<li role=presentation><a href="#tabpanel_1_n" role=tab
        aria-controls=tabpanel_1_n data-tab=x>[Tn]</a></li>}</ul>{<section id=tabpanel_1_n role=tabpanel
        aria-hidden=true hidden><p>[Pn]</p></section>}</div>""",
    "radio buttons before all": """<div class=css-tabs>{<input type=radio name=c id=cn><label
        for=cn>[Tn]</label>}{<section
        class=panel><p>[Pn]</p></section>}</div>""",
    "WooCommerce": """<div class="woocommerce-tabs"><ul class="tabs wc-tabs" role=tablist>{<li id=tab-title-wn role=tab
        aria-controls=tab-wn><a href="#tab-wn">[Tn]</a></li>}</ul>{<div class="woocommerce-Tabs-panel panel" id=tab-wn
        role=tabpanel aria-labelledby=tab-title-wn><p>[Pn]</p></div>}</div>""",
    "panels as items": """<ul class=uk-tab uk-tab>{<li><a href="#">[Tn]</a></li>}</ul><ul class=uk-switcher>{<li>
        <p>[Pn]</p>
        </li>}</ul>""",
    "semantic": """<div class="ui top attached tabular menu">{<a class=item data-tab=sn>[Tn]</a>}</div>{<div
        class="ui bottom attached tab segment" data-tab=sn>[Pn]</div>}""",
}


def filled(template: str) -> str:
    """The template with every part in braces once for each tab."""
    parts = template.replace("}", "{").split("{")
    html = "".join(
        "".join(_numbered(part, n) for n in range(len(NAMES))) if position % 2 else part
        for position, part in enumerate(parts)
    )
    return f"<main><h1>Install</h1><p>Take the package of your system.</p>{html}<p>Then start gizmo once.</p></main>"


def _numbered(part: str, n: int) -> str:
    for mark in (
        "#tn",
        "=tn",
        "#nn",
        "=nn",
        "#hn",
        "=hn",
        "_1_n",
        "__tn",
        "=on",
        "-0-n",
        "item-n",
        "tabs-n",
        "panel-n",
    ):
        part = part.replace(mark, f"{mark[:-1]}{n}")
    for mark in ("tab-n", "tab-vn", "gn", "la-n", "#jn", "=jn", "cityn", "u-n", "tab_n", "=pn", "=cn", "wn", "=sn"):
        part = part.replace(mark, f"{mark[:-1]}{n}")
    return part.replace("[Tn]", NAMES[n]).replace("[Pn]", PANELS[n])


@pytest.mark.parametrize("kind", SETS)
def test_every_panel_stands_under_the_name_of_its_tab(kind: str) -> None:
    text = markdown(filled(SETS[kind]))
    places = [text.index(words) for pair in zip(NAMES, PANELS, strict=True) for words in pair]
    assert places == sorted(places)
    assert all(text.count(words) == 1 for words in (*NAMES, *PANELS))
    assert text.index(PANELS[-1]) < text.index("Then start gizmo once.")


@pytest.mark.parametrize("kind", sorted(SETS.keys() - {"panels as items"}))
def test_the_path_of_a_panel_ends_in_the_name_of_its_tab(kind: str) -> None:
    text = markdown(filled(SETS[kind]))
    paths = {text[block.start : block.end]: block.heading_path for block in parse_blocks(text)}
    for name, panel in zip(NAMES, PANELS, strict=True):
        assert next(path for block, path in paths.items() if panel in block)[-1] == name
    assert paths["Then start gizmo once."] == ("Install",)


def test_headings_in_a_panel_stay_below_the_name_of_its_tab() -> None:
    text = markdown(
        "<main><h1>Pump</h1><h2>Details</h2><div role=tablist><button role=tab aria-controls=a>Home</button><button"
        " role=tab aria-controls=b>Works</button></div><div id=a role=tabpanel><h2>Price</h2><p>It costs 10 EUR.</p>"
        "<h3>Discount</h3><p>None.</p></div><div id=b role=tabpanel><h2>Price</h2><p>It costs 25 EUR.</p></div></main>"
    )
    paths = {text[block.start : block.end]: block.heading_path for block in parse_blocks(text)}
    assert paths["It costs 10 EUR."] == ("Pump", "Details", "Home", "Price")
    assert paths["None."] == ("Pump", "Details", "Home", "Price", "Discount")
    assert paths["It costs 25 EUR."] == ("Pump", "Details", "Works", "Price")


def test_tabs_in_tabs_are_named_by_both() -> None:
    rows = [filled(SETS["GitBook"].replace("gn", f"{n}gn")) for n in range(2)]
    inner = [row[row.index("<div") : row.rindex("<p>")] for row in rows]
    both = "".join(f"<div id=o{n} role=tabpanel>{html}</div>" for n, html in enumerate(inner))
    text = markdown(
        "<main><h1>Install</h1><div role=tablist><button role=tab aria-controls=o0>Stable</button><button role=tab"
        f" aria-controls=o1>Testing</button></div>{both}</main>"
    )
    paths = [block.heading_path for block in parse_blocks(text) if "gizmo-rpm" in text[block.start : block.end]]
    assert paths == [("Install", "Stable", "Fedora"), ("Install", "Testing", "Fedora")]


def test_code_in_a_panel_stays_a_block_of_its_language() -> None:
    html = (
        "<div class=tabbed-set><input type=radio id=a><input type=radio id=b><div class=tabbed-labels><label for=a>bash"
        "</label><label for=b>fish</label></div><div class=tabbed-content><div class=tabbed-block><div"
        " class='language-bash highlight'><pre><code>set -e\n  run\n</code></pre></div></div><div class=tabbed-block>"
        "<div class='language-fish highlight'><pre><code>set -x\n</code></pre></div></div></div></div>"
    )
    text = markdown(f"<main><h1>Shells</h1><p>Take the lines of your shell.</p>{html}</main>")
    assert "bash\n:   ```bash\n    set -e\n      run\n    ```" in text
    assert [block.kind for block in parse_blocks(text) if "set -" in text[block.start : block.end]] == ["code", "code"]


def test_a_panel_that_begins_with_its_name_is_not_named_twice() -> None:
    text = markdown(
        "<main><h1>Pump</h1><ul class='nav nav-tabs'><li><a data-toggle=tab href='#a'>Home</a></li><li><a"
        " data-toggle=tab"
        " href='#b'>Works</a></li></ul><div id=a><h2>Home</h2><p>It costs 10 EUR.</p></div><div id=b><h2>Works</h2>"
        "<p>It costs 25 EUR.</p></div></main>"
    )
    assert text == "# Pump\n\n## Home\n\nIt costs 10 EUR.\n\n## Works\n\nIt costs 25 EUR.\n"


def test_the_only_panel_that_is_there_has_the_name_of_the_selected_tab() -> None:
    text = markdown(
        "<main><h1>Install</h1><p>Take the package of your system.</p><div><div role=tablist><button role=tab"
        " aria-selected=false>macOS</button><button role=tab aria-selected=true>Fedora</button></div><div"
        " role=tabpanel>"
        "<p>Use the package gizmo-rpm.</p></div></div></main>"
    )
    assert text.endswith("Fedora\n:   Use the package gizmo-rpm.\n")
    assert "macOS" not in text


OTHERS = {
    "table of contents": "<ul class=toc><li><a href='#a'>First</a></li><li><a href='#b'>Second</a></li></ul><section"
    " id=a><h2>First</h2><p>One line of text.</p></section><section id=b><h2>Second</h2><p>Two lines.</p></section>",
    "links to pages": "<ul class=tabs><li><a href='/a'>First</a></li><li><a href='/b'>Second</a></li></ul><div>One"
    " line of"
    " text.</div><div>Two lines.</div>",
    "questions": "<form><label for=q1>First</label><input type=radio id=q1 name=q><label for=q2>Second</label><input"
    " type=radio id=q2 name=q></form><div>One line of text.</div><div>Two lines.</div>",
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_only_looks_like_tabs_stays_as_it_is(kind: str) -> None:
    text = markdown(f"<main><h1>Title</h1><p>The text of the page begins.</p>{OTHERS[kind]}</main>")
    assert ":   " not in text
    assert "One line of text." in text
    assert "Second" in text


def test_many_rows_of_tabs_cost_no_more_than_their_number() -> None:
    row = "<div><div role=tablist><button role=tab>a</button><button role=tab>b</button></div></div>"
    assert markdown(f"<main><h1>Title</h1>{row * 500}<div>{'<p>x</p>' * 500}</div></main>").startswith("# Title")
