"""Identifiers of laws as they are written: the work, a part of it, the day of the version."""

from __future__ import annotations

from datetime import date

import pytest

from webrag_core.acquisition.legal_identifiers import LegalIdentifier, parse_legal_identifier
from webrag_core.errors import InvalidInputError

LAW = "urn:nir:stato:legge:1990-08-07;241"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LAW, LegalIdentifier(LAW)),
        (f"{LAW}~art2!vig=2010-01-01", LegalIdentifier(LAW, "art2", date(2010, 1, 1))),
        (f"{LAW}~art2-com1", LegalIdentifier(LAW, "art2-com1")),
        (f"{LAW}@2005-03-17!vig=", LegalIdentifier(LAW, None, date(2005, 3, 17))),
        ("/akn/it/act/1990-08-07/241", LegalIdentifier("/akn/it/act/1990-08-07/241")),
        (
            "/akn/it/act/1990-08-07/241/ita@2010-01-01/~art_2",
            LegalIdentifier("/akn/it/act/1990-08-07/241", "art_2", date(2010, 1, 1), "ita"),
        ),
        ("/akn/us/act/2011-11-29/112-61/eng@", LegalIdentifier("/akn/us/act/2011-11-29/112-61", language="eng")),
        (
            "/akn/us/act/2011-11-29/112-61/eng/~sec_1",
            LegalIdentifier("/akn/us/act/2011-11-29/112-61", "sec_1", language="eng"),
        ),
        ("http://data.europa.eu/eli/reg/2016/679/oj", LegalIdentifier("http://data.europa.eu/eli/reg/2016/679")),
        (
            "http://data.europa.eu/eli/reg/2016/679/art_5/oj/eng",
            LegalIdentifier("http://data.europa.eu/eli/reg/2016/679", "art_5"),
        ),
        (
            "http://data.europa.eu/eli/reg/2016/679/2016-05-04",
            LegalIdentifier("http://data.europa.eu/eli/reg/2016/679", None, date(2016, 5, 4)),
        ),
        ("/eli/loi/2010/7/5/JUSX0908871L/jo/texte", LegalIdentifier("/eli/loi/2010/7/5/JUSX0908871L")),
    ],
)
def test_an_identifier_names_work_part_and_day(text: str, expected: LegalIdentifier) -> None:
    assert parse_legal_identifier(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "urn:isbn:123", "https://example.org/elite/page", "https://example.org/eli/", "two words /eli/a/b/c", "akn"],
)
def test_other_texts_are_no_identifiers(text: str) -> None:
    assert parse_legal_identifier(text) is None


@pytest.mark.parametrize("text", [f"{LAW}!vig=2010-02-31", "/akn/it/act/1990-08-07/241/ita@2013-99-99"])
def test_a_day_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="is no day"):
        parse_legal_identifier(text)
