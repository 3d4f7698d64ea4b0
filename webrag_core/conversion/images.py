"""Pictures: the address that is fetched later or for other screens, or their words if it holds them itself."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

_LATER = ("data-src", "data-lazy-src", "data-original", "data-lazy")
_DESCRIPTOR = re.compile(r"[\d.]+[wxh],?")
_SETS = ("srcset", "data-srcset", "data-lazy-srcset")


def tell_images(main: HtmlElement) -> None:
    """Lazy pictures get their address, those without one become their alternative text; no words are glued to it.

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
        for name in _SETS:
            image.attrib.pop(name, None)  # with relative addresses, which the converter would copy
    for picture in main.iter("picture"):
        for source in list(picture.iter("source")):
            source.drop_tag()  # the parser takes the picture for its content


def _address(image: HtmlElement) -> str:
    """Where the picture can be fetched, or nothing ("")."""
    address = (image.get("src") or "").strip()
    if address and not address.startswith("data:"):
        return address
    picture = next(image.iterancestors("picture"), None)
    sources = list(picture.iter("source")) if picture is not None else []
    found = [image.get(name) or "" for name in _LATER]
    found += [place for element in (image, *sources) for name in _SETS for place in _places(element.get(name) or "")]
    return next((place for one in found if (place := one.strip()) and not place.startswith("data:")), "")


def _places(candidates: str) -> list[str]:
    """The addresses of a `srcset`."""
    return [word.rstrip(",") for word in candidates.split() if not _DESCRIPTOR.fullmatch(word)]


def _set_apart(image: HtmlElement) -> None:
    """Blanks between the words of a picture and those around it."""
    previous, following, parent = image.getprevious(), image.getnext(), image.getparent()
    if (image.tail or "")[:1].isalnum() or (not image.tail and following is not None and following.tag == "img"):
        image.tail = f" {image.tail or ''}"
    if previous is not None:
        if (previous.tail or "")[-1:].isalnum():
            previous.tail = f"{previous.tail} "
    elif parent is not None and (parent.text or "")[-1:].isalnum():
        parent.text = f"{parent.text} "
