"""Main content: the text of a page is kept whole, what stands around it is not."""

from __future__ import annotations

import lxml.html
import pytest

from webrag_core.conversion.content.declared import is_declared_article
from webrag_core.conversion.content.units import text_units
from webrag_core.conversion.html import convert_html

PROSE = "Every paragraph of the text says something, with commas, in sentences that are long enough to be read."
TEXT = "".join(f"<p>KEEP{number} {PROSE}</p>" for number in range(4))
CODE = "<pre>KEEP-code = 1</pre>"
LINKS = "".join(f'<li><a href="/other/{number}.html">DROP page {number}</a></li>' for number in range(5))
WITHIN = "".join(f'<li><a href="#part{number}">DROP part {number}</a></li>' for number in range(4))
ARTICLE = '<head><meta property="og:type" content="article"></head>'


def markdown(html: str) -> str:
    return convert_html(html.encode(), url="https://example.org/docs/page.html").markdown


# Containers and navigation as the generators write them; KEEP stands for content, DROP for the rest.
GENERATORS = {
    "mdbook": f"""<nav id="sidebar" class="sidebar"><ol class="chapter">{LINKS}</ol></nav><div class="page">
        <div id="menu-bar" class="menu-bar">DROP<h1 class="menu-title">DROP book</h1></div>
        <div id="content" class="content"><main><h1 id="a"><a class="header" href="#a">KEEP title</a></h1>{TEXT}{CODE}
        </main><nav class="nav-wrapper"><a href="next.html">DROP next</a></nav></div></div>""",
    "rustdoc": f"""<nav class="sidebar"><h2>DROP crate</h2><ul>{LINKS}</ul></nav><main><div class="width-limiter">
        <section id="main-content" class="content"><div class="main-heading"><div class="rustdoc-breadcrumbs">
        <a href="../index.html">DROP</a></div><h1>Struct <span class="struct">KEEP</span></h1></div>
        <pre class="rust item-decl"><code>pub struct KEEP;</code></pre><details class="toggle top-doc" open>
        <summary>Expand</summary><div class="docblock"><p>KEEP {PROSE}</p></div></details>
        <section id="method.new" class="method"><a class="src" href="../src/x.html">Source</a>
        <h4 class="code-header">pub fn KEEP_new()</h4></section></section></div></main>""",
    "javadoc": f"""<div class="flex-box"><header class="flex-header"><nav><ul class="nav-list">{LINKS}</ul></nav>
        </header>
        <div class="flex-content"><main role="main"><div class="header"><h1 class="title">KEEP class</h1></div>
        <section class="class-description"><div class="block">KEEP {PROSE}</div><dl class="notes"><dt>KEEP Since:</dt>
        <dd>KEEP 9</dd></dl></section><section class="summary"><div class="caption"><span>KEEP methods</span></div>
        <div class="summary-table"><div><a href="#run()"><code>KEEP-run()</code></a></div></div></section></main>
        <footer role="contentinfo">DROP copyright</footer></div></div>""",
    "javadoc before 9": f"""<div class="topNav"><a name="navbar.top"></a><ul class="navList">{LINKS}</ul></div>
        <div class="subNav"><ul class="navList">{LINKS}</ul></div><div class="header">
        <h2 class="title">KEEP class</h2></div>
        <div class="contentContainer"><div class="description">KEEP {PROSE}</div>{TEXT}</div>
        <div class="bottomNav"><ul class="navList">{LINKS}</ul></div>""",
    "antora": f"""<header class="header"><nav class="navbar">DROP</nav></header><div class="body">
        <div class="nav-container">
        <aside class="nav"><ul>{LINKS}</ul></aside></div><main class="article"><div class="toolbar" role="navigation">
        <nav class="breadcrumbs">DROP</nav><div class="edit-this-page"><a href="/e">edit</a></div></div>
        <div class="content"><article class="doc"><h1 class="page">KEEP title</h1>{TEXT}<div class="sect1">
        <h2 id="_comments">KEEP Comments</h2><div class="sectionbody"><p>KEEP</p></div>
        </div>{CODE}<nav class="pagination">
        DROP</nav></article></div></main></div><footer class="footer">DROP</footer>""",
    "docusaurus": f"""<nav class="navbar navbar--fixed-top">DROP</nav><aside class="theme-doc-sidebar-container">
        <nav>DROP
        </nav></aside><main class="docMainContainer"><div class="row"><div class="col docItemCol"><article>
        <nav class="theme-doc-breadcrumbs">DROP</nav><div class="theme-doc-markdown markdown"><header>
        <h1>KEEP title</h1>
        </header>{TEXT}{CODE}<div class="theme-admonition alert alert--info">KEEP note</div></div></article>
        <nav class="pagination-nav">DROP</nav></div><div class="col col--3">
        <div class="tableOfContents_x thin-scrollbar">
        <ul class="table-of-contents">{WITHIN}</ul></div></div></div></main><footer class="footer">DROP</footer>""",
    "mkdocs material": f"""<header class="md-header"><nav>DROP</nav></header><div class="md-container">
        <main class="md-main"><div class="md-sidebar md-sidebar--primary"><nav class="md-nav">DROP</nav></div>
        <div class="md-content"><article class="md-content__inner md-typeset"><h1>KEEP title</h1><div class="toc"><ul>
        {WITHIN}</ul></div>{TEXT}<div class="highlight">{CODE}</div><table class="tags"><tr><td>KEEP cell</td></tr>
        </table>
        </article></div></main><footer class="md-footer">DROP</footer></div>""",
    "sphinx furo": f"""<aside class="sidebar-drawer"><ul>{LINKS}</ul></aside><div class="main"><div class="content">
        <div class="article-container"><a href="#" class="back-to-top muted-link">DROP</a><article role="main">
        <section id="related"><h1>KEEP Related</h1>{TEXT}<aside class="sidebar">KEEP aside</aside></section>
        </article></div>
        <footer>DROP</footer></div><aside class="toc-drawer"><ul>{WITHIN}</ul></aside></div>""",
    "sphinx rtd": f"""<nav class="wy-nav-side">DROP</nav><section class="wy-nav-content-wrap"><div class="rst-content">
        <div role="navigation" aria-label="Page navigation"><ul class="wy-breadcrumbs">{LINKS}</ul></div>
        <div role="main" class="document" itemscope itemtype="http://schema.org/Article"><div itemprop="articleBody">
        <section id="comments"><h1>KEEP Comments</h1>{TEXT}<div class="toctree-wrapper compound"><ul>
        <li><a href="/a.html">KEEP a</a></li><li><a href="/b.html">KEEP b</a></li></ul></div></section></div></div>
        <footer>DROP</footer></div></section>""",
    "sphinx alabaster": f"""<div class="document"><div class="documentwrapper"><div class="bodywrapper">
        <div class="body"
        role="main"><section id="share"><h1><a class="toc-backref" href="#id1">KEEP Share</a>
        </h1>{TEXT}{CODE}<div class="admonition seealso"><p>KEEP
        <a href="/x.html">KEEP other</a></p></div></section></div></div></div><div class="sphinxsidebar"
        role="navigation"><ul>{LINKS}</ul></div></div><div class="footer">DROP</div>""",
    "doxygen": f"""<div id="top"><div id="main-nav"></div><div id="nav-path" class="navpath"><ul>{LINKS}</ul></div>
        </div>
        <div id="side-nav"><div id="nav-tree"><ul>{LINKS}</ul></div></div><div class="header"><div class="headertitle">
        <div class="title">KEEP class</div></div></div><div class="contents"><div class="toc"><h3>Table of Contents</h3>
        <ul>{WITHIN}</ul></div><div class="textblock">KEEP {PROSE}</div><table class="memberdecls"><tr><td>
        <a href="#m">KEEP-m()</a></td></tr></table><div class="memitem"><div class="memdoc"><dl class="params"><dt>KEEP
        </dt></dl></div></div></div>""",
    "asciidoc": f"""<body class="manpage"><div id="header"><h1>KEEP tool(1)</h1><div class="sectionbody">
        <p>KEEP name</p>
        </div></div><div id="toc" class="toc"><div id="toctitle">Contents</div><ul>{WITHIN}</ul></div><div id="content">
        <div class="sect1"><h2 id="_menu">KEEP Menu</h2>{TEXT}<div class="listingblock">{CODE}</div><div class="dlist">
        <dl><dt>KEEP -v</dt><dd>KEEP</dd></dl></div></div></div><div id="footer">
        <div id="footer-text">DROP updated</div>
        </div></body>""",
    "ex_doc": f"""<div class="body-wrapper"><nav id="sidebar" class="sidebar"><ul>{LINKS}</ul></nav>
        <main class="content">
        <div id="content" class="content-inner"><h1><span>KEEP module</span></h1>
        <section id="moduledoc">{TEXT}</section>
        <section id="summary" class="details-list"><div class="summary-row"><a href="#f/1">KEEP f(x)</a></div></section>
        <div class="detail" id="f/1"><pre>KEEP spec</pre></div></div><footer class="footer">KEEP source</footer></main>
        </div>""",
    "docbook": f"""<div class="navheader"><table><tr><td><a href="a.html">DROP prev</a></td></tr></table></div>
        <div class="chapter"><h2 class="title">KEEP chapter</h2><div class="toc"><dl class="toc"><dt>
        <a href="s1.html">KEEP section</a></dt></dl></div>{TEXT}</div><div class="navfooter"><table><tr><td>DROP</td>
        </tr>
        </table></div>""",
    "docbook on one page": f"""<div class="book"><div class="toc"><p><b>DROP contents</b></p><dl class="toc"><dt>
        <span class="chapter">1. <a href="book.html#i1">DROP The first of all chapters</a></span></dt><dd><dl><dt>
        <span class="section">1.1. <a href="book.html#i2">DROP A section within the chapter</a></span></dt>
        </dl></dd></dl></div>
        <div class="chapter"><h2 class="title"><a id="i1"></a>KEEP chapter</h2>{TEXT}<h3><a id="i2"></a>KEEP part</h3>
        <div class="variablelist"><dl><dt>KEEP term</dt><dd>KEEP what is said of it</dd></dl></div></div></div>""",
}


