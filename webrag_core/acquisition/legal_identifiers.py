"""Identifiers of laws: URN:NIR (Italy), ELI (European Legislation Identifier) and IRIs of Akoma Ntoso.

Each names a work; it may name a part of it, and a day: of the version that is meant. Pure; nothing is looked up.
Normattiva and EUR-Lex were never asked: their identifiers are read as their documentation shows them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlsplit

from webrag_core.errors import InvalidInputError

_URN_NIR = re.compile(
    r"(?P<work>urn:nir:[^~!@\s]+)(?:@(?P<version>[^~!\s]*))?(?:~(?P<part>[^!\s]+))?(?:!vig=?(?P<day>[\d-]*))?",
    re.IGNORECASE,
)
_AKN = re.compile(
    r"(?P<work>/akn/[^/@#~\s]+/[^/@#~\s]+/[^@#~\s]+?)(?:/(?P<language>[a-z]{3})(?:@(?P<day>[\d-]*)[^#~\s]*)?)?"
    r"(?:/?[#~](?P<part>[\w.-]+)|/)?",
    re.IGNORECASE,
)
_ELI_PART = re.compile(r"(?:anx|art|cha|cpt|par|pnt|pt|rct|sct|sec|tis|tit)_[\w.-]+", re.IGNORECASE)
_ELI_END = re.compile(r"oj|jo|texte|alio|fac|[a-z]{2,3}", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-?\d\d-?\d\d")
_LEAST_ELI = 4  # segments of a work: type, year, number, and what stands before


@dataclass(frozen=True, slots=True)
class LegalIdentifier:
    """A law, by the identifier of its work; `part`, `day` and `language` (ISO 639-2) None where they are not given."""

    work: str
    part: str | None = None
    day: date | None = None
    language: str | None = None


def parse_legal_identifier(text: str) -> LegalIdentifier | None:
    """Read an identifier; None for anything else, an address without `/eli/` among it. Raises InvalidInputError for a
    day that does not exist."""
    text = text.strip()
    if (urn := _URN_NIR.fullmatch(text)) is not None:
        version = (urn["version"] or "")[:10]
        return LegalIdentifier(
            urn["work"], urn["part"], _day(urn["day"]) or _day(version if version[:1].isdigit() else "")
        )
    if (iri := _AKN.fullmatch(text)) is not None:
        return LegalIdentifier(iri["work"].rstrip("/"), iri["part"], _day(iri["day"]), iri["language"])
    return _eli(text)


def _eli(text: str) -> LegalIdentifier | None:
    try:
        address = urlsplit(text)
    except ValueError:  # a bracket that is left open
        return None
    before, eli, path = address.path.partition("/eli/")
    segments = [word for word in path.split("/") if word]
    if not eli or len(segments) < _LEAST_ELI - 1 or address.query or any(map(str.isspace, text)):
        return None
    part = day = None
    while len(segments) > 3:  # from the end: language, journal, version, parts
        last = segments[-1]
        if _ELI_PART.fullmatch(last):
            part = part or last
        elif _DAY.fullmatch(last):
            day = _day(last)
        elif not _ELI_END.fullmatch(last):
            break
        segments.pop()
    root = f"{address.scheme}://{address.netloc}" if address.netloc else ""
    return LegalIdentifier(f"{root}{before}/eli/{'/'.join(segments)}", part or address.fragment or None, day)


def _day(text: str | None) -> date | None:
    if not text:
        return None
    digits = text.replace("-", "")
    try:
        return date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        raise InvalidInputError(f"{text!r} in the identifier is no day; write it as 2013-01-31") from None
