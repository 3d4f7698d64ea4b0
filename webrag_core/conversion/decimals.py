"""Small digits that belong to the number before them: cents (12<sup>99</sup> €), minutes (9<sup>30</sup> Uhr) and
fractions (2<sup>1</sup>/<sub>2</sub>). As exponents they would be other numbers."""

from __future__ import annotations

import re
from itertools import chain

from lxml.html import HtmlElement

_CURRENCY = (
    "(?:[$€£¥₹₽₺₩₪₴₫₱฿]|(?:EUR|USD|GBP|CHF|AUD|CAD|NZD|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|TRY|RUB|BRL|MXN)\\b"
    "|(?:Euros?|euros?|Dollars?|dollars?|Fr|kr|zł|Kč|lei|Ft|руб|лв|грн)(?!\\w))"
)
_SMALL = re.compile(rf"(\d\d)(\s*{_CURRENCY})?")
_MARKED = re.compile(rf"[.,:]\d\d?(?:\s*{_CURRENCY})?|[.,][-\u2013\u2014]")
_NUMBER = re.compile(r"(?:^|(?<=[^\d.,:^/]))(\d{1,3}(?:[.,'\u2019\u00a0\u202f\u2009]\d{3})+|\d{1,6})\Z")
_BEFORE = re.compile(rf"{_CURRENCY}\s*\Z")
_AFTER = re.compile(rf"\s*+[-\u2013]?\s*+{_CURRENCY}")
_POINTED = re.compile(r"[$£¥₹]\s*\Z")
_PRICE = re.compile(r"price|preis|prix|precio|prezzo|pre[cç]o|prijs|cena|\bcost\b|amount", re.IGNORECASE)
_CENTS = re.compile(r"(?:^|[\s_-])(?:cents?|decimals?|fraction|centimes|kopecks?|pence)(?:$|[\s_-])", re.IGNORECASE)
_TIME_WORD = re.compile(
    r"[^.;()]{0,24}?\b(?:Uhr|h|hrs?|Std|heures?|horas?|ore|uur|godz|hod|[ap]\.?m|o['\u2019]clock)(?!\w)", re.IGNORECASE
)
_TIME_BEFORE = re.compile(r"(?:\d{1,2}:\d\d\s*(?:[-\u2013\u2014]|bis|to|till|until|und|and|à|a|do|tot)|\bkl\.?)\s*\Z")
_UNTIL = re.compile(r"\s*(?:[-\u2013\u2014]|bis|to|till|until|à|do|tot)\s*(\d{1,2})(\d\d)(?!\d)")
_QUARTERS = ("00", "15", "30", "45")
_POWERS_OF_TEN = ("12", "15", "18", "21", "24")
# languages that write a comma before decimals, as Unicode's CLDR has it
_WITH_COMMA = frozenset(
    ("af", "az", "be", "bg", "bs", "ca", "cs", "da", "de", "el", "es", "et", "eu", "fi", "fo", "fr", "gl", "hr", "hu",
     "hy", "id", "is", "it", "ka", "kk", "ky", "lt", "lv", "mk", "nb", "nl", "nn", "no", "pl", "pt", "ro", "ru", "sk",
     "sl", "sq", "sr", "sv", "tr", "uk", "uz", "vi")
)  # fmt: skip
_WITH_POINT = re.compile(r"(?:de|it|fr)-(?:ch|li)\b|es-(?:mx|us|gt|hn|ni|pa|pr|sv|do|pe)\b", re.IGNORECASE)
_FRACTION = re.compile(r"(\d{1,3})\s*[/\u2044]\s*(\d{1,3})")
_SLASH = re.compile(r"\s*[/\u2044\u2215]\s*")
_UNIT_BEHIND = re.compile(r"\s*(?:[^\W\d_]|[\"\u2033\u2032\u201d])")
_BLOCKS = frozenset(("p", "div", "td", "th", "li", "dd", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article",
                     "body", "main", "tr", "figcaption", "br", "hr", "ul", "ol", "table"))  # fmt: skip
_MOST_STEPS = 8  # elements that are looked at on either side
_REACH = 40  # characters


def join_decimals(main: HtmlElement, language: str | None) -> None:
    """Write decimals and minutes in small digits with their mark, and fractions with a slash.

    The mark of decimals is that of the page's `language`, or of the number's thousands, or a point.
    """
    for element in list(main.iter("sup")):
        if not _join_fraction(element):
            _join(element, language, is_named=False)
    for element in list(chain(main.iter("small"), main.xpath("descendant::span[contains(@class, 'c')]"))):
        is_named = _CENTS.search(element.get("class") or "") is not None
        if is_named or element.tag == "small":
            _join(element, language, is_named=is_named)