@pytest.mark.parametrize("name", GENERATORS)
def test_documentation_keeps_its_content_and_no_navigation(name: str) -> None:
    text = markdown(GENERATORS[name])
    assert "DROP" not in text
    assert text.count("KEEP") == GENERATORS[name].count("KEEP")


@pytest.mark.parametrize("name", [name for name, html in GENERATORS.items() if "<pre" in html])
def test_reference_with_code_is_no_article_whatever_its_metadata_say(name: str) -> None:
    assert markdown(ARTICLE + GENERATORS[name]) == markdown(GENERATORS[name])


SAYS_ARTICLE = [ARTICLE, '<head><script type="application/ld+json">{"@type": "NewsArticle"}</script></head>', ""]
STORY = "".join(
    f"<p>KEEP{number} The council met on the {number}th to talk about the bridge, and its members heard from the people"
    " who cross it every day. Nobody could say what the repairs would cost, but all agreed that they cannot wait.</p>"
    for number in range(8)
)
TEASERS = "".join(
    f'<div class="teaser"><a href="/t{number}"><img src="t.jpg" alt=""><h3>DROP Storm over the coast {number}</h3></a>'
    '<p>DROP It rained for days.</p><a href="/t">Read more</a></div>'
    for number in range(4)
)
COMMENTS = "".join(
    f'<li class="comment"><div class="comment-author">DROP anna{number}</div><div class="comment-body"><p>DROP I cross'
    ' it too, and I am tired of waiting!</p></div><a class="comment-reply-link" href="#r">DROP Reply</a></li>'
    for number in range(4)
)
PAGE = f"""<header class="site-header"><div class="logo"><a href="/">DROP The Herald</a></div>
    <ul class="menu">{LINKS}</ul></header><div class="page has-sidebar"><div class="content-area"><article class="post">
    <h1 class="entry-title">The bridge will be repaired</h1><div class="byline">DROP By Jane Doe</div>
    <div class="entry-content">{STORY}<ul><li>KEEP-a The bridge was built in 1931, by hand.</li>
    <li>KEEP-b It carries nine thousand cars a day, and few trains.</li></ul>
    <p>KEEP-c More will be said in May.</p></div>
    <div class="share-buttons"><a href="/f">DROP Share on Facebook</a><a href="/x">DROP Tweet</a></div>
    </article><div class="related-posts"><h2>DROP Related posts</h2>{TEASERS}</div>
    <div id="comments" class="comments-area">
    <h2>DROP 4 Comments</h2><ol class="comment-list">{COMMENTS}</ol>
    <form class="comment-form"><p>DROP Leave a reply, your email address will not be published.</p></form></div></div>
    <div class="sidebar widget-area"><div class="widget">
    <h3>DROP Newsletter</h3><p>DROP Subscribe to our newsletter, and never miss a story.</p></div></div></div>
    <footer class="site-footer"><p>DROP © 2024 The Herald. All rights reserved.</p></footer>"""


