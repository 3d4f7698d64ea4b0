"""Keep numbers of list items that Markdown would renumber: letters, Roman numerals, reversed and irregular ones."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

_INTEGER = re.compile(r"\s*([+-]?\d{1,9})")
_TYPES = {"a", "A", "i", "I"}
_CLASSES = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}  # of docutils
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


def preserve_numbers(main: HtmlElement) -> None:
    """Write the numbers into the items of lists that Markdown numbers differently, and make those bullet lists."""
    for ordered in main.iter("ol"):
        items = list(ordered.iterchildren("li"))
        kind = _kind(ordered)
        backward = ordered.get("reversed") is not None
        start = _integer(ordered.get("start"))
        if not kind and not backward and start is None and all(item.get("value") is None for item in items):
            continue
        numbers = _numbers(items, len(items) if backward and start is None else start, -1 if backward else 1)
        if not kind and numbers and numbers[0] >= 0 and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
            ordered.set("start", str(numbers[0]))
            continue
        ordered.tag = "ul"
        for item, number in zip(items, numbers, strict=True):
            _prefix(item, f"{_label(number, kind)}. ")


def _kind(ordered: HtmlElement) -> str:
    """Return one of `_TYPES`, or "" for decimal numbers."""
    kind = ordered.get("type") or ""
    if kind in _TYPES:
        return kind
    return next((_CLASSES[name] for name in (ordered.get("class") or "").split() if name in _CLASSES), "")


def _numbers(items: list[HtmlElement], start: int | None, step: int) -> list[int]:
    number = 1 if start is None else start
    numbers = []
    for item in items:
        value = _integer(item.get("value"))
        number = number if value is None else value
        numbers.append(number)
        number += step
    return numbers


def _integer(text: str | None) -> int | None:
    match = _INTEGER.match(text or "")
    return int(match[1]) if match else None


def _label(number: int, kind: str) -> str:
    if kind in ("a", "A") and number > 0:
        label = ""
        while number:
            number, digit = divmod(number - 1, 26)
            label = chr(ord("a") + digit) + label
    elif kind in ("i", "I") and 0 < number < 4000:
        label = ""
        for value, letters in _ROMAN:
            count, number = divmod(number, value)
            label += letters * count
    else:
        return str(number)
    return label.upper() if kind in ("A", "I") else label


def _prefix(item: HtmlElement, label: str) -> None:
    while not (item.text or "").strip() and len(item) and item[0].tag in ("p", "div"):
        item = item[0]
    item.text = label + (item.text or "").lstrip()