def _join(element: HtmlElement, language: str | None, *, is_named: bool) -> None:
    text = " ".join(element.text_content().split())
    small = _SMALL.fullmatch(text)
    if small is None and _MARKED.fullmatch(text) is None:
        return
    before = _text_before(element)
    number = _NUMBER.search(before)
    if number is None or next(element.iter("a"), None) is not None:
        return
    if small is None:
        element.drop_tag()
        return
    after = _text_after(element)
    mark = ""
    is_priced = bool(small[2]) or is_named or _is_priced(element, before[: number.start()], after)
    if is_priced and not (number[1] == "10" and small[1] in _POWERS_OF_TEN):
        mark = _decimal_mark(number[1], before[: number.start()], language)
    elif _is_time(number[1], small[1], before[: number.start()], after):
        mark = ":"
    elif small[1][0] == "0":  # no exponent is written so
        mark = ":" if int(number[1]) <= 24 and len(number[1]) <= 2 else _decimal_mark(number[1], "", language)
    if mark and (element.tag == "sup" or is_priced or mark == ":"):
        del element[:]
        element.text = f"{mark}{text}"
        element.drop_tag()


def _is_priced(element: HtmlElement, before: str, after: str) -> bool:
    """Whether a currency stands beside a number, or its box is named as a price."""
    if _BEFORE.search(before) or _AFTER.match(after):
        return True
    around = element.getparent()
    for _ in range(3):
        if around is None:
            return False
        if _PRICE.search(f"{around.get('class') or ''} {around.get('itemprop') or ''}"):
            return True
        around = around.getparent()
    return False


def _is_time(hour: str, minutes: str, before: str, after: str) -> bool:
    if len(hour) > 2 or int(hour) > 24 or int(minutes) > 59:
        return False
    if _TIME_WORD.match(after) or _TIME_BEFORE.search(before):
        return True
    until = _UNTIL.match(after)
    return until is not None and minutes in _QUARTERS and until[2] in _QUARTERS and int(hour) < int(until[1]) <= 24


def _decimal_mark(number: str, before: str, language: str | None) -> str:
    grouped = re.search(r"[.,]", number)
    if grouped is not None:
        return "," if grouped[0] == "." else "."
    if _POINTED.search(before) or language is None or _WITH_POINT.match(language):
        return "."
    return "," if re.split("[-_]", language.lower())[0] in _WITH_COMMA else "."


def _join_fraction(sup: HtmlElement) -> bool:
    """Write `<sup>1</sup>/<sub>2</sub>`, and `1<sup>1/2</sup>` before a unit, as a fraction; tell whether it is."""
    text = " ".join(sup.text_content().split())
    below = sup.getnext()
    whole = _text_before(sup)[-1:].isdigit()
    written = _FRACTION.fullmatch(text)
    if written is not None:
        if not whole or _UNIT_BEHIND.match(_text_after(sup)) is None:
            return False
        fraction = f"{written[1]}/{written[2]}"
    elif (text.isdecimal() and below is not None and below.tag == "sub" and _SLASH.fullmatch(sup.tail or "")
          and below.text_content().strip().isdecimal()):  # fmt: skip
        fraction = f"{text}/{below.text_content().strip()}"
        sup.tail = below.tail
        below.tail = None
        below.drop_tree()
    else:
        return False
    del sup[:]
    sup.text = f" {fraction}" if whole else fraction
    sup.drop_tag()
    return True


def _text_before(element: HtmlElement) -> str:
    """The last characters of its block before an element."""
    text = ""
    for _ in range(_MOST_STEPS):
        before, parent = element.getprevious(), element.getparent()
        if before is None:
            if parent is None:
                break
            text = (parent.text or "")[-_REACH:] + text
            if parent.tag in _BLOCKS:
                break
            element = parent
        else:
            text = (before.tail or "")[-_REACH:] + text
            if before.tag in _BLOCKS or len(text) >= _REACH:
                break
            text = before.text_content()[-_REACH:] + text if isinstance(before.tag, str) else text
            element = before
        if len(text) >= _REACH:
            break
    return text


def _text_after(element: HtmlElement) -> str:
    """The first characters of its block behind an element."""
    text = (element.tail or "")[:_REACH]
    for _ in range(_MOST_STEPS):
        after, parent = element.getnext(), element.getparent()
        if len(text) >= _REACH or parent is None or (after is None and parent.tag in _BLOCKS):
            break
        if after is None:
            element = parent
        else:
            if after.tag in _BLOCKS:
                break
            text += after.text_content()[:_REACH] if isinstance(after.tag, str) else ""
            element = after
        text += (element.tail or "")[:_REACH]
    return text
