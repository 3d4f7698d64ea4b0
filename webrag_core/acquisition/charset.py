"""Bytes of a page to text as a browser reads them: byte order mark, HTTP header, then what the page itself says."""

from __future__ import annotations

import codecs

from webrag_core.acquisition.charset_labels import codec_of
from webrag_core.acquisition.charset_prescan import named_encoding

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# in these, bytes that are valid UTF-8 spell text that nobody writes ("Ã©"), so the declaration is what is wrong
_ONE_BYTE = ("cp125", "cp8", "iso8859", "koi8", "mac")


def decode_page(body: bytes, declared: str | None) -> str:
    """Text of `body`; `declared` is the charset of the HTTP header. What cannot be decoded becomes U+FFFD."""
    for mark, _ in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(page_encoding(body, declared), "replace")
    return body.decode(page_encoding(body, declared), "replace")


def page_encoding(body: bytes, declared: str | None) -> str:
    """Python's name of the encoding of `body`; `declared` is the charset of the HTTP header.

    Pages without a usable declaration are UTF-8 when most of their non-ASCII characters are, else Windows-1252.
    A page that names a one-byte encoding and is valid UTF-8 with more than ASCII in it is UTF-8: this alone
    differs from browsers, which show such a page damaged.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return encoding
    known = codec_of(declared)
    if known is not None:
        return known
    named = named_encoding(body)
    if named is not None and (not named.startswith(_ONE_BYTE) or body.isascii() or not _is_utf8(body)):
        return named
    if body.isascii():
        return "cp1252"
    text = body.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    return "cp1252" if damaged * 2 > sum(character > "\x7f" for character in text) else "utf-8"


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
