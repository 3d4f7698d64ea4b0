"""Code that stands in no `<pre>`: tables of lines, boxes of lines, and boxes that are laid out as code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile

import lxml.html
from lxml.html import HtmlElement

from webrag_core.conversion.code_controls import is_tooltip
from webrag_core.conversion.code_text import LINE_BLOCKS, code_text
from webrag_core.conversion.line_numbers import has_at_most, is_all_text_of, line_number, names_line

# one of them is in the source of every page whose lines or styles are looked at
_SIGNS = (
    '-line"', "-line ", "-line'", "-line>", "odeLine", "odeline", "ode_line", "ourceLine", "ourceline", "ace_line",
    '"line"', '"line ', ' line"', "=line", "'line", "monospace", "ourier", "onsolas", "enlo", "white-space",
)  # fmt: skip
_WITH_SIGNS = "descendant::*[@style or contains(@class, 'ine') or contains(@class, 'ode')]"
_BROKEN_CODE = (
    "descendant::code[contains(., '\n') or descendant::br or descendant::div or descendant::p or descendant::li"
    " or descendant::tr]"
)
# names of a line of code in any framework; a line of a poem is a `line` too, and asks for more
_LINE_OF_CODE = re.compile(
    r"(?:^|[\s_])(?:[\w-]{0,40}-)?(?:code|cm|codemirror|token|view|crayon|ace|source|src|hljs|shiki)[-_]?line(?:$|[\s_])",
    re.IGNORECASE,
)
_LINE = re.compile(r"(?:^|[\s_])line(?:$|[\s_])", re.IGNORECASE)
_LINE_BOX = re.compile(r"(?:^|[\s_-])line(?:$|[\s])", re.IGNORECASE)
_CODE = re.compile(
    r"(?:^|[\s_-])(?:fragment|code|codes|codehilite|codeblock|sourcecode|source|src|highlight|chroma|hljs|prism|shiki"
    r"|listing|syntax\w*|crayon|lxr|filecontents|blob|program)(?:$|[\s_-])|lines?[-_]?code|linecontents",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(r"(?:^|\s)(?:lang(?:uage)?-|hljs\b|prism\b|brush:|sourceCode\b)")
_MONOSPACED = re.compile(r"\bmonospace|courier|consolas|menlo|\bmonaco\b|\bmono\b", re.IGNORECASE)
_KEEPS_SPACE = re.compile(r"white-space\s*:\s*(?:pre(?:-wrap)?|break-spaces)\s*(?:;|!|$)", re.IGNORECASE)
_CODE_LIKE = re.compile(r"^\s{2,}\S|[{}();=<>$|\\#@]|\w\.\w+\(|^\s*(?:-|//|/\*|\w+:)\s*\S")
_LEADING_BREAK = re.compile(r"\A[ \t]*\n[ \t\n]*")
_STYLED = frozenset(("div", "p", "code", "section", "figure", "blockquote", "samp", "tt"))
_INLINE = frozenset(("code", "samp", "tt"))
_AROUND = frozenset(("p", "span", "b", "strong", "a", "font"))  # no block may stand in them
_NO_CODE = ("pre", "table", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "img", "article", "section", "form")
_SECTIONS = ("thead", "tbody", "tfoot")
_MAX_UP = 3  # elements around a box whose names say that it holds code
_MAX_BOXES = 500  # whose text is looked at
_MAX_CHARS = 200_000  # of such a box
_MAX_LINE = 400  # characters: longer lines without a sign of code are prose in an element that was never closed


def make_code_boxes(root: HtmlElement, html: str) -> None:
    """Make a `<pre>` of every box that shows code without being one. `html` is the text of the page."""
    for table in list(root.iter("table")):
        lines = _lines_of(table)
        if lines:
            _replace_table(table, lines)
    boxes = root.xpath(_WITH_SIGNS) if any(sign in html for sign in _SIGNS) else []
    _join_lines(boxes)
    for pre in root.iter("pre"):
        _end_lines(pre)
    styled = [box for box in boxes if box.tag in _STYLED and _has_style_of_code(box)]
    for box in (*styled[:_MAX_BOXES], *root.xpath(_BROKEN_CODE)[:_MAX_BOXES]):
        if next(box.iterancestors("pre"), None) is None and _is_laid_out(box):
            _make_pre(box)


def _lines_of(table: HtmlElement) -> list[HtmlElement]:
    """The cells with code of a table whose rows are numbered lines of code; [] for other tables."""
    lines: list[HtmlElement] = []
    last = -1
    for row in (row for part in (table, *table.iterchildren(*_SECTIONS)) for row in part.iterchildren("tr")):
        cells = list(row.iterchildren("td", "th"))
        if not lines and row.getparent().tag == "thead":
            continue
        number = _number(cells[0]) if len(cells) in (2, 3) and names_line(cells[0]) else None
        if number is None or (lines and number != last + 1):
            return []
        last = number
        lines.append(cells[-1])
    if not lines or next(table.iterancestors("pre"), None) is not None:
        return []
    shows_code = next(lines[0].iter("code", "pre"), None) is not None or _names_code(lines[0], 2 + _MAX_UP)
    return lines if shows_code else []


def _number(cell: HtmlElement) -> int | None:
    """The number of a line in its cell; a browser may write it there by a rule of the style."""
    number = line_number(cell)
    if number is None and not cell.text_content().strip():
        numbers = cell.xpath("descendant-or-self::*/@data-line-number")
        number = int(numbers[0]) if numbers and numbers[0].isdecimal() and len(numbers[0]) < 8 else None
    return number


def _names_code(box: HtmlElement, levels: int) -> bool:
    around: HtmlElement | None = box
    for _ in range(levels):
        if around is None or around.tag == "body":
            return False
        if around.tag == "code" or _CODE.search(around.get("class") or "") is not None:
            return True
        if _MONOSPACED.search(around.get("style") or "") is not None:
            return True
        around = around.getparent()
    return False


def _join_lines(boxes: Iterable[HtmlElement]) -> None:
    """Put boxes that are one line of code each, and follow each other, into one `<pre>`."""
    rows: dict[HtmlElement, list[tuple[HtmlElement, HtmlElement]]] = {}  # container -> (its child, line in it)
    for box in boxes:
        names = box.get("class") or ""
        is_named = _LINE_OF_CODE.search(names) is not None
        parent = box.getparent()
        if parent is None or not (is_named or (_LINE.search(names) and _names_code(parent, _MAX_UP))):
            continue
        if box.tag not in ("div", "p", "span", "li", "pre", "code") or parent.tag == "code":
            continue
        row = box
        while parent is not None and has_at_most(parent, 3) and _is_line_alone(row, parent):
            row, parent = parent, parent.getparent()
        if parent is not None:
            rows.setdefault(parent, []).append((row, box))
    for container, result in rows.items():
        if next(container.iterancestors("pre"), None) is not None or container.tag in ("pre", "code"):
            continue
        if any(next(line.iterdescendants(*_NO_CODE), None) is not None for _, line in result):
            continue
        _replace_rows(container, result)


def _is_line_alone(row: HtmlElement, parent: HtmlElement) -> bool:
    """Whether a box holds one line with its number, and stands among others like it."""
    if parent.getnext() is None and parent.getprevious() is None:
        return False
    others = [child for child in parent.iterchildren("*") if child is not row]
    return bool(others) and all(line_number(other) is not None for other in others)


def _replace_rows(container: HtmlElement, results: list[tuple[HtmlElement, HtmlElement]]) -> None:
    pre = lxml.html.Element("pre")
    results[0][0].addprevious(pre)
    for tooltip in list(container.iterdescendants("div", "span")):
        if is_tooltip(tooltip):
            tooltip.drop_tree()
    for row, line in results:
        pre.append(_line(line))
        if row.getparent() is container:
            row.drop_tree()


def _end_lines(pre: HtmlElement) -> None:
    """End the lines of code that is all on one line of the page's source, where each is a box by style."""
    for parent in (pre, *pre.iterchildren("code")):
        lines = list(takewhile(_is_line_box, parent.iterchildren("*")))
        if len(lines) > 1 and "\n" not in pre.text_content() and next(pre.iter("br", *LINE_BLOCKS), None) is None:
            for line in lines:
                line.tag = "div"


