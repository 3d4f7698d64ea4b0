"""Line numbers beside code, known by their sequence: 1, 2, 3 … in elements of their own, in the order of the lines.

Names of classes only decide where a single line leaves no sequence to see, and where a highlighter marks the numbers
of the code itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from lxml.html import HtmlElement

from webrag_core.conversion.code_text import LINE_BLOCKS, Place, code_text, pieces

_NUMBER = re.compile(r"(\d{1,7}) ?[.:|]?")
_NAMES = re.compile(
    r"line[-_]?(?:nos?|num|nr|counter|index)|(?:blob|row|crayon)[-_]nums?|gutter|(?:^|[\s_-])lnt?(?:$|[\s_-])",
    re.IGNORECASE,
)
_ANCHOR = re.compile(r"#?(?:[\w-]*[-_])?(?:L|l|LN|line|n)[-_]?0*\d+")
# what highlighters call a number of the code
_TOKENS = frozenset(("mi", "mf", "mh", "mo", "mb", "mx", "il", "m", "number", "hljs-number", "token", "numeric",
                     "constant", "lit", "literal", "pl-c1", "nu0"))  # fmt: skip
_COLOURS = re.compile(r"(?:\s*(?:color|font-weight|font-style|--[\w-]+)\s*:[^;]*(?:;|\Z))*\s*")
_EMPHASIS = frozenset(("b", "strong", "em", "var", "mark", "kbd", "code", "u"))
_UNSEEN = re.compile(r"visibility\s*:\s*hidden|display\s*:\s*none", re.IGNORECASE)
_MAX_UP = 4  # elements from code to the box whose neighbour may be its column
_MAX_INNER = 5  # elements in each other that hold one number
_MAX_BESIDE = 12  # elements in such a box
_OUTERMOST = frozenset(("tr", "li", "dd", "section", "article", "main", "body"))


def drop_line_numbers(code: HtmlElement) -> None:
    """Take the numbers of its lines out of a box of code, and the column of them that stands beside it.

    Code that begins its lines with numbers keeps them: they stand in no elements of their own, do not follow each
    other, or are marked as numbers of the language.
    """
    _drop_column(code)
    result = _numbers_at_lines(code)
    if not result or (len(result) == 1 and not names_line(result[0].element)) or _are_tokens(result, code):
        return
    apart = min((number.indent for number in result if number.indent is not None), default=0) == 1
    for number in result:
        if apart and number.follows is not None:  # the blank that parts every number from its line
            element, place = number.follows
            setattr(element, place, getattr(element, place)[1:])
    rows = _rows(result, code)
    for number in result:
        number.element.drop_tree()
    for row in rows:
        if not row.text_content():
            row.text = "\n"  # an empty line is a line, too


def names_line(element: HtmlElement) -> bool:
    """Whether an element, or the only one in it, is named as the place of a line: by class, anchor or data."""
    inner: HtmlElement | None = element
    for _ in range(_MAX_INNER):
        if inner is None:
            return False
        if inner.get("data-line-number") is not None or _NAMES.search(inner.get("class") or "") is not None:
            return True
        if any(_ANCHOR.fullmatch(inner.get(name) or "") for name in ("id", "name", "href")):
            return True
        inner = inner[0] if len(inner) == 1 else None
    return False


def has_at_most(box: HtmlElement, count: int) -> bool:
    """Whether an element has no more than `count` children. lxml counts all of them to say how many there are."""
    return next(islice(box.iterchildren(), count, None), None) is None


def line_number(element: HtmlElement) -> int | None:
    """The number that is all the text of an element."""
    texts = list(islice((text for text in element.itertext() if text.strip()), 2))
    return _value(texts[0]) if len(texts) == 1 else None


def _value(text: str) -> int | None:
    number = _NUMBER.fullmatch(text.strip())
    return int(number[1]) if number else None


def is_all_text_of(box: HtmlElement, parent: HtmlElement) -> bool:
    """Whether an element holds all the text of its parent."""
    texts = [parent.text, *(child.tail for child in parent)]
    if any(text is not None and text.strip() for text in texts):
        return False
    return not any(text.strip() for child in parent.iterchildren("*") if child is not box for text in child.itertext())


def _rows(results: Sequence[_Number], code: HtmlElement) -> list[HtmlElement]:
    """The blocks that are the lines of numbers, of those that are blocks: around a number, or around its own block."""
    rows = [next(number.element.iterancestors(*LINE_BLOCKS), code) for number in results]
    for _ in range(_MAX_UP):
        around = [row.getparent() for row in rows]
        if code in rows or len(set(around)) < len(results) or len(results) < 2:  # they stand below each other
            break
        rows = [row for row in around if row is not None]
    return [row for row in rows if row is not code]


@dataclass(slots=True)
class _Number:
    """The number at the beginning of a line, with the text behind it and its indentation (None: an empty line)."""

    element: HtmlElement
    follows: tuple[HtmlElement, Place] | None = None
    indent: int | None = None


def _numbers_at_lines(code: HtmlElement) -> list[_Number]:
    """The numbers at the beginning of lines; [] where a line has none or not the next one, or where all is numbers.

    Where the first is named as the number of a line, others may be left out. Otherwise nothing is read beyond the
    first line without a number.
    """
    results: list[_Number] = []
    last = -1
    is_named = False
    begins = True  # the line has no text yet
    is_bare = False  # the line has only a number yet
    has_code = False
    for element, place, text in pieces(code):
        if text is None:
            begins, is_bare = True, False
            continue
        if begins and text.strip():
            value = _value(text) if place == "text" and element is not code and has_at_most(element, 0) else None
            if value is not None and (not results or value == last + 1 or (is_named and value > last)):
                results.append(_Number(_whole(element, code)))
                is_named = is_named if len(results) > 1 else names_line(results[0].element)
                last, begins, is_bare = value, "\n" in text.lstrip(), True
                continue
            if not is_named:
                return []
        line, end, rest = text.partition("\n")
        if rest.strip() and not is_named:
            return []
        if is_bare and line:
            results[-1].follows = (element, place)
            results[-1].indent = len(line) - len(line.lstrip()) if line.strip() or not end else None
        has_code = has_code or bool(text.strip())
        is_bare = False
        begins = (begins or bool(end)) and not text.rpartition("\n")[2].strip()
    return results if has_code else []


def _whole(element: HtmlElement, code: HtmlElement) -> HtmlElement:
    """The outermost inline element that holds nothing but `element`."""
    box = element.getparent()
    while box is not None and box is not code and box.tag not in LINE_BLOCKS and has_at_most(box, 1):
        if (box.text or "").strip() or (element.tail or "").strip():
            break
        element, box = box, box.getparent()
    return element


def _are_tokens(results: Sequence[_Number], code: HtmlElement) -> bool:
    """Whether the numbers are coloured as the numbers of a language are, or share their class with other text."""
    element = results[0].element
    names, style = element.get("class") or "", element.get("style")
    if not _TOKENS.isdisjoint(names.split()):
        return True
    if names_line(element):
        return False
    if not names:
        return element.tag in _EMPHASIS or (style is not None and _COLOURS.fullmatch(style) is not None)
    numbers = {number.element for number in results}
    return any(
        other.get("class") == names and other not in numbers and other.text_content().strip()
        for other in code.iter(element.tag)
    )


def _drop_column(code: HtmlElement) -> None:
    """Drop the box beside code that holds the numbers of its lines and nothing else."""
    lines: str | None = None
    box = code
    for _ in range(_MAX_UP):
        parent = box.getparent()
        if parent is None or not has_at_most(parent, _MAX_BESIDE):
            return
        for beside in (*islice(box.itersiblings("*", preceding=True), 1), *islice(box.itersiblings("*"), 1)):
            count = _column_length(beside)
            if not count:
                continue
            lines = code_text(code) if lines is None else lines
            least, most = lines.rstrip().count("\n") + 1, lines.count("\n") + 1
            if least <= count <= most and (count > 1 or names_line(beside)):
                beside.drop_tree()
                return
        if parent.tag in _OUTERMOST or not is_all_text_of(box, parent):
            return
        box = parent


def _column_length(box: HtmlElement) -> int:
    """How many consecutive numbers a box holds, each in an element or on a line of its own; 0 for any other text."""
    count, last = 0, -1
    for element, _, text in pieces(box):
        if text is None or _UNSEEN.search(element.get("style") or ""):
            continue
        for line in text.split("\n"):
            if not line.strip():
                continue
            value = _value(line)
            if value is None or (count and value != last + 1):
                return 0
            count, last = count + 1, value
    return count
