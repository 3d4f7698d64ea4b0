"""Bytes of a page to text as a browser reads them: byte order mark, HTTP header, then what the page itself says."""

from __future__ import annotations

import codecs
import re

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META = re.compile(rb"<meta\s[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_META_BYTES = 4_096
# pages that say Latin-1 or ASCII mean the Windows code page, for every browser
_WINDOWS = {"iso8859-1": "cp1252", "ascii": "cp1252"}
# text codecs to Python, but no page is written in them
_NO_CHARSETS = {"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "utf-7", "mbcs", "oem"}


def decode_page(body: bytes, declared: str | None) -> str:
    """Text of `body`; `declared` is the charset of the HTTP header. What cannot be decoded becomes U+FFFD.

    Pages without a usable declaration are UTF-8 when most of their non-ASCII characters are, else Windows-1252.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    known = _codec(declared)
    if known is not None:
        return body.decode(known, "replace")
    if not body.isascii():
        text = body.decode("utf-8", "replace")
        if "\ufffd" not in text:
            return text
    meta = _META.search(body, 0, _META_BYTES)
    named = _codec(meta.group(1).decode("latin-1")) if meta else None
    if named is not None:  # a page whose bytes can be searched for <meta> is not UTF-16
        return body.decode("utf-8" if named.startswith(("utf-16", "utf-32")) else named, "replace")
    text = body.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    if damaged * 2 > sum(character > "\x7f" for character in text):
        return body.decode("cp1252", "replace")
    return text


def _codec(label: str | None) -> str | None:
    """Python's name for a charset label; None for what is no charset of pages."""
    if not label:
        return None
    try:
        found = codecs.lookup(label)
    except (LookupError, ValueError):
        return None
    if found.name in _NO_CHARSETS or not found._is_text_encoding:
        return None
    return _WINDOWS.get(found.name, found.name)
