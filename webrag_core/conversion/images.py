"""Give images an address (also of lazy and responsive ones), or replace them by their alternative text."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

_LAZY_ATTRIBUTES = ("data-src", "data-lazy-src", "data-original", "data-lazy")
_DESCRIPTOR = re.compile(r"[\d.]+[wxh],?")
_SRCSET_ATTRIBUTES = ("srcset", "data-srcset", "data-lazy-srcset")


def resolve_images(main: HtmlElement) -> None:
    """Set the address of lazy images; replace those without one by their alternative text, set apart by blanks.

    To be called before links are made absolute.
    """
    for image in list(main.iter("img")):
        address = _address(image)
        alt = " ".join((image.get("alt") or "").split())
        if address:
            image.set("src", address)
        else:
            image.tag = "span"
            image.attrib.pop("src", None)
            image.text = alt
        if alt:
            image.set("alt", alt)
            _set_apart(image)
        for name in _SRCSET_ATTRIBUTES:
            image.attrib.pop(name, None)  # with relative addresses, which the converter would copy
    for picture in main.iter("picture"):
        for source in list(picture.iter("source")):
            source.drop_tag()  # the parser takes the picture for its content


def _address(image: HtmlElement) -> str:
    """Return the address of an image, or ""."""
    address = (image.get("src") or "").strip()
    if address and not address.startswith("data:"):
        return address
    picture = next(image.iterancestors("picture"), None)
    sources = list(picture.iter("source")) if picture is not None else []
    candidates = [image.get(name) or "" for name in _LAZY_ATTRIBUTES]
    candidates += [
        place
        for element in (image, *sources)
        for name in _SRCSET_ATTRIBUTES
        for place in _srcset_addresses(element.get(name) or "")
    ]
    return next(
        (place for candidate in candidates if (place := candidate.strip()) and not place.startswith("data:")), ""
    )


def _srcset_addresses(candidates: str) -> list[str]:
    """Return the addresses of a `srcset`."""
    return [word.rstrip(",") for word in candidates.split() if not _DESCRIPTOR.fullmatch(word)]


def _set_apart(image: HtmlElement) -> None:
    """Put blanks between the text of an image and the words around it."""
    previous, following, parent = image.getprevious(), image.getnext(), image.getparent()
    if (image.tail or "")[:1].isalnum() or (not image.tail and following is not None and following.tag == "img"):
        image.tail = f" {image.tail or ''}"
    if previous is not None:
        if (previous.tail or "")[-1:].isalnum():
            previous.tail = f"{previous.tail} "
    elif parent is not None and (parent.text or "")[-1:].isalnum():
        parent.text = f"{parent.text} "