@pytest.mark.parametrize("head", SAYS_ARTICLE)
def test_an_article_is_its_text(head: str) -> None:
    text = markdown(f"{head}<body>{PAGE}</body>")
    assert text.count("KEEP") == 11
    assert text.count("DROP") <= (1 if head else 2)  # a line of it may stay


def test_a_text_that_the_page_states_as_its_article_is_not_lost() -> None:
    bio = "Jane Doe writes about towns and their rivers for The Herald. Follow her on Twitter, or read her letter."
    page = PAGE.replace("</article>", f'<div class="author-box"><p>{bio}</p></div></article>')
    data = f'{{"@type": "NewsArticle", "articleBody": "{bio}"}}'
    stated = f'<head><script type="application/ld+json">{data}</script></head>'
    assert bio not in markdown(f"{ARTICLE}<body>{page}</body>")
    assert bio in markdown(f"{stated}<body>{page}</body>")


@pytest.mark.parametrize("head", ["", ARTICLE])
@pytest.mark.parametrize("around", ["{}", "<main>{}</main>", "<div class='body' role='main'>{}</div>"])
def test_index_pages_keep_their_links(head: str, around: str) -> None:
    links = LINKS.replace("DROP", "KEEP")
    html = f"<h1>Index</h1><p>A B C</p><ul>{links}</ul><h2>More</h2><div class='toctree-wrapper'><ul>{links}</ul></div>"
    assert markdown(f"{head}<body>{around.format(html)}</body>").count("](https://example.org/other/") == 10


