"""The truth about structure comes from the HTML alone."""

from __future__ import annotations

from evals.graph.html_truth import read_truth

URL = "https://docs.example/a.html"
PAGE = """<html><body><div role="main">
<section id="top"><h1>Top<a class="headerlink" href="#top">¶</a></h1>
<section id="one"><h2>One</h2>
<dl class="py class"><dt class="sig" id="mod.C">class mod.C</dt><dd>
 <dl class="py method"><dt class="sig" id="mod.C.go">go()</dt><dd>Goes.</dd></dl></dd></dl>
<p><a href="b.html#mod.D"><code>D</code></a> and <a href="c.html">words</a></p>
<div class="admonition seealso"><p><a href="d.html">More</a></p></div>
</section><section id="two"><h2>Two</h2></section></section>
</div><div class="sidebar"><a href="e.html">elsewhere</a></div></body></html>"""


def test_sections_members_links_and_recommendations() -> None:
    truth = read_truth(URL, PAGE.encode())
    assert truth.sections == [("Top", ["One", "Two"]), ("One", []), ("Two", [])]
    assert truth.members == {"mod.C": ["mod.C.go"], "mod.C.go": []}
    base = "https://docs.example/"
    assert truth.links == {f"{base}b.html", f"{base}c.html", f"{base}d.html"}
    assert truth.code_links == {(f"{base}b.html", "mod.D")}
    assert truth.see_also == {f"{base}d.html"}
