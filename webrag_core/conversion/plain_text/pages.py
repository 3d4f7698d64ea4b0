"""Take out what a printer put between pages: footers with a page number, headers, form feeds, overstrikes."""

from __future__ import annotations

import re
from collections import Counter

_FOOTER = re.compile(r"(?:\S.*\s)?\[Page \d{1,5}\]|Page \d{1,5} of \d{1,5}|- ?\d{1,4} ?-")
_SENTENCE_END = re.compile(r"[.!?:;]['\")\]]*$")
_OVERSTRIKE = re.compile("[^\n]\b")
_ESCAPE = re.compile("\x1b\\[[0-9;]*[A-Za-z]")
_MIN_PAGES = 2
_REACH = 8  # lines between a footer and the header of the next page


def without_printer_marks(text: str) -> str:
    """`text` without overstrikes and colours of terminals: x, backspace, x is one bold x."""
    if "\b" in text:
        text = _OVERSTRIKE.sub("", text)
    return _ESCAPE.sub("", text) if "\x1b" in text else text


def blank_page_breaks(lines: list[str]) -> list[str | None]:
    """The same lines, those between two pages blank: footer and header. None where a paragraph runs over the break.

    A footer ends in a page number; a header is the first line behind it that stands behind others, too.
    """
    footers = [number for number, line in enumerate(lines) if _is_footer(line)]
    if len(footers) < _MIN_PAGES:
        return list(lines)
    headers = {footer: _next_inked(lines, footer + 1, _REACH) for footer in footers}
    counted = Counter(_shape(lines[header]) for header in headers.values() if header is not None)
    result: list[str | None] = list(lines)
    for footer, header in headers.items():
        result[footer] = ""
        last = footer
        if header is not None and counted[_shape(lines[header])] >= _MIN_PAGES:
            result[header] = ""
            last = header
        before = next(
            (number for number in range(footer - 1, max(-1, footer - _REACH), -1) if lines[number].strip()), None
        )
        after = _next_inked(lines, last + 1, _REACH)
        if before is not None and after is not None and _runs_on(lines[before], lines[after]):
            result[before + 1 : after] = [None] * (after - before - 1)
    return result


def _is_footer(line: str) -> bool:
    return (
        len(line) < 200
        and line.rstrip()[-1:] in ("]", "-", *"0123456789")
        and _FOOTER.fullmatch(line.strip()) is not None
    )


def _shape(line: str) -> str:
    return " ".join(re.sub(r"\d+", "0", line).split())


def _next_inked(lines: list[str], start: int, reach: int) -> int | None:
    return next((number for number in range(start, min(start + reach, len(lines))) if lines[number].strip()), None)


def _runs_on(before: str, after: str) -> bool:
    """Whether a paragraph that was cut by a page break goes on behind it."""
    same_indent = len(before) - len(before.lstrip()) == len(after) - len(after.lstrip())
    return same_indent and _SENTENCE_END.search(before.rstrip()) is None and len(before.strip()) > 40
