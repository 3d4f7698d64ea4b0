"""Definition lists as Markdown (`term` / `:   definition`), which the converter library drops.

Each `<dl>` is converted from the inside out and stands in the tree as a placeholder paragraph; its Markdown takes
the placeholder's place, with the placeholder's own indentation, once the surrounding HTML is converted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from webrag_core.conversion.anchors import AnchorMarks

_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK = re.compile(f"[{_OPEN}{_CLOSE}]")
_NUMBERED_MARK = re.compile("&#(?:0*5734[45]|[xX]0*[eE]00[01])")  # 0xe000 is 57344
_TOKEN = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_BLOCK_LINE = re.compile(f"^(?P<prefix>[^\\n{_OPEN}]*){_OPEN}(?P<key>\\d+){_CLOSE}[ \\t]*$", re.MULTILINE)
_SPACE = re.compile(r"\s+")
_INDENT = "    "
_ENTRIES = {"dt", "dd"}
# text that the converter gives back as it is; starting it for each of many thousand terms takes a minute
_PLAIN = re.compile(r"[^\W\d_][^\W_]*(?:[,;:.]? [^\W_]+)*[.;:]?")


class Placeholders:
    """Pieces of finished Markdown, to be filled into the converted text."""

    def __init__(self, convert: Callable[[str], str]) -> None:
        self._convert = convert
        self._pieces: list[str] = []

    def convert(self, element: HtmlElement) -> str:
        """Convert `element` and fill every placeholder in it."""
        if len(element) == 0 and element.tag in _ENTRIES and _PLAIN.fullmatch(text := (element.text or "").strip()):
            return text
        return self.convert_html(self.html(element))

    def html(self, element: HtmlElement) -> str:
        """Return `element` as HTML, for `convert_html`."""
        return str(lxml.html.tostring(element, encoding="unicode", with_tail=False))

    def convert_html(self, html: str) -> str:
        """Convert `html` and fill every placeholder in it."""
        return self._fill(self._convert(html))

    def replace_inline(self, element: HtmlElement, markdown: str) -> None:
        """Replace `element` in running text by `markdown`, verbatim."""
        span = etree.Element("span")
        span.text = self._token(markdown)
        span.tail = element.tail
        parent = element.getparent()
        if parent is not None:
            parent.replace(element, span)

    def replace_block(self, element: HtmlElement, markdown: str) -> None:
        """Replace `element` by `markdown` as a block."""
        element.clear(keep_tail=True)
        element.tag = "p"
        element.text = self._token(markdown)

    def _token(self, markdown: str) -> str:
        self._pieces.append(markdown)
        return f"{_OPEN}{len(self._pieces) - 1}{_CLOSE}"

    def _fill(self, text: str) -> str:
        def block(match: re.Match[str]) -> str:
            prefix = match.group("prefix")
            # the first line keeps a list marker, the following ones only its width; quote marks repeat
            follow = "".join(c if c in "> " else " " for c in prefix)
            lines = self._pieces[int(match.group("key"))].split("\n")
            return "\n".join([prefix + lines[0], *(follow + line if line else follow.rstrip() for line in lines[1:])])

        text = _BLOCK_LINE.sub(block, text)
        return _TOKEN.sub(lambda match: self._pieces[int(match.group(1))], text)


def may_hold_marks(html: str) -> bool:
    """Whether the source of a page has our marks, as characters or by number. Most have none, and are not walked."""
    return _OPEN in html or _CLOSE in html or ("&#" in html and _NUMBERED_MARK.search(html) is not None)


def strip_placeholder_marks(main: HtmlElement) -> None:
    """Remove our marks from the page's own text, so that no page can forge a placeholder."""
    for element in main.iter():
        for place in ("text", "tail"):
            text = getattr(element, place)
            if text and _MARK.search(text):
                setattr(element, place, _MARK.sub("", text))
        if isinstance(element.tag, str):
            for name, value in element.items():
                if _MARK.search(value):
                    element.set(name, _MARK.sub("", value))


def replace_definition_lists(main: HtmlElement, placeholders: Placeholders, marks: AnchorMarks) -> None:
    """Replace every `<dl>` outside tables by its Markdown, innermost first. Terms with an id are marked."""
    for definition_list in reversed(list(main.iter("dl"))):
        if any(ancestor.tag in ("td", "th") for ancestor in definition_list.iterancestors()):
            continue
        entries = [_entry(terms, bodies, placeholders, marks) for terms, bodies in _entries(definition_list)]
        markdown = "\n\n".join(entry for entry in entries if entry)
        if markdown:
            placeholders.replace_block(definition_list, markdown)


def _entries(definition_list: HtmlElement) -> Iterator[tuple[list[HtmlElement], list[HtmlElement]]]:
    """Yield (terms, definitions) groups, also from within `<div>` wrappers."""
    terms: list[HtmlElement] = []
    bodies: list[HtmlElement] = []
    for child in _children(definition_list):
        if child.tag == "dt":
            if bodies:
                yield terms, bodies
                terms, bodies = [], []
            terms.append(child)
        else:
            bodies.append(child)
    if terms or bodies:
        yield terms, bodies


def _children(definition_list: HtmlElement) -> Iterator[HtmlElement]:
    """Yield terms and definitions; loose text between them counts as a definition."""
    if (definition_list.text or "").strip():
        yield _loose(definition_list.text or "")
    for child in definition_list:
        if child.tag == "div":
            yield from _children(child)
        elif isinstance(child.tag, str):
            yield child
        if (child.tail or "").strip():
            yield _loose(child.tail or "")


def _loose(text: str) -> HtmlElement:
    element = lxml.html.HtmlElement()
    element.tag = "dd"
    element.text = text
    return element


def _entry(terms: list[HtmlElement], bodies: list[HtmlElement], placeholders: Placeholders, marks: AnchorMarks) -> str:
    names = [name + marks.of(term) for term in terms if (name := _term(term, placeholders))]
    definitions = [text for text in (placeholders.convert(body).strip("\n") for body in bodies) if text.strip()]
    head = ", ".join(names)
    if not definitions:
        return head
    if not head:
        return "\n\n".join(definitions)
    return "\n".join([head, *(_definition(text) for text in definitions)])


def _term(term: HtmlElement, placeholders: Placeholders) -> str:
    if "sig" in (term.get("class") or "").split():  # an API signature: its mark-up is colour, not emphasis
        signature = _SPACE.sub(" ", term.text_content()).replace("¶", "").strip()
        return _code_span(signature) if signature else ""
    return _SPACE.sub(" ", placeholders.convert(term)).strip()


def _code_span(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks, pad = "`" * (longest + 1), " " if longest else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _definition(text: str) -> str:
    lines = text.split("\n")
    return "\n".join([f":   {lines[0]}", *(_INDENT + line if line else "" for line in lines[1:])])
