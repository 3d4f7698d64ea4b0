"""The name of a tab stands before its panel, and on the path of what is in it."""

from __future__ import annotations

import pytest

from webrag_core.conversion.html import convert_html
from webrag_core.indexing.markdown import parse_blocks

NAMES = ("macOS", "Fedora", "Docker Hub")
PANELS = ("Use the package gizmo-full.", "Use the package gizmo-rpm.", "Use the image gizmo/all.")


def markdown(html: str) -> str:
    return convert_html(html.encode(), url="https://example.org/install.html").markdown


# [Tn] is a name, [Pn] the text of a panel; what stands in braces is repeated for every tab with its number for [n].
SETS = {
    "Bootstrap 5": """<ul class="nav nav-tabs" role=tablist>{<li class=nav-item role=presentation><button class=nav-link
        data-bs-toggle=tab data-bs-target="#t[n]" type=button role=tab>[Tn]</button></li>}</ul><div class=tab-content>
        {<div class="tab-pane fade" id=t[n] role=tabpanel tabindex=0>[Pn]</div>}</div>""",
    "Bootstrap 5 in nav": """<nav><div class="nav nav-tabs" id=nav-tab role=tablist>{<button class=nav-link id=n[n]-tab
        data-bs-toggle=tab data-bs-target="#n[n]" type=button role=tab aria-controls=n[n]>[Tn]</button>}</div></nav>
        <div class=tab-content>{<div class="tab-pane" id=n[n] role=tabpanel aria-labelledby=n[n]-tab><p>[Pn]</p>
        </div>}</div>""",
    "Bootstrap 3": """<ul class="nav nav-tabs">{<li><a data-toggle=tab href="#h[n]">[Tn]</a></li>}</ul><div
        class=tab-content>
        {<div id=h[n] class="tab-pane fade"><p>[Pn]</p></div>}</div>""",
    "MkDocs Material": """<div class="tabbed-set tabbed-alternate" data-tabs="1:3">{<input id=__tabbed_1_[n]
        name=__tabbed_1
        type=radio>}<div class=tabbed-labels>{<label for=__tabbed_1_[n]>[Tn]</label>}</div><div class=tabbed-content>
        {<div class=tabbed-block><p>[Pn]</p></div>}</div></div>""",
    "MkDocs Material with links": """<div class="tabbed-set">{<input id=__t[n] name=__t type=radio>}<div
        class=tabbed-labels>{<label for=__t[n]><a href="#__t[n]" tabindex=-1>[Tn]</a></label>}</div><div
        class=tabbed-content>{<div class=tabbed-block><pre><code>[Pn]</code></pre></div>}</div></div>""",
    "old MkDocs": """<div class=tabbed-set data-tabs="1:3">{<input id=o[n] name=o type=radio><label
        for=o[n]>[Tn]</label><div
        class=tabbed-content><p>[Pn]</p></div>}</div>""",
    "Sphinx tabs": """<div class="sphinx-tabs docutils container"><div aria-label="Tabbed content" class=closeable
        role=tablist>{<button aria-controls=panel-0-[n] aria-selected=false class=sphinx-tabs-tab id=tab-0-[n] name=x
        role=tab
        tabindex=-1>[Tn]</button>}</div>{<div aria-labelledby=tab-0-[n] class=sphinx-tabs-panel hidden=true
        id=panel-0-[n]
        role=tabpanel tabindex=0><p>[Pn]</p></div>}</div>""",
    "sphinx-design": """<div class="sd-tab-set docutils">{<input id=sd-tab-item-[n] name=sd-tab-set-0 type=radio><label
        class=sd-tab-label for=sd-tab-item-[n]>[Tn]</label><div class="sd-tab-content docutils"><p>[Pn]</p>
        </div>}</div>""",
    "Docusaurus": """<div class="theme-tabs-container tabs-container tabList__CuJ"><ul role=tablist
        aria-orientation=horizontal class=tabs>{<li role=tab tabindex=-1 aria-selected=false
        class="tabs__item">[Tn]</li>}
        </ul><div class=margin-top--md>{<div role=tabpanel class=tabItem_Ymn6 hidden><p>[Pn]</p></div>}</div></div>""",
    "AEM": """<div class=cmp-tabs><ol role=tablist class=cmp-tabs__tablist>{<li role=tab id=tabs-[n]-tab
        class=cmp-tabs__tab
        aria-controls=tabs-[n]-panel tabindex=-1>[Tn]</li>}</ol>{<div id=tabs-[n]-panel role=tabpanel
        aria-labelledby=tabs-[n]-tab
        class=cmp-tabs__tabpanel aria-hidden=true><div class=text><p>[Pn]</p></div></div>}</div>""",
    "Starlight": """<starlight-tabs><div class="tablist-wrapper not-content"><ul role=tablist>{<li role=presentation
        class=tab><a role=tab href="#tab-panel-[n]" id=tab-[n] aria-selected=false tabindex=-1>[Tn]</a></li>}</ul></div>
        {<div id=tab-panel-[n] aria-labelledby=tab-[n] role=tabpanel hidden><p>[Pn]</p></div>}</starlight-tabs>""",
    "VitePress": """<div class=vp-code-group><div class=tabs>{<input type=radio name=group-1 id=tab-v[n]><label
        data-title=x for=tab-v[n]>[Tn]</label>}</div><div class=blocks>{<div class="language-sh"><button
        title="Copy Code"
        class=copy></button><span class=lang>sh</span><pre class=shiki><code><span class=line>[Pn]</span></code></pre>
        </div>}</div></div>""",
    "GitBook": """<div class="rounded"><div role=tablist class=flex>{<button type=button role=tab id=tab-g[n]
        aria-controls=tabpanel-g[n] aria-selected=false><span>[Tn]</span></button>}</div>{<div role=tabpanel
        id=tabpanel-g[n]
        aria-labelledby=tab-g[n] class="hidden">[Pn]</div>}</div>""",
    "labelled alone": """<div role=tablist>{<div role=tab id=la-[n]>[Tn]</div>}</div><div>{<section role=tabpanel
        aria-labelledby=la-[n]><p>[Pn]</p></section>}</div>""",
    "order alone": """<div><div role=tablist>{<button role=tab>[Tn]</button>}</div><div><div>{<div
        role=tabpanel>[Pn]</div>}</div></div></div>""",
    "links to ids": """<ul class=tabs>{<li><a href="#j[n]">[Tn]</a></li>}</ul><div class=tab_container>{<div id=j[n]
        class=tab_content style="display:none"><p>[Pn]</p></div>}</div>""",
    "W3": """<div class=tab>{<button class=tablinks onclick="openCity(event, 'city[n]')">[Tn]</button>}</div>{<div
        id=city[n]
        class=tabcontent><p>[Pn]</p></div>}""",
    "hugo-book": """<div class=book-tabs>{<input type=radio class=toggle name=tabs-u id=tabs-u-[n]><label
        for=tabs-u-[n]>[Tn]</label><div class="book-tabs-content markdow[n]-inner"><p>[Pn]</p></div>}</div>""",
    "Hextra": """<div class="hextra-scrollbar"><div class="hx-mt-4">{<button class=hextra-tabs-toggle role=tab
        type=button
        aria-controls=tabs-panel-[n]>[Tn]</button>}</div></div><div>{<div class="hextra-tabs-panel hx-hidden"
        id=tabs-panel-[n] role=tabpanel><p>[Pn]</p></div>}</div>""",
    "Divi": """<div class="et_pb_tabs"><ul class="et_pb_tabs_controls clearfix">{<li class=et_pb_tab_[n]><a
        href="#">[Tn]</a></li>}</ul><div class=et_pb_all_tabs>{<div class="et_pb_tab clearfix"><div
        class=et_pb_tab_content>[Pn]</div></div>}</div></div>""",
    "web components": """<sl-tab-group>{<sl-tab slot=nav panel=p[n]>[Tn]</sl-tab>}{<sl-tab-panel
        name=p[n]>[Pn]</sl-tab-panel>}</sl-tab-group>""",
    "Microsoft": """<div class=tabGroup><ul role=tablist>{<li role=presentation><a href="#tabpanel_1_[n]" role=tab
        aria-controls=tabpanel_1_[n] data-tab=x>[Tn]</a></li>}</ul>{<section id=tabpanel_1_[n] role=tabpanel
        aria-hidden=true hidden><p>[Pn]</p></section>}</div>""",
    "radio buttons before all": """<div class=css-tabs>{<input type=radio name=c id=c[n]><label
        for=c[n]>[Tn]</label>}{<section
        class=panel><p>[Pn]</p></section>}</div>""",
    "WooCommerce": """<div class="woocommerce-tabs"><ul class="tabs wc-tabs" role=tablist>{<li id=tab-title-w[n]
        role=tab
        aria-controls=tab-w[n]><a href="#tab-w[n]">[Tn]</a></li>}</ul>{<div class="woocommerce-Tabs-panel panel"
        id=tab-w[n]
        role=tabpanel aria-labelledby=tab-title-w[n]><p>[Pn]</p></div>}</div>""",
    "panels as items": """<ul class=uk-tab uk-tab>{<li><a href="#">[Tn]</a></li>}</ul><ul class=uk-switcher>{<li>
        <p>[Pn]</p>
        </li>}</ul>""",
    "plain buttons": """<div x-data="tabs()"><div>{<button @click="tab = [n]">[Tn]</button>}</div>{<div x-show="tab
        === [n]"
        style="display:none">[Pn]</div>}</div>""",
    "two states": """<div><div role=group>{<button aria-pressed=false>[Tn]</button>}</div>{<div class=s[n]
        style="display:none">[Pn]</div>}</div>""",
    "code tabs": """<div class=CodeTabs><div class=CodeTabs-toolbar>{<button type=button>[Tn]</button>}</div><div
        class=CodeTabs-inner>{<pre><code>[Pn]</code></pre>}</div></div>""",
    "Asciidoctor": """<div class="openblock tabs"><div class=content><div class="ulist tablist"><ul>{<li id=i[n]
        class=tab><p>[Tn]</p></li>}</ul></div>{<div id=i[n]--panel class=tabpanel aria-labelledby=i[n]><p>[Pn]</p>
        </div>}
        </div></div>""",
    "labels in boxes": """<div class=tabs>{<div class=tab><input type=radio id=e[n] name=e><label
        for=e[n]>[Tn]</label><div
        class=content><p>[Pn]</p></div></div>}</div>""",
    "labels in the text": """{<input type=radio id=f[n] name=f><label for=f[n]>[Tn]</label>}{<div class="content c">[Pn]
        </div>}""",
    "check boxes": """{<div class=tab><input type=checkbox id=r[n]><label for=r[n]>[Tn]</label><div
        class=tab-content><p>[Pn]</p></div></div>}""",
    "select": """<select onchange="show(this.value)">{<option value=q[n]>[Tn]</option>}</select>{<div id=q[n]
        hidden>[Pn]
        </div>}""",
    "two rows": """<div class=t><div class=w role=tablist>{<div role=tab class=desktop data-tab=1
        aria-controls=y[n]>[Tn]</div>}</div><div role=tablist>{<div role=tab class=mobile data-tab=1
        aria-controls=y[n]>[Tn]</div><div id=y[n] role=tabpanel><p>[Pn]</p></div>}</div></div>""",
    "links for role": """<div class="tabber"><header><nav role=tablist>{<a role=tab href="#z[n]">[Tn]</a>}</nav>
        </header>
        <section>{<article id=z[n] role=tabpanel><p>[Pn]</p></article>}</section></div>""",
    "semantic": """<div class="ui top attached tabular menu">{<a class=item data-tab=s[n]>[Tn]</a>}</div>{<div
        class="ui bottom attached tab segment" data-tab=s[n]>[Pn]</div>}""",
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
    return part.replace("[n]", str(n)).replace("[Tn]", NAMES[n]).replace("[Pn]", PANELS[n])


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


def test_a_panel_without_headings_stands_beside_those_with_them() -> None:
    text = markdown(
        "<main><h1>Pump</h1><h2>Details</h2><div role=tablist><button role=tab aria-controls=a>Light</button><button"
        " role=tab aria-controls=b>Sizes</button></div><div id=a role=tabpanel><h3>Colour</h3><p>It is red.</p></div>"
        "<div id=b role=tabpanel hidden><p>It is wide.</p></div></main>"
    )
    paths = {text[block.start : block.end]: block.heading_path for block in parse_blocks(text)}
    assert paths["It is red."] == ("Pump", "Details", "Light", "Colour")
    assert paths["It is wide."] == ("Pump", "Details", "Sizes")


def test_tabs_in_tabs_are_named_by_both() -> None:
    rows = [filled(SETS["GitBook"].replace("g[n]", f"g{n}[n]")) for n in range(2)]
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
