"""Which charset the bytes of a page are in, where nothing that can be relied on says so.

Every charset of browsers is tried, each with the languages that are written in it: the text that costs the fewest bits
wins. What the page hints at (its language, a misspelt declaration) counts as so many bits less.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from webrag_core.acquisition.undeclared.letters import cost, languages, spelling

_WESTERN = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "is", "ca")
_CENTRAL = ("pl", "cs", "sk", "hu", "ro", "sl", "sh", "de", "en")
_CYRILLIC = ("ru", "uk", "bg", "sr", "mk")
# Python's name of a charset: languages that are written in it, and bits that it costs because few pages use it
_LATIN_CHARSETS: dict[str, tuple[tuple[str, ...], float]] = {
    "cp1252": (_WESTERN, 0.0),
    "cp1250": (_CENTRAL, 2.0),
    "iso8859-2": (_CENTRAL, 2.0),
    "cp1254": (("tr",), 2.0),
    "cp1257": (("lt", "lv"), 2.0),
    "iso8859-15": (_WESTERN, 8.0),
    "mac-roman": (_WESTERN, 14.0),
}
_CHARSETS = _LATIN_CHARSETS | {
    "cp1251": (_CYRILLIC, 2.0),
    "koi8-u": (("ru", "uk"), 2.0),  # KOI8-R with four more letters
    "iso8859-5": (_CYRILLIC, 4.0),
    "cp866": (("ru", "uk"), 4.0),
    "mac-cyrillic": (_CYRILLIC, 6.0),
    "cp1253": (("el",), 2.0),
    "iso8859-7": (("el",), 3.0),
    "cp1255": (("he",), 2.0),
    "cp1256": (("ar",), 2.0),
    "iso8859-6": (("ar",), 4.0),
    "cp874": (("th",), 2.0),
    "gb18030": (("zh",), 2.0),
    "big5hkscs": (("zh-hant",), 2.0),
    "cp932": (("ja",), 2.0),
    "euc_jis_2004": (("ja",), 2.0),
    "cp949": (("ko",), 2.0),
}
_ALIKE = {"sh": ("hr", "bs", "sr"), "nb": ("no", "nn"), "uk": ("be",), "ca": ("oc",), "es": ("gl",)}
"""Other codes in `lang` by which a language of the table is meant."""

_UNKNOWN_LATIN = frozenset(
    ("sq", "et", "eu", "ga", "gd", "cy", "br", "fo", "af", "lb", "fy", "rm", "mt", "id", "ms", "sw")
)
"""Languages without a table of which most pages are in Windows-1252."""

_MISSPELT_BITS, _LANGUAGE_BITS = 60.0, 25.0
_MARGIN = 12.0
# bits per letter: 99 of 100 texts in the right charset cost at most the first, short ones more
_LIKE_TEXT, _SHORT_TEXT = 4.9, 8.0

_READ_BYTES = 512 * 1024
_SAMPLE_BYTES = 1_600
_HIDDEN = (b"script", b"style")
_TAG = re.compile(rb"<[^<>]*>|&#?\w{1,12};")


@dataclass(frozen=True, slots=True)
class Guess:
    """Python's name of a charset. `certain`: no other one comes near, and the text reads like text."""

    encoding: str
    certain: bool


def guess(body: bytes, *, misspelt: str | None = None, language: str | None = None) -> Guess:
    """The likeliest charset of a page with bytes beyond ASCII.

    `misspelt` is Python's name of the charset that something like a declaration names, `language` a code of BCP 47.
    """
    sample = text_sample(body)
    known = languages()
    hinted = _decoded(sample, misspelt) if misspelt is not None else None
    texts: dict[str, float] = {}
    best, fewest = "cp1252", math.inf
    for encoding, (written, rarity) in _CHARSETS.items():
        text = sample.decode(encoding, "replace")
        spelled = spelling(text)
        bits = rarity + min(cost(spelled, known[code], known["en"]) - _bonus(code, language) for code in written)
        if text == hinted:
            bits -= _MISSPELT_BITS
        texts[text] = min(bits, texts.get(text, bits))
        if bits < fewest:
            best, fewest = encoding, bits
    costs = sorted((*texts.values(), math.inf))
    if best in _LATIN_CHARSETS and sample.decode(best, "replace") != hinted:
        if language is not None and re.split("[-_]", language.lower())[0] in _UNKNOWN_LATIN:
            return Guess("cp1252", certain=True)
        if not _is_like_text(fewest, sample):  # a language that the table lacks
            return Guess("cp1252", certain=False)
    return Guess(best, certain=costs[1] - costs[0] >= _MARGIN and _is_like_text(fewest, sample))


def reads_like_text(body: bytes, encoding: str) -> bool:
    """Whether the words of a page in a charset are like words of a language that is written in it.

    True for a charset whose languages the table lacks.
    """
    if encoding not in _CHARSETS:
        return True
    sample, known = text_sample(body), languages()
    spelled = spelling(sample.decode(encoding, "replace"))
    written, _ = _CHARSETS[encoding]
    return _is_like_text(min(cost(spelled, known[code], known["en"]) for code in written), sample, spare=2.0)


def _is_like_text(bits: float, sample: bytes, *, spare: float = 0.0) -> bool:
    letters = sum(byte > 0x7F or chr(byte).isalpha() for byte in sample) or 1
    return bits / letters <= _LIKE_TEXT + spare + _SHORT_TEXT / math.sqrt(letters)


def _decoded(sample: bytes, encoding: str) -> str | None:
    try:
        return sample.decode(encoding)
    except UnicodeDecodeError:
        return None


def _bonus(code: str, language: str | None) -> float:
    if not language:
        return 0.0
    primary, *subtags = re.split("[-_]", language.lower())
    traditional = primary == "zh" and bool({"tw", "hk", "mo", "hant"} & set(subtags))
    if code.startswith("zh"):
        return _LANGUAGE_BITS if primary == "zh" and traditional == (code == "zh-hant") else 0.0
    return _LANGUAGE_BITS if primary == code or primary in _ALIKE.get(code, ()) else 0.0


def text_sample(body: bytes) -> bytes:
    """Words of a page's text, some 1,600 bytes: those with bytes beyond ASCII and their neighbours come first."""
    words = _TAG.sub(b" ", _without_scripts(body[:_READ_BYTES])).split()
    near = {place for at, word in enumerate(words) if not word.isascii() for place in (at - 1, at, at + 1)}
    first = [word for at, word in enumerate(words) if at in near]
    rest = [word for at, word in enumerate(words) if at not in near]
    return b" ".join(_until_full([*first, *rest]))


def _until_full(words: list[bytes]) -> Iterator[bytes]:
    left = _SAMPLE_BYTES
    for word in words:
        if left <= 0:
            return
        left -= len(word) + 1
        yield word[:_SAMPLE_BYTES]


def _without_scripts(body: bytes) -> bytes:
    for name in _HIDDEN:
        lower = body.lower()
        kept, position = [], 0
        while (start := lower.find(b"<" + name, position)) >= 0:
            end = lower.find(b"</" + name, start)
            if end < 0:
                break
            kept.append(body[position:start])
            position = end
        body = b"".join((*kept, body[position:]))
    return body
