"""Reduce code to plain text with its language, for fenced blocks and code spans."""

from __future__ import annotations

import re

from lxml import etree
from lxml.html import HtmlElement

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
_LINE_BLOCKS = {"div", "p", "li", "tr"}
_LINE_NUMBERS = {"linenos", "lineno", "line-numbers", "gutter", "rouge-gutter", "hljs-ln-numbers"}


def is_line_numbers(element: HtmlElement) -> bool:
    """Whether an element is a column or mark of line numbers beside code."""
    return not _LINE_NUMBERS.isdisjoint((element.get("class") or "").split())


def mark_code(main: HtmlElement) -> None:
    """Make every <pre> plain text in one <code class=language-…>, its language taken from the markup around it."""
    for pre in list(main.iter("pre")):
        if pre.getparent() is None:
            continue  # within another one
        for number in [element for element in pre.iterdescendants(etree.Element) if is_line_numbers(element)]:
            number.drop_tree()
        language = _language(pre)
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


def code_text(pre: HtmlElement) -> str:
    """Return the text of a <pre> as a browser lays it out: <br> and blocks within it begin a new line."""
    parts: list[str] = []

    def add(text: str | None) -> None:
        if text:
            parts.append(text)

    def end_line() -> None:
        if parts and not parts[-1].endswith("\n"):
            parts.append("\n")

    for event, element in etree.iterwalk(pre, events=("start", "end", "comment", "pi")):
        if event == "start":
            if element.tag == "br":
                parts.append("\n")
            elif element.tag in _LINE_BLOCKS:
                end_line()
            add(element.text)
            continue
        if event == "end" and element.tag in _LINE_BLOCKS:
            end_line()
        if element is not pre:
            add(element.tail)
    return "".join(parts)


def _language(pre: HtmlElement) -> str | None:
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
