"""Addresses of `mailto:` and `tel:` links as text: a contact page is there for them."""

from __future__ import annotations

import re
from urllib.parse import unquote

from lxml.html import HtmlElement

_SCHEMES = re.compile(r"\s*(mailto|tel|sms|callto):([^?#]*)", re.IGNORECASE)
_NO_DIGIT = re.compile(r"\D+")
_MAX_ADDRESS = 200  # characters
_SPACE = re.compile(r"\s+")
_MIN_DIGITS = 3
_PROTECTED = "data-cfemail"
"""Attribute in which a content network hides the address that it shows by a script."""
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){3,200}")


def contact_address(href: str) -> str:
    """The address that a `mailto:` or `tel:` link leads to, without its query; "" for other links."""
    match = _SCHEMES.match(href)
    if match is None:
        return ""
    address = _SPACE.sub(" ", unquote(match[2])).strip(" ,;/")
    if match[1].lower() == "mailto":
        return address if "@" in address and len(address) <= _MAX_ADDRESS else ""
    digits = _NO_DIGIT.sub("", address)
    return address if len(digits) >= _MIN_DIGITS and len(address) <= _MAX_ADDRESS else ""


def write_address(link: HtmlElement, address: str) -> None:
    """Put `address` in parentheses behind the words of a link that do not hold it; it is all of a link without words,
    which takes its name for screen readers."""
    words = " ".join(link.text_content().split())
    if _holds(words, address):
        return
    name = words or " ".join((link.get("aria-label") or link.get("title") or "").split())
    if words or any(image.get("alt") for image in link.iter("img")):
        last = len(link) - 1
        if last >= 0:
            link[last].tail = f"{(link[last].tail or '').rstrip()} ({address})"
        else:
            link.text = f"{(link.text or '').rstrip()} ({address})"
    else:
        label = name if _holds(name, address) else f"{name} ({address})"
        link.text = label if name else address
        if not link.tail and link.getnext() is not None:  # icons stand side by side
            link.tail = " "


def _holds(words: str, address: str) -> bool:
    """Whether words say an address already, however its digits are grouped."""
    if address.casefold() in words.casefold():
        return True
    if "@" in address:
        return False
    digits, meant = _NO_DIGIT.sub("", words.replace("(0)", "")).lstrip("0"), _NO_DIGIT.sub("", address).lstrip("0")
    return len(digits) >= _MIN_DIGITS and (digits.endswith(meant) or meant.endswith(digits))


def show_protected_addresses(root: HtmlElement) -> None:
    """Write the addresses that a content network has hidden: the first byte is the key of the others."""
    for element in root.xpath(f"descendant::*[@{_PROTECTED}]"):
        if (address := _decoded(element.get(_PROTECTED) or "")) != "":
            for child in list(element):
                element.remove(child)
            element.text = address


def _decoded(code: str) -> str:
    if not _HEX.fullmatch(code):
        return ""
    key, *letters = bytes.fromhex(code)
    address = bytes(letter ^ key for letter in letters).decode("utf-8", errors="replace")
    return address if "@" in address and address.isprintable() else ""
