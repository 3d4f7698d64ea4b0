"""What a page hints at where it declares no charset: something like a declaration, and its language."""

from __future__ import annotations

import re
from functools import lru_cache

import webencodings

_SCAN_BYTES = 65_536
_META = re.compile(rb"<meta\b[^<>]*", re.IGNORECASE)
_CHARSET = re.compile(rb"charset\s*=[\s\"']*([\w.:&#;\- ]{2,40})", re.IGNORECASE)
_CODE = rb"\s*=\s*[\"']?([a-zA-Z]{2,3}(?:[-_]\w{2,8})*)"
_LANGUAGE = re.compile(rb"<(?:html|body)\b[^<>]*?\b(?:xml:)?lang" + _CODE, re.IGNORECASE)
_CONTENT = re.compile(rb"\bcontent" + _CODE, re.IGNORECASE)
_NOT_OF_NAME = re.compile("[^a-z0-9]")
# how the name begins or ends when only letters and digits are left, and the label that is meant
_FAMILIES = (
    ("(?:x?gb|cngb|hzgb|euccn)", "gb18030"),
    ("x?big5", "big5"),
    ("x?eucjp|ujis", "euc-jp"),
    ("x?s(?:hift)?jis|cp932|ms932", "shift_jis"),
    ("x?euckr|ksc?5601|ksc|uhc|cp949|ms949", "euc-kr"),
    ("koi8u", "koi8-u"),
    ("koi8", "koi8-r"),
    ("x?utf8|unicode", "utf-8"),
)
_CODE_PAGE = re.compile(r"(?:^|\D)(125[0-8]|874|866)$")
_ISO = re.compile(r"8859(\d{1,2})")


def misspelt_label(body: bytes, declared: str | None) -> str | None:
    """The charset's label that a page means which declares it in a way that browsers do not read.

    `declared` is what the HTTP header says. None when nothing like it is there.
    """
    named = [declared] if declared else []
    for meta in _META.finditer(body[:_SCAN_BYTES]):
        named += [match.group(1).decode("latin-1") for match in _CHARSET.finditer(meta.group())]
    return next((label for name in named if (label := _meant(name)) is not None), None)


def _meant(name: str) -> str | None:
    plain = _NOT_OF_NAME.sub("", re.sub(r"&#?\w+;", "", name.lower()))
    if plain in _labels():
        return _labels()[plain]
    for beginning, label in _FAMILIES:
        if re.match(beginning, plain):
            return label
    if match := _CODE_PAGE.search(plain):
        return {"874": "windows-874", "866": "ibm866"}.get(match.group(1), f"windows-{match.group(1)}")
    if match := _ISO.search(plain):
        return _labels().get(f"iso8859{match.group(1)}")
    return None


@lru_cache(maxsize=1)
def _labels() -> dict[str, str]:
    """Every label of the Encoding Standard by its letters and digits."""
    return {_NOT_OF_NAME.sub("", label): label for label in webencodings.LABELS}


def page_language(body: bytes) -> str | None:
    """The language that a page states of itself, a code as BCP 47 writes it; None where it states none."""
    scanned = body[:_SCAN_BYTES]
    match = _LANGUAGE.search(scanned)
    for meta in _META.finditer(scanned):
        if match is not None:
            break
        if b"content-language" in meta.group().lower():
            match = _CONTENT.search(meta.group())
    return match.group(1).decode("ascii", "replace") if match else None