def test_a_page_of_which_nothing_reads_like_content_keeps_everything_but_navigation() -> None:
    html = f"{ARTICLE}<body><nav>DROP</nav><div>KEEP one</div><div class='caption'>KEEP two</div></body>"
    assert markdown(html) == "KEEP one\n\nKEEP two\n"


def test_the_section_an_article_consists_of_mostly_does_not_stand_for_all_of_it() -> None:
    html = f"{ARTICLE}<main><h1>T</h1><p>KEEP {PROSE}</p><section><h2>Part</h2>{TEXT * 3}</section></main>"
    assert markdown(html).count("KEEP") == 13


def test_a_list_that_stays_has_no_holes() -> None:
    items = f"<li><a href='/a'>KEEP a long title that is a link for itself</a> who</li><li>KEEP {PROSE} {PROSE}</li>"
    assert markdown(f"{ARTICLE}<main>{TEXT}<ol>{items}</ol></main>").count("KEEP") == 6


DATED = [
    f"<div><div itemprop='articleBody'>{TEXT}</div></div><meta itemprop='datePublished' content='2020'>",
    f"<div class='entry-content'>{TEXT}</div><time class='entry-date published'>2020</time>",
]


@pytest.mark.parametrize("html", DATED)
def test_a_body_with_a_date_is_an_article(html: str) -> None:
    undated = html.replace("datePublished", "name").replace("entry-date published", "x").replace("articleBody", "text")
    assert is_declared_article(lxml.html.document_fromstring(html))
    assert not is_declared_article(lxml.html.document_fromstring(undated))


def test_published_time_makes_an_article() -> None:
    head = '<head><meta property="article:published_time" content="2020-01-01"></head>'
    assert is_declared_article(lxml.html.document_fromstring(head + PAGE))


def test_units_are_all_text_of_a_page_once() -> None:
    root = lxml.html.document_fromstring(
        "<body>a1 <b>b2</b><div>c3<p>d4<br>e5</p>f6 <i>g7</i></div>h8<ul><li>i9</ul></body>"
    )
    assert [unit.text for unit in text_units(root)] == ["a1 b2", "c3", "d4 e5", "f6 g7", "h8", "i9"]
    for unit in text_units(root):
        unit.remove()
    assert not root.text_content().strip()


HIDDEN = ["hidden", "aria-hidden='true'", "style='color: red; display: none'"]


@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_a_click_shows_is_content_and_what_is_hidden_is_not(hidden: str) -> None:
    panels = f"<div role='tabpanel'>KEEP one</div><div role='tabpanel' {hidden}>KEEP two</div>"
    section = f"<h2><button>KEEP question</button></h2><div role='region' {hidden}><p>KEEP answer</p></div>"
    found = f"<p hidden='until-found'>KEEP found</p><p {hidden}>DROP</p><span class='sr-only'>DROP</span>"
    text = markdown(f"<main><p>a b c d e</p>{panels}{section}{found}<button>DROP</button></main>")
    assert text.count("KEEP") == 5
    assert "## KEEP question" in text
    assert "DROP" not in text


def test_formulas_stay_where_a_picture_or_a_script_shows_them() -> None:
    formula = "<math><semantics><mi>E</mi><annotation encoding='application/x-tex'>E=1</annotation></semantics></math>"
    html = f"<p>a <span style='display: none'>{formula}</span><img aria-hidden='true' alt='E' src='e.svg'> b c d e</p>"
    assert (
        markdown(f"<main>{html}<p>f <script type='math/tex'>x_1</script> g</p></main>")
        == "a $E=1$ b c d e\n\nf $x_1$ g\n"
    )


def test_ticks_of_a_task_list_stay() -> None:
    item = "<li><input type='checkbox' disabled{}> KEEP</li>"
    html = f"<main><p>a b c d e</p><ul>{item.format(' checked')}{item.format('')}</ul><input type='checkbox'></main>"
    assert markdown(html).endswith("- [x] KEEP\n- [ ] KEEP\n")


def test_copy_buttons_and_what_stands_in_for_a_video_go() -> None:
    html = (
        f"<a class='copybtn'>DROP</a><div class='btn-copy'>DROP</div>{CODE}<video src='v.mp4'>DROP<p>DROP</p></video>"
    )
    assert "DROP" not in markdown(f"<main><p>a b c d e</p>{html}</main>")