def _is_line_box(box: HtmlElement) -> bool:
    return box.tag in ("span", "code") and _LINE_BOX.search(box.get("class") or "") is not None


def _replace_table(table: HtmlElement, lines: list[HtmlElement]) -> None:
    pre = lxml.html.Element("pre")
    if table.get("class"):
        pre.set("class", table.get("class") or "")
    for line in lines:
        pre.append(_line(line))
    pre.tail = table.tail
    table.getparent().replace(table, pre)


def _line(box: HtmlElement) -> HtmlElement:
    """A line of code with the content of a box; an empty one is a line too."""
    line = lxml.html.Element("div")
    line.text = box.text
    line.extend(list(box))
    if not line.text_content():
        line.text = "\n"
    return line


def _has_style_of_code(box: HtmlElement) -> bool:
    style = box.get("style")
    return style is not None and (_KEEPS_SPACE.search(style) or _MONOSPACED.search(style)) is not None


def _is_laid_out(box: HtmlElement) -> bool:
    """Whether the lines of a box are lines of code, by its element and style or by what they hold."""
    if next(box.iterdescendants(*_NO_CODE), None) is not None:
        return False
    style = box.get("style") or ""
    keeps_space, is_monospaced = _KEEPS_SPACE.search(style) is not None, _MONOSPACED.search(style) is not None
    is_broken = next(box.iterdescendants("br", *LINE_BLOCKS), None) is not None
    is_inline = box.tag in _INLINE
    if is_inline and not _is_alone(box):
        return False
    text = code_text(box).replace("\xa0", " ")
    lines = [line for line in text.split("\n") if line.strip()] if len(text) <= _MAX_CHARS else []
    like_code = sum(_CODE_LIKE.search(line) is not None for line in lines)
    if max(map(len, lines), default=0) > _MAX_LINE and not like_code:
        return False
    if is_inline and (is_broken or keeps_space or _LANGUAGE.search(box.get("class") or "")):
        return is_broken or len(lines) > 1
    if keeps_space and is_monospaced:
        return bool(lines)
    return (is_broken or keeps_space) and len(lines) > 1 and 2 * like_code >= len(lines)


def _is_alone(box: HtmlElement) -> bool:
    """Whether a box is all the text of the block around it."""
    parent = box.getparent()
    while parent is not None and is_all_text_of(box, parent):
        if parent.tag not in _AROUND or parent.tag == "p":
            return True
        box, parent = parent, parent.getparent()
    return False


def _make_pre(box: HtmlElement) -> None:
    """Make a `<pre>` of a box, without the line ends and indentation of the page's source that a browser folds."""
    if _KEEPS_SPACE.search(box.get("style") or "") is None:
        for element in box.iter("br", *LINE_BLOCKS):
            if element is not box:
                element.tail = _LEADING_BREAK.sub("", element.tail) if element.tail else None
            if element.tag != "br" and element.text and not element.text.strip(" \t\n"):
                element.text = None
    for line in box.iterdescendants("div", "p"):
        if not len(line) and not line.text:
            line.text = "\n"
    around = box.getparent()
    while around is not None and around.tag in _AROUND:
        around.tag, around = "div", around.getparent()
    box.tag = "pre"
