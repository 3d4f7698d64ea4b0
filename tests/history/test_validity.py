"""Reading by validity: which text holds on a day, by what the texts say of themselves."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules
from webrag_core.config import Settings
from webrag_core.corpus.in_force import SeenVersion, holding
from webrag_core.corpus.stated_dates import Statement, ValidityBasis
from webrag_core.corpus.validity import StatedVersion
from webrag_core.corpus.validity_phrases import ValidityKind
from webrag_core.errors import InvalidInputError
from webrag_core.history.as_of import AsOf
from webrag_core.history.pages import page_at, versions
from webrag_core.history.past_search import search_at
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.request import SearchRequest

TERMS, PLAIN = f"{HOME}terms", f"{HOME}plain"
QUESTION = "How high is the yearly fee of a member?"


def terms(first_line: str, fee: int) -> str:
    return html("Terms", first_line, f"The yearly fee of a member is {fee} crowns, and is paid in spring.")


def day(text: str) -> date:
    return date.fromisoformat(text)


def stated(
    version: int,
    start: str | None,
    end: str | None = None,
    kind: ValidityKind = "in_force",
    basis: ValidityBasis = "text",
) -> StatedVersion:
    return StatedVersion(version, Statement(kind, start and day(start), end and day(end), basis))  # type: ignore[arg-type]


def seen(*first: str | None) -> list[SeenVersion]:
    return [SeenVersion(number, number, at and day(at)) for number, at in enumerate(first, start=1)]  # type: ignore[arg-type]


TWO = seen("2023-12-01", "2024-12-01")


@pytest.mark.parametrize(
    ("at", "seen_versions", "statements", "expected"),
    [
        ("2024-06-01", TWO, [stated(1, "2024-01-01"), stated(2, "2025-01-01")], ("certain", 1)),
        ("2024-12-31", TWO, [stated(1, "2024-01-01"), stated(2, "2025-01-01")], ("certain", 1)),
        ("2025-01-01", TWO, [stated(1, "2024-01-01"), stated(2, "2025-01-01")], ("certain", 2)),
        ("2023-12-31", TWO, [stated(1, "2024-01-01"), stated(2, "2025-01-01")], ("not_in_force", None)),
        # half-open: the day after the last is out; a gap between two times is none's
        ("2024-07-01", TWO, [stated(1, "2024-01-01", "2024-07-01"), stated(2, "2025-01-01")], ("not_in_force", None)),
        ("2024-06-30", TWO, [stated(1, "2024-01-01", "2024-07-01"), stated(2, "2025-01-01")], ("certain", 1)),
        # a text that says nothing may hold at any time, and ends what had no end
        ("2023-06-01", TWO, [stated(1, "2024-01-01")], ("not_stated", None)),
        ("2024-06-01", TWO, [stated(1, "2024-01-01")], ("certain", 1)),
        ("2024-12-01", TWO, [stated(1, "2024-01-01")], ("not_stated", None)),
        ("2024-12-01", TWO, [stated(1, "2024-01-01", "2025-01-01")], ("certain", 1)),
        ("2024-06-01", TWO, [], ("not_stated", None)),
        # kinds are apart
        ("2024-06-01", TWO, [stated(1, "2024-01-01", kind="published")], ("not_stated", None)),
        ("2024-06-01", TWO[:1], [stated(1, "2024-01-01", kind="applicable")], ("certain", 1)),
        (
            "2017-01-01",
            TWO[:1],
            [stated(1, "2016-05-24"), stated(1, "2018-05-25", kind="applicable")],
            ("certain", 1),
        ),
        # a day on which it holds says nothing of other days
        ("2016-04-07", TWO[:1], [stated(1, "2016-04-07", "2016-04-08", basis="metadata")], ("certain", 1)),
        ("2016-04-08", TWO[:1], [stated(1, "2016-04-07", "2016-04-08", basis="metadata")], ("not_stated", None)),
        # a history without credible dates says between which days
        (
            "1950-01-01",
            seen(None, "2024-01-01"),
            [stated(1, "1940-01-01", "1960-01-01", basis="undated"), stated(1, "1960-01-01", basis="history")],
            ("not_stated", None),
        ),
        # a text that came back
        (
            "2015-01-01",
            seen(None, None),
            [stated(1, "2000-01-01", "2005-01-01"), stated(2, "2005-01-01", "2010-01-01"), stated(1, "2010-01-01")],
            ("certain", 1),
        ),
    ],
)
def test_what_holds_on_a_day(
    at: str, seen_versions: list[SeenVersion], statements: list[StatedVersion], expected: tuple[str, int | None]
) -> None:
    answer = holding(day(at), seen_versions, statements)
    assert (answer.certainty, answer.chosen and answer.chosen.version_id) == expected


def test_pages_are_read_and_searched_by_validity(settings: Settings) -> None:
    async def work() -> None:
        site = ServedPages({TERMS: terms("Effective 1 January 2024", 10), PLAIN: terms("Welcome to the house", 99)})
        async with Corpus.open(settings, site) as corpus:
            for url in site.pages:
                await corpus.add(url)
            site.pages[TERMS] = terms("Effective 1 January 2199", 12)
            await corpus.add(TERMS, refresh=True)

            for at, certainty, version in (
                ("2024-06-01", "certain", 1),
                ("2023", "not_in_force", None),
                ("2198-12", "certain", 1),
                ("2199-01-01", "certain", 2),  # ahead, and stated already
            ):
                found = await page_at(corpus.database, TERMS, AsOf.parse(at), "valid")
                assert (found.certainty, found.version, found.time) == (certainty, version, "valid"), at
                assert found.at == at
            early = await page_at(corpus.database, TERMS, AsOf.parse("2023-12-31"), "valid")
            assert (early.previous_version, early.next_version) == (None, 1)
            assert early.note == ("no version holds on 2023-12-31: version 1 says that it is in force from 2024-01-01")
            plain = await page_at(corpus.database, PLAIN, AsOf.parse("2024-06-01"), "valid")
            assert (plain.certainty, plain.note) == ("not_stated", "no version of the page says when it holds")
            # what was seen is another question
            assert (await page_at(corpus.database, TERMS, AsOf.parse("2024-06-01"))).certainty == "not_seen"
            story = await versions(corpus.database, TERMS)
            assert [(one.version, one.start) for one in story.stated] == [
                (1, date(2024, 1, 1)),
                (2, date(2199, 1, 1)),
            ]
            request = SearchRequest(query=QUESTION)
            for at, fee in (("2024-06-01", "10 crowns"), ("2199-06-01", "12 crowns")):
                results = await search_at(corpus, request, AsOf.parse(at), time="valid")
                assert {one.source_url for one in results.citations} == {TERMS}
                assert fee in results.citations[0].verbatim_text
                assert "pages left out, without a word on when they hold: 1" in results.warnings
            before = await search_at(corpus, request, AsOf.parse("2023"), time="valid")
            assert before.is_empty
            assert "pages left out, not in force then: 1" in before.warnings
            with pytest.raises(InvalidInputError, match="in the future"):
                await search_at(corpus, request, AsOf.parse("2199"))
            assert not await broken_rules(corpus.database)

    asyncio.run(work())
