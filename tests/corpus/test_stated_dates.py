"""Dates that texts and structured data state about themselves, and lines that only look like it."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webrag_core.corpus.stated_dates import read_statements
from webrag_core.corpus.stated_metadata import metadata_statements

STATED = [
    ("Effective January 1, 2024", "in_force", "2024-01-01", None),
    ("**Effective date:** January 1, 2024", "in_force", "2024-01-01", None),
    ("| Effective date | 1 January 2024 |", "in_force", "2024-01-01", None),
    ("Valid from 1 May 2020 until 30 April 2021", "in_force", "2020-05-01", "2021-05-01"),
    ("Valid until 31 December 2024", "in_force", None, "2025-01-01"),
    ("Repealed on 1 March 2019.", "in_force", None, "2019-03-01"),
    ("In force since 24 May 2016", "in_force", "2016-05-24", None),
    ("Applicable from 25 May 2018", "applicable", "2018-05-25", None),
    ("Last updated: Monday, May 6, 2024 12:30 UTC", "published", "2024-05-06", None),
    ("*Last updated on May 3rd, 2023.*", "published", "2023-05-03", None),
    ("Last modified: 2024-05-01T10:00:00Z", "published", "2024-05-01", None),
    ("Released on 2024-06-01", "release", "2024-06-01", None),
    ("Gültig vom 1. Januar 2024 bis 31. Dezember 2024", "in_force", "2024-01-01", "2025-01-01"),
    ("In Kraft seit dem 01.01.2024", "in_force", "2024-01-01", None),
    ("Inkrafttreten: 1.1.2005", "in_force", "2005-01-01", None),
    ("Außer Kraft seit 1. Juli 2010", "in_force", None, "2010-07-01"),
    ("Stand: 1. Januar 2024", "published", "2024-01-01", None),
    ("Version en vigueur depuis le 1er octobre 2016", "in_force", "2016-10-01", None),
    ("Version en vigueur du 01 janvier 2005 au 30 septembre 2016", "in_force", "2005-01-01", "2016-10-01"),
    ("Entrée en vigueur le 24 mars 1804", "in_force", "1804-03-24", None),
    ("Dernière mise à jour : lundi 3 avril 2024", "published", "2024-04-03", None),
    ("Mis à jour le 03/04/2024", "published", "2024-04-03", None),
    ("in vigore dal 1° gennaio 2020", "in_force", "2020-01-01", None),
    ("Ultimo aggiornamento: 5 maggio 2023", "published", "2023-05-05", None),
    ("Aggiornato al 05/06/2023", "published", "2023-06-05", None),
]


@pytest.mark.parametrize(("line", "kind", "start", "end"), STATED)
def test_a_line_states_a_time(line: str, kind: str, start: str | None, end: str | None) -> None:
    text = f"# Terms of the house\n\n{line}\n\nWhoever enters agrees to them.\n"
    (found,) = read_statements(text)
    assert (found.kind, found.basis) == (kind, "text")
    assert (found.start, found.end) == (start and date.fromisoformat(start), end and date.fromisoformat(end))
    assert found.char_start is not None
    assert text[found.char_start : found.char_end] in line
    assert text[found.char_start].isalpha()


@pytest.mark.parametrize(
    "line",
    [
        "Effective January 1, 2024, the fee is ten dollars.",  # about the fee
        "Effective January 1, 2024 we changed the fee",
        "The act came into force on 1 January 2024",  # some act
        "Last updated 03/04/2024",  # March or April?
        "> Effective 2024-01-01",  # somebody else's words
        "Valid until 31 February 2024",
        "Effective 2024-13-01",
        "Effectively 2024-01-01",
        "Effective 2024-01-01\n\nEffective 2025-01-01",  # of two sections
        "```\nEffective 2024-01-01\n```",
        "Valid from 2024-05-01 to 2023-05-01",
        "Updated rules",
        "Released 12 May",
    ],
)
def test_a_line_that_only_looks_like_it(line: str) -> None:
    assert read_statements(f"# Terms of the house\n\n{line}\n\nWhoever enters agrees to them.\n") == []


def test_where_a_line_stands() -> None:
    body = "\n\n".join(f"Paragraph {number} says something." for number in range(30))
    deep = f"# Terms\n\n{body}\n\n## Fees\n\nEffective 2024-01-01\n\n{body}\n\nLast updated on 2 May 2023\n"
    assert [(one.kind, one.start) for one in read_statements(deep)] == [("published", date(2023, 5, 2))]
    apart = "# Terms\n\nEffective: 2024-01-01\nValid until: 2024-12-31\nLast updated: 2023-12-01\n"
    assert [(one.kind, one.start, one.end) for one in read_statements(apart)] == [
        ("in_force", date(2024, 1, 1), date(2025, 1, 1)),
        ("published", date(2023, 12, 1), None),
    ]


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="Effective validin kraft seit 0123456789.-/|*_#>`\n,äÄ:", max_size=400))
def test_any_text_is_read(text: str) -> None:
    for one in read_statements(text):
        assert one.char_start is not None
        assert one.char_end is not None
        assert 0 <= one.char_start < one.char_end <= len(text)


def test_structured_data_states_times() -> None:
    law = {
        "@type": "Legislation",
        "temporalCoverage": "2016-05-24/..",
        "legislationDateOfApplicability": "2018-05-25",
        "legislationDateVersion": "2016-05-04",
    }
    assert [(one.kind, one.start, one.end, one.basis) for one in metadata_statements([law])] == [
        ("in_force", date(2016, 5, 24), None, "metadata"),
        ("applicable", date(2018, 5, 25), None, "metadata"),
    ]
    page = {"@type": ["WebPage"], "validFrom": "2024-01-01T00:00:00Z", "validThrough": "2024-12-31"}
    assert [(one.start, one.end) for one in metadata_statements([page])] == [(date(2024, 1, 1), date(2025, 1, 1))]
    of_a_day = metadata_statements([{"@type": "LegislationObject", "legislationDateVersion": "2016-04-07"}])
    assert [(one.start, one.end) for one in of_a_day] == [(date(2016, 4, 7), date(2016, 4, 8))]


@pytest.mark.parametrize(
    "node",
    [
        {"@type": "Offer", "validFrom": "2024-01-01"},
        {"@type": "Book", "temporalCoverage": "1939/1945"},
        {"@type": "WebPage", "temporalCoverage": "1939-09-01/1945-05-08"},  # its subject
        {"@type": "Legislation", "temporalCoverage": "2016"},
        {"@type": "WebPage", "validFrom": "soon", "validThrough": 2024},
        {"@type": "WebPage", "validFrom": "2024-05-01", "validThrough": "2023-05-01"},
        {"validFrom": "2024-01-01"},
        {"@type": 7, "validFrom": "2024-01-01"},
    ],
)
def test_structured_data_about_something_else(node: dict[str, object]) -> None:
    assert metadata_statements([node]) == []


def test_nodes_that_contradict_each_other() -> None:
    nodes = [{"@type": "WebPage", "validFrom": day} for day in ("2024-01-01", "2025-01-01")]
    assert metadata_statements(nodes) == []
    assert len(metadata_statements([nodes[0], nodes[0]])) == 1
