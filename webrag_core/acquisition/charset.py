"""Bytes of a page to text as a browser reads them: byte order mark, HTTP header, then what the page itself says.

Labels are those of the Encoding Standard (webencodings). The scan for <meta> is our own: of the 82 pages of html5lib's
suite, resiliparse reads 70 in the right encoding and charset-normalizer 47.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

import webencodings

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# in these, bytes that are valid UTF-8 spell text that nobody writes ("Ã©"), so the declaration is what is wrong
_ONE_BYTE = ("cp125", "cp8", "iso8859", "koi8", "mac")
# Python's codecs that hold what browsers read under the name, or what <meta> means by it
_LARGER = {
    "gbk": "gb18030",
    "euc_jp": "euc_jis_2004",  # the only codec of Python with the circled digits and units of row 13
    "x-user-defined": "cp1252",
    "replacement": None,  # encodings that browsers refuse to read
}
# shares of the characters beyond ASCII
_LITTLE_DAMAGE, _MUCH_DAMAGE = 0.1, 0.5
_NAMES = {"euc_jis_2004": "EUC-JP", "big5hkscs": "Big5", "cp932": "Shift_JIS", "cp949": "EUC-KR"}
"""Names that people know, where Python's are others."""

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


def decode_page(body: bytes, declared: str | None) -> str:
    """Text of `body`; `declared` is the charset of the HTTP header. What cannot be decoded becomes U+FFFD."""
    for mark, _ in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(page_encoding(body, declared), "replace")
    return body.decode(page_encoding(body, declared), "replace")


def page_encoding(body: bytes, declared: str | None) -> str:
    """Python's name of the encoding of `body`; `declared` is the charset of the HTTP header.

    As browsers read it, with two exceptions. What is valid UTF-8 with more than ASCII in it is no one-byte encoding,
    whatever header or page say. A declaration by which the bytes are no text counts as missing. Pages without a usable
    declaration are UTF-8 when most of their non-ASCII characters are; else what their letters say.
    """
    return _reading(body, declared).encoding


def charset_warning(body: bytes, declared: str | None) -> str | None:
    """Why the text of `body` may be damaged, for people; None when header, page or letters are clear about it."""
    reading = _reading(body, declared)
    if reading.certain:
        return None
    name = _NAMES.get(reading.encoding, reading.encoding)
    return f"no charset is declared that fits the page; it is read as {name}, and letters may be wrong"


@dataclass(frozen=True, slots=True)
class _Reading:
    encoding: str
    certain: bool = True


def _reading(body: bytes, declared: str | None) -> _Reading:
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return _Reading(encoding)
    in_header = codec_of(declared)
    named = in_header or named_encoding(body)
    if body.isascii() or (named is not None and named.startswith("utf-16")):
        return _Reading(named or "cp1252")
    if named is not None and named != "utf-8" and in_header is None and not named.startswith(_ONE_BYTE):
        # East Asian pages keep their own word, as in browsers: their bytes may be valid UTF-8 by chance
        return _Reading(named, certain=not _is_mistaken(body, named))
    if named is not None and not _is_mistaken(body, named):
        return _Reading(named)
    damage = _damage(body, "utf-8")
    if damage <= _LITTLE_DAMAGE:
        return _Reading("utf-8")
    from webrag_core.acquisition.undeclared.guess import guess  # hardly any page needs it
    from webrag_core.acquisition.undeclared.hints import misspelt_label, page_language

    misspelt = codec_of(misspelt_label(body, declared))
    result = guess(body, misspelt=misspelt, language=page_language(body))
    if damage <= _MUCH_DAMAGE and not result.certain:
        return _Reading("utf-8", certain=False)
    if named is not None and not result.certain and not named.startswith("utf"):
        return _Reading(named, certain=False)
    return _Reading(result.encoding, result.certain)


def _is_mistaken(body: bytes, named: str) -> bool:
    """Whether the bytes of a page cannot be in the encoding that is declared."""
    if named == "utf-8":
        return _damage(body, named) > _LITTLE_DAMAGE
    if _is_utf8(body) if named.startswith(_ONE_BYTE) else _damage(body, named) > _LITTLE_DAMAGE:
        return True
    from webrag_core.acquisition.undeclared.guess import reads_like_text  # hardly any page needs it

    return not reads_like_text(body, named)


def _damage(body: bytes, encoding: str) -> float:
    """Share of the characters beyond ASCII that are damaged in an encoding, 0 to 1."""
    text = body.decode(encoding, "replace")
    damaged = text.count("\ufffd")
    return damaged / max(1, len(text) - len(text.encode("ascii", "ignore"))) if damaged else 0.0


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def codec_of(label: str | None) -> str | None:
    """Python's name of the codec for a charset label in any case; None for what is no charset of pages."""
    encoding = webencodings.lookup(label or "")
    if encoding is None:
        return None
    return _LARGER.get(encoding.codec_info.name, encoding.codec_info.name)


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
    result = scanned.find(end, position)
    return len(scanned) if result < 0 else result + len(end)


def _attributes(scanned: bytes, position: int) -> tuple[dict[bytes, bytes], int]:
    """Attributes of the tag at `position`, names and values in lower case, and where the tag ends.

    A tag that the bytes do not finish has no attributes and ends beyond them.
    """
    attributes: dict[bytes, bytes] = {}
    while match := _NAME.match(scanned, position):
        position = match.end()
        if match.group(1) is None:
            return attributes, position
        value: re.Match[bytes] | None = None
        if equals := _EQUALS.match(scanned, position):
            value = _VALUE.match(scanned, equals.end())
            if value is None:
                break
            position = value.end()
        attributes.setdefault(match.group(1).lower(), _group(value) if value else b"")
    return {}, len(scanned) + 1


def _of_meta(attributes: dict[bytes, bytes]) -> str | None:
    """What one <meta> names; its own `charset` wins over that of its `content`, whichever stands first."""
    label = attributes.get(b"charset")
    if label is None and attributes.get(b"http-equiv", b"").lower() == b"content-type":
        content = _IN_CONTENT.search(attributes.get(b"content", b""))
        label = _group(content) if content else None
    return _not_wide(codec_of(label.decode("latin-1"))) if label is not None else None


def _group(match: re.Match[bytes]) -> bytes:
    return next((group for group in match.groups() if group is not None), b"")


def _not_wide(codec: str | None) -> str | None:
    return "utf-8" if codec is not None and codec.startswith(("utf-16", "utf-32")) else codec
