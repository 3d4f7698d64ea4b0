"""The encoding that a page names in its own bytes, found the way the HTML Standard's prescan finds it."""

from __future__ import annotations

import re

from webrag_core.acquisition.charset_labels import codec_of

# Browsers scan 1,024 bytes and leave a later <meta> to the parser, which skips scripts; so do we, up to a limit.
_PRESCAN_BYTES = 1_024
_SCAN_BYTES = 65_536

_MARKUP = re.compile(rb"<(?:!--|(/?)([a-z][^\t\n\f\r >]*)|[!/?])", re.IGNORECASE)
_META = re.compile(rb"<meta[\t\n\f\r /]", re.IGNORECASE)
_NAME = re.compile(rb"[\t\n\f\r /]*(?:>|([^\t\n\f\r />][^\t\n\f\r />=]*)(?=[\t\n\f\r />=]))")
_EQUALS = re.compile(rb"[\t\n\f\r ]*=[\t\n\f\r ]*")
_VALUE = re.compile(rb"\"([^\"]*)\"|'([^']*)'|([^\"'\t\n\f\r >][^\t\n\f\r >]*)(?=[\t\n\f\r >])|(?=>)")
_IN_CONTENT = re.compile(
    rb"charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|([^\"'\t\n\f\r ;][^\t\n\f\r ;]*))", re.IGNORECASE
)
_XML = re.compile(rb"<\?xml[^>]*?\sencoding\s*=\s*[\"']([\w.:-]+)[\"']")
_RAW_TEXT = {b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes"}


def named_encoding(body: bytes) -> str | None:
    """Python's name of the encoding that <meta> or the XML declaration states; None when neither does.

    Looks at the first 64 KiB. Never UTF-16: bytes that spell <meta> are not written in it, and mean UTF-8.
    """
    scanned = body[:_SCAN_BYTES]
    position = 0
    while markup := _MARKUP.search(scanned, position):
        closing, name = markup.groups()
        if name is None:
            # <!--> is a whole comment, so the dashes that open it may close it
            end = b"-->" if markup.group() == b"<!--" else b">"
            position = _after(scanned, end, markup.start() + 2)
            continue
        is_meta = _META.match(scanned, markup.start()) is not None
        attributes, position = _attributes(scanned, markup.start() + len(b"<meta") if is_meta else markup.end())
        named = _of_meta(attributes) if is_meta else None
        if named is not None:
            return named
        if not closing and position > _PRESCAN_BYTES and name.lower() in _RAW_TEXT:
            position = _after(scanned, b"</" + name, position)
    declaration = _XML.match(scanned)
    return _not_wide(codec_of(declaration.group(1).decode("latin-1"))) if declaration else None


def _after(scanned: bytes, end: bytes, position: int) -> int:
    found = scanned.find(end, position)
    return len(scanned) if found < 0 else found + len(end)


def _attributes(scanned: bytes, position: int) -> tuple[dict[bytes, bytes], int]:
    """Attributes of the tag at `position`, names and values in lower case, and where the tag ends.

    A tag that the bytes do not finish has no attributes and ends beyond them.
    """
    attributes: dict[bytes, bytes] = {}
    while found := _NAME.match(scanned, position):
        position = found.end()
        if found.group(1) is None:
            return attributes, position
        value: re.Match[bytes] | None = None
        if equals := _EQUALS.match(scanned, position):
            value = _VALUE.match(scanned, equals.end())
            if value is None:
                break
            position = value.end()
        attributes.setdefault(found.group(1).lower(), _group(value) if value else b"")
    return {}, len(scanned) + 1


def _of_meta(attributes: dict[bytes, bytes]) -> str | None:
    """What one <meta> names; its own `charset` wins over that of its `content`, whichever stands first."""
    label = attributes.get(b"charset")
    if label is None and attributes.get(b"http-equiv", b"").lower() == b"content-type":
        content = _IN_CONTENT.search(attributes.get(b"content", b""))
        label = _group(content) if content else None
    return _not_wide(codec_of(label.decode("latin-1"))) if label is not None else None


def _group(found: re.Match[bytes]) -> bytes:
    return next((group for group in found.groups() if group is not None), b"")


def _not_wide(codec: str | None) -> str | None:
    return "utf-8" if codec is not None and codec.startswith(("utf-16", "utf-32")) else codec
