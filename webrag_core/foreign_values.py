"""Values that others wrote: addresses, numbers and JSON of pages, browsers, endpoints and archives.

Each is checked here, where it enters. Python's readers raise more than ValueError for some of them: `int` of a float
without end OverflowError, JSON that is nested deeply RecursionError; and addresses are split with an error.
"""

from __future__ import annotations

import json
import math
from typing import Any
from urllib.parse import SplitResult, urlsplit

LARGEST_NUMBER = 2**63 - 1
"""Of the numbers by which PostgreSQL names rows."""
_MOST_DIGITS = 20  # of a number in text; Python's reader takes quadratic time for many, and refuses more than 4,300
_MOST_JSON = 16_000_000  # characters


def address_parts(address: str) -> SplitResult | None:
    """The parts of an address, as `urlsplit`; None for one that has none, such as `http://user@[::g]/`."""
    try:
        return urlsplit(address)
    except ValueError:
        return None


def scheme_of(address: str) -> str:
    """The scheme of an address in lower case; "" where it has none or cannot be read."""
    parts = address_parts(address)
    return "" if parts is None else parts.scheme


def whole_number(value: object, least: int, most: int) -> int | None:
    """A whole number, or its decimal digits as text, within [least, most]; None for everything else."""
    if isinstance(value, str):
        text = value.strip()
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()) or len(digits) > _MOST_DIGITS:
            return None
        value = int(text)
    elif isinstance(value, float):
        if not value.is_integer():  # nor are infinity and NaN
            return None
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if least <= value <= most else None


def finite_number(value: object) -> float | None:
    """A number as a float; None for what is none, and for one beyond the range of floats, infinite or NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def json_value(text: str | bytes, most: int = _MOST_JSON) -> Any:
    """What JSON of at most `most` characters says. Raises ValueError: no JSON, too long, nested too deeply."""
    if len(text) > most:
        raise ValueError(f"JSON of more than {most} characters")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None
