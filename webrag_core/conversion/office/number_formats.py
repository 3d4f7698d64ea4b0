"""What a cell of a spreadsheet shows of a number, from its format code (ECMA-376, part 1, 18.8.31).

Dates are written as ISO 8601, whatever their order. A number keeps the digits that its format would round away, unless
the format names a currency: an amount is what is paid.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache

GENERAL = "General"
BUILT_IN = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    5: "#,##0;-#,##0",
    6: "#,##0;-#,##0",
    7: "#,##0.00;-#,##0.00",
    8: "#,##0.00;-#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    37: "#,##0;(#,##0)",
    38: "#,##0;(#,##0)",
    39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)",
    41: '#,##0;(#,##0);"-"',
    42: '#,##0;(#,##0);"-"',
    43: '#,##0.00;(#,##0.00);"-"',
    44: '#,##0.00;(#,##0.00);"-"',
    46: "[h]:mm:ss",
    **dict.fromkeys((*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)), "yyyy-mm-dd"),
}
"""Codes that no file spells out; those of dates differ by country only in their order."""

_MAX_CODE = 255  # characters
_MAX_DIGITS = 307  # what a cell can hold
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[(?P<bracket>[^\[\]]*)\]|_.|\*.|(?P<letters>General|AM/PM|A/P|[dmyhsDMYHS]+|E[+-])'
    r"|(?P<other>.)",
    re.DOTALL,
)
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
_CURRENCY = re.compile(r"\$(?P<sign>[^-\]]*)(?:-[0-9A-Fa-f]+)?")
_CONDITION = re.compile(r"[<>=]=?|<>")
_SIGNS = frozenset("$€£¥₹₽₩₺₴₪₫₦฿¢")


@dataclass(frozen=True, slots=True)
class _Section:
    """One of the parts of a code: what stands before, within and behind the digits. `places` holds 0, # or ? for a
    digit, `.` for the decimal point, else a text between digits."""

    before: str
    places: tuple[str, ...]
    behind: str
    kind: str  # number, date, elapsed, text or general
    elapsed: tuple[str, ...] = ()
    grouped: bool = False
    scale: int = 0  # thousands that are left out
    percent: bool = False
    currency: bool = False
    conditional: bool = False


def shown(value: str, code: str, epoch: datetime) -> str:
    """What a cell shows of a number (its text in the file). Numbers, codes and dates that nobody can read stay as they
    are."""
    try:
        number = Decimal(value)
    except InvalidOperation:
        return value
    if not number.is_finite() or abs(number.adjusted()) > _MAX_DIGITS:
        return value
    sections = _sections(code[:_MAX_CODE])
    section, signed = _chosen(sections, number)
    if section.kind in ("date", "elapsed"):
        try:
            return _date(number, epoch) if section.kind == "date" else _elapsed(number, section)
        except (OverflowError, ValueError):
            return value
    if section.kind == "text":
        return section.before
    text = _in_full(abs(number)) if section.kind == "general" else _digits(abs(number), section)
    minus = "-" if number < 0 and signed and any(character in "123456789" for character in text) else ""
    return f"{minus}{section.before}{text}{section.behind}".strip()


def _chosen(sections: tuple[_Section, ...], number: Decimal) -> tuple[_Section, bool]:
    """The part of a code that is for this number, and whether it needs a minus sign."""
    if len(sections) == 1 or any(section.conditional for section in sections):
        return sections[0], True
    if number < 0:
        return sections[1], False
    return (sections[2], False) if number == 0 and len(sections) > 2 else (sections[0], True)


@lru_cache(maxsize=512)
def _sections(code: str) -> tuple[_Section, ...]:
    parts: list[list[re.Match[str]]] = [[]]
    for token in _TOKEN.finditer(code):
        if token["other"] == ";":
            parts.append([])
        else:
            parts[-1].append(token)
    return tuple(map(_section, parts[:3]))


def _section(tokens: list[re.Match[str]]) -> _Section:
    literals: list[str] = []  # since the last digit
    before, places = "", list[str]()
    elapsed: list[str] = []
    kinds: set[str] = set()
    currency = conditional = percent = False
    commas = 0
    grouped = False
    for token in tokens:
        text = ""
        if (bracket := token["bracket"]) is not None:
            if sign := _CURRENCY.match(bracket):
                text = sign["sign"]
                currency = currency or bool(text)
            elif _ELAPSED.fullmatch(bracket):
                kinds.add("elapsed")
                elapsed.append(bracket[0].lower())
            else:
                conditional = conditional or _CONDITION.match(bracket) is not None
        elif (letters := token["letters"]) is not None:
            if letters == "General":
                kinds.add("general")
            elif letters[0] == "E":
                kinds.add("scientific")
            elif "elapsed" in kinds:
                elapsed.append(letters[0].lower())
            elif letters not in ("AM/PM", "A/P"):
                kinds.add("date")
            if kinds & {"general"}:
                before += "".join(literals)
                literals.clear()
        elif (quoted := token["quoted"] if token["quoted"] is not None else token["escaped"]) is not None:
            text = quoted
            currency = currency or text.strip() in _SIGNS or (len(text.strip()) == 3 and text.strip().isupper())
        elif (other := token["other"]) is not None:
            if other in "0#?.":
                if not places:
                    before += "".join(literals)
                elif commas:
                    grouped = True
                else:
                    places += literals
                literals.clear()
                commas = 0
                places.append(other)
            elif other == "," and places:
                commas += 1
            elif other == "/" and places and literals[-1:] != ["/"]:
                kinds.add("fraction")
            elif other == "@":
                kinds.add("general")
            else:
                text = other
                percent = percent or other == "%"
                currency = currency or other in _SIGNS
        else:
            text = " " if token[0].startswith("_") and places else ""
        if text:
            literals.append(text)
    kind = next((name for name in ("elapsed", "date") if name in kinds), "number" if places else "text")
    if kind != "elapsed" and kinds & {"general", "fraction", "scientific"}:
        kind = "general"
    if kind == "text":
        before = "".join(literals)
    if kind == "general" and percent:
        percent = False
    return _Section(
        before=_one_line(before).lstrip(),
        places=tuple(places),
        behind="" if kind == "text" else _one_line("".join(literals)).rstrip(),
        kind=kind,
        elapsed=tuple(elapsed),
        grouped=grouped,
        scale=commas,
        percent=percent,
        currency=currency,
        conditional=conditional,
    )


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _in_full(number: Decimal) -> str:
    """Up to fifteen digits, as spreadsheets count them; no exponent up to 10^15."""
    value = float(number)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"


def _digits(number: Decimal, section: _Section) -> str:
    """A number without its sign by the places of its format."""
    if section.percent:
        number *= 100
    number = Decimal(f"{float(number):.15g}").scaleb(-3 * section.scale)
    whole_places, _, decimals = "".join(place if place in "0#?." else "x" for place in section.places).partition(".")
    exact = number.quantize(Decimal(1).scaleb(-len(decimals)), rounding=ROUND_HALF_UP) if number < 10**15 else number
    if exact != number and not section.currency and not section.scale:
        exact = number
    whole, _, fraction = f"{exact:f}".partition(".")
    if exact == number or section.scale:
        least = len(decimals.rstrip("#?"))
        fraction = fraction.rstrip("0").ljust(least, "0")
    whole = whole.lstrip("0").rjust(whole_places.count("0"), "0")
    if "x" in whole_places:
        whole = _spread(whole, section.places)
    elif section.grouped:
        whole = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",", whole)
    if not whole and not fraction and "0" in section.places:
        whole = "0"
    return whole + (f".{fraction}" if fraction else "")


def _spread(whole: str, places: tuple[str, ...]) -> str:
    """Digits with the texts that stand between the places: 000-0000."""
    out: list[str] = []
    left = list(whole)
    integer = places[: places.index(".")] if "." in places else places
    for place in reversed(integer):
        if place in ("0", "#", "?"):
            out.append(left.pop() if left else "")
        elif left:
            out.append(place)
    return "".join(left) + "".join(reversed(out))


def _date(number: Decimal, epoch: datetime) -> str:
    if number < 0:
        return _in_full(number)
    moment = epoch + timedelta(seconds=round(86_400 * float(number)))
    if number < 1:
        return f"{moment:%H:%M:%S}".removesuffix(":00")
    if moment.time() == datetime.min.time():
        return f"{moment:%Y-%m-%d}"
    return f"{moment:%Y-%m-%d %H:%M:%S}".removesuffix(":00")


def _elapsed(number: Decimal, section: _Section) -> str:
    """A duration in the units of its format, which may be more hours than a day has."""
    seconds = round(86_400 * abs(float(number)))
    units = {"h": 3_600, "m": 60, "s": 1}
    parts: list[str] = []
    for unit in dict.fromkeys(section.elapsed):
        amount, seconds = divmod(seconds, units[unit]) if unit in units else (0, seconds)
        parts.append(f"{amount:02d}" if parts else str(amount))
    return ("-" if number < 0 else "") + ":".join(parts)
