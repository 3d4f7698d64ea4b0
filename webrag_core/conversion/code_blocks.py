"""Reduce code to plain text with its language, for fenced blocks and code spans."""

from __future__ import annotations

import re

from lxml import etree
from lxml.html import HtmlElement

from webrag_core.conversion.code_boxes import make_code_boxes
from webrag_core.conversion.code_controls import drop_code_controls
from webrag_core.conversion.code_text import code_text
from webrag_core.conversion.line_numbers import drop_line_numbers

_SPACE = re.compile(r"\s+")
# GitHub writes highlight-source-shell and highlight-text-html-basic
_PREFIXED = re.compile(r"(?:^|\s)(?:highlight-(?:source|text)|highlight|language|lang|sourceCode)-([\w+#.]+)")
_BRUSH = re.compile(r"(?:^|\s)brush:\s*([\w+#.]+)")
_HIGHLIGHTERS = {"sourceCode", "hljs", "prism", "prettyprint", "rust-example-rendered"}
_LANGUAGE = re.compile(r"[a-z][\w+#.]*")
_NO_NAMES = {
    "compile_fail",
    "should_panic",
    "ignore",
    "copyable",
    "collapsed",
    "editable",
    "numberLines",
    "numberSource",
    "wrap",
    "linenums",
    "undefined",
}
_LANGUAGES = {
    "python3": "python",
    "py3": "python",
    "pycon": "python",
    "ipython3": "python",
    "default": "python",
}
_NO_LANGUAGE = {"none", "text", "notranslate", "plaintext", "undefined", "nohighlight"}


def shape_code(root: HtmlElement, html: str) -> None:
    """Make a `<pre>` of every box of code, and leave nothing but code in it. `html` is the text of the page."""
    make_code_boxes(root, html)
    for pre in list(root.iter("pre")):
        drop_code_controls(pre)
        for code in (pre, *pre.iterchildren("code")):
            drop_line_numbers(code)


def mark_code(main: HtmlElement) -> None:
    """Make every <pre> plain text in one <code class=language-…>, its language taken from the markup around it."""
    for pre in list(main.iter("pre")):
        if pre.getparent() is None:
            continue  # within another one
        language = declared_language(pre)
        text = code_text(pre).replace("\xa0", " ")  # it indents; code copied with it does not run
        del pre[:]
        pre.text = None
        code = etree.SubElement(pre, "code")
        code.text = text.lstrip("\n")
        if language:
            code.set("class", f"language-{language}")


def flatten_inline_code(main: HtmlElement) -> None:
    """Put inline code on one line: a line end inside it would end it in Markdown."""
    for code in list(main.iter("code", "tt", "kbd", "samp")):
        if (
            all(inner.tag == "span" for inner in code.iterdescendants())
            and next(code.iterancestors("pre"), None) is None
        ):
            text = _SPACE.sub(" ", code.text_content())
            del code[:]
            code.text = text


def declared_language(pre: HtmlElement) -> str | None:
    """Return the language of code that its mark-up names, in lower case; None for plain text or no name."""
    places: list[HtmlElement] = [*pre.iter("code"), pre]
    for ancestor in pre.iterancestors():
        places.append(ancestor)
        if len(places) > 5:
            break
    for place in places:
        name = _named(place)
        if name:
            return None if name in _NO_LANGUAGE else _LANGUAGES.get(name, name)
    return None


def _named(place: HtmlElement) -> str:
    """Return the language in an element's class names or data attributes, in lower case, or ""."""
    names = place.get("class") or ""
    match = _PREFIXED.search(names) or _BRUSH.search(names)
    if match:
        return match.group(1).lower()
    tokens = names.split()
    if not _HIGHLIGHTERS.isdisjoint(tokens):
        others = [name for name in tokens if name not in _HIGHLIGHTERS and name not in _NO_NAMES]
        bare = [name.lower() for name in others if _LANGUAGE.fullmatch(name)]
        if len(bare) == 1:
            return bare[0]
    declared = (place.get("data-lang") or place.get("data-language") or "").strip().lower()
    return declared if _LANGUAGE.fullmatch(declared) else ""
