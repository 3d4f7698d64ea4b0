"""Charset labels as the Encoding Standard reads them, mapped to Python's codecs."""

from __future__ import annotations

import codecs
import re

# pages that name the key mean the larger code page that contains it, for every browser
_MEANT = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_jp": "euc_jis_2004",  # the only codec of Python with the circled digits and units of row 13
    "euc_kr": "cp949",
    "utf-16": "utf-16-le",
}

# the standard's labels that Python does not know, by Python's name
_ALIASES = {
    alias: codec
    for codec, aliases in {
        "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
        "iso8859-2": "iso88592",
        "iso8859-3": "iso88593",
        "iso8859-4": "iso88594",
        "iso8859-5": "iso88595",
        "iso8859-6": "csiso88596e csiso88596i iso-8859-6-e iso-8859-6-i iso88596",
        "iso8859-7": "iso88597 sun_eu_greek",
        "iso8859-8": "csiso88598e csiso88598i iso-8859-8-e iso-8859-8-i iso88598 logical visual",
        "iso8859-10": "iso885910",
        "iso8859-13": "iso885913",
        "iso8859-14": "iso885914",
        "iso8859-15": "csisolatin9 iso885915",
        "koi8-r": "koi koi8",
        "koi8-u": "koi8-ru",
        "mac-roman": "csmacintosh mac x-mac-roman",
        "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
        "cp874": "dos-874 iso885911 windows-874",
        "cp1250": "x-cp1250",
        "cp1251": "x-cp1251",
        # x-user-defined in a page means windows-1252
        "cp1252": "iso88591 x-cp1252 x-user-defined",
        "cp1253": "x-cp1253",
        "cp1254": "iso88599 x-cp1254",
        "cp1255": "x-cp1255",
        "cp1256": "x-cp1256",
        "cp1257": "x-cp1257",
        "cp1258": "x-cp1258",
        "gb18030": "csgb2312 gb_2312 gb_2312-80 x-gbk",
        "big5hkscs": "cn-big5 x-x-big5",
        "euc_jp": "cseucpkdfmtjapanese x-euc-jp",
        "cp932": "windows-31j x-sjis",
        "cp949": "cseuckr csksc56011987 iso-ir-149 ks_c_5601-1989 ksc_5601 windows-949",
        "utf-16-be": "unicodefffe",
        "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff",
    }.items()
    for alias in aliases.split()
}

# text codecs to Python, but no page is written in them
_NO_CHARSETS = {"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "utf-7", "mbcs", "oem"}
# Python also finds codecs under names with quotes, slashes and blanks in them
_LABEL = re.compile(r"[a-z0-9_.:-]{1,40}")


def codec_of(label: str | None) -> str | None:
    """Python's name of the codec for a charset label in any case; None for what is no charset of pages."""
    name = (label or "").strip("\t\n\f\r ").lower()
    if not _LABEL.fullmatch(name):
        return None
    try:
        found = codecs.lookup(_ALIASES.get(name, name))
    except (LookupError, ValueError):
        return None
    if found.name in _NO_CHARSETS or not found._is_text_encoding:
        return None
    return _MEANT.get(found.name, found.name)
