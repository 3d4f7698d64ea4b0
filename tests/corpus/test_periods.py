"""Periods: any order of the same sightings tells the same story, through refreshes, archives and old corpora."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.corpora import broken_rules, rows
from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.corpus.periods import Period, Sighting, basis_of, load_periods, periods_of, record_sighting
from webrag_core.indexing.pipeline import Corpus

DAY = datetime(2026, 1, 1, tzinfo=UTC)


def at(day: float) -> datetime:
    return DAY + timedelta(days=day)


def spans(periods: Sequence[Period]) -> list[tuple[int | None, datetime, datetime, datetime | None]]:
    return [(one.version_id, one.seen_from, one.seen_last, one.seen_until) for one in periods]


def seen(day: float, version: int | None, acquirer: str = "http") -> Sighting:
    return Sighting(at(day), version, acquirer, basis_of(acquirer))


def test_a_text_that_came_back_has_two_periods() -> None:
    story = periods_of([seen(1, 7), seen(2, 7), seen(4, 8), seen(5, None), seen(9, 7)])
    assert spans(story) == [
        (7, at(1), at(2), at(4)),
        (8, at(4), at(4), at(5)),
        (None, at(5), at(5), at(9)),
        (7, at(9), at(9), None),
    ]


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from([1, 2, 3, None])), max_size=40), st.randoms())
def test_any_order_gives_the_same_periods(sightings: list[tuple[int, int | None]], random: object) -> None:
    known = [seen(day, version) for day, version in sightings]
    shuffled = sorted(known, key=lambda _: random.random())  # type: ignore[attr-defined]
    periods = periods_of(known)
    assert periods_of(shuffled) == periods
    for earlier, later in pairwise(periods):
        assert earlier.seen_from <= earlier.seen_last < later.seen_from == earlier.seen_until
        assert earlier.version_id != later.version_id
    assert [one.seen_until for one in periods[-1:]] in ([], [None])


def test_late_sightings_are_inserted_where_they_belong(settings: Settings) -> None:
    """Through the tables: what the ledger has of a page makes its periods, whoever writes first."""

    async def story(order: Sequence[int]) -> list[Period]:
        async with Corpus.open(settings, LocalSite({"/": page("A", f"The text of order {order}.")})) as corpus:
            added = await corpus.add(f"{SITE}/")
            database, number = corpus.database, added.document_id
            texts = [added.version_id]
            for text in ("b", "c"):
                (row,) = await rows(
                    database,
                    "INSERT INTO document_versions (document_id, number, markdown, sha256, http_status, media_type,"
                    " fetched_at, extractor) SELECT document_id, number + %s, %s, repeat(%s, 64), 200, 'text/html',"
                    " fetched_at, extractor FROM document_versions WHERE id = %s RETURNING id",
                    1 + ord(text) - ord("b"),
                    text,
                    text,
                    added.version_id,
                )
                texts.append(row[0])
            await rows(database, "DELETE FROM version_periods WHERE document_id = %s RETURNING 1", number)
            await rows(database, "DELETE FROM fetch_log RETURNING 1")
            planned = [(day, texts[[0, 0, 1, 0, 2, 2, 1, 0][day]]) for day in range(8)]
            for place in order:
                day, version = planned[place]
                async with database.transaction() as connection:
                    await record_sighting(connection, number, seen(day, version, "warc" if day % 2 else "http"))
                    await connection.execute(
                        "INSERT INTO fetch_log (url, final_url, acquirer, outcome, started_at, version_id, seen_at)"
                        " VALUES (%(url)s, %(url)s, %(acquirer)s, 'fetched', now(), %(version)s, %(at)s)",
                        {
                            "url": f"{SITE}/",
                            "acquirer": "warc" if day % 2 else "http",
                            "version": version,
                            "at": at(day),
                        },
                    )
            async with database.connection() as connection:
                periods = await load_periods(connection, number)
            names = {version: "abc"[place] for place, version in enumerate(texts)}
            await rows(database, "DELETE FROM documents WHERE id = %s RETURNING 1", number)
            return [(names[one.version_id or 0], *spans([one])[0][1:], one.basis) for one in periods]  # type: ignore[misc]

    async def run() -> None:
        orders = [range(8), range(7, -1, -1), (3, 0, 7, 1, 6, 2, 5, 4), (7, 0, 4, 2, 6, 1, 3, 5)]
        stories = [await story(list(order)) for order in orders]
        assert stories[0][0] == ("a", at(0), at(1), at(2), "seen")
        assert [one[0] for one in stories[0]] == ["a", "b", "a", "c", "b", "a"]
        assert all(other == stories[0] for other in stories)

    asyncio.run(run())


def test_a_page_that_changes_goes_and_comes_back(settings: Settings) -> None:
    async def run() -> None:
        site = LocalSite({"/": page("A", "The first text."), "/b": page("B", "Another page.")})
        async with Corpus.open(settings, site) as corpus:
            first = await corpus.add(f"{SITE}/")
            await corpus.add(f"{SITE}/", refresh=True)
            site.pages["/"] = page("A", "The second text.")
            second = await corpus.add(f"{SITE}/", refresh=True)
            site.pages["/"] = page("A", "The first text.")
            third = await corpus.add(f"{SITE}/", refresh=True)
            assert third.version_id == first.version_id != second.version_id
            async with corpus.database.connection() as connection:
                periods = await load_periods(connection, first.document_id)
            assert [one.version_id for one in periods] == [first.version_id, second.version_id, first.version_id]
            assert periods[0].seen_from < periods[0].seen_last
            # it moves: absent under its old address
            del site.pages["/"]
            site.redirects["/"] = "/b"
            moved = await corpus.add(f"{SITE}/", refresh=True)
            async with corpus.database.connection() as connection:
                periods = await load_periods(connection, first.document_id)
                assert (await load_periods(connection, moved.document_id))[-1].seen_until is None
            assert periods[-1].version_id is None
            assert not await broken_rules(corpus.database)
            view = await rows(corpus.database, "SELECT version FROM contract.v_period ORDER BY doc_id, seen_from")
            assert [row[0] for row in view] == [1, 2, 1, None, 1]

    asyncio.run(run())


def test_verify_finds_periods_that_contradict_each_other(settings: Settings) -> None:
    async def run() -> None:
        async with Corpus.open(settings, LocalSite({"/": page("A", "A text.")})) as corpus:
            await corpus.add(f"{SITE}/")
            await rows(corpus.database, "UPDATE version_periods SET source_id = source_id + 1 RETURNING 1")
            assert await broken_rules(corpus.database) == {"periods-of-their-source"}
            await rows(corpus.database, "UPDATE version_periods SET source_id = source_id - 1 RETURNING 1")
            await rows(corpus.database, "UPDATE version_periods SET seen_until = seen_last + '1 s' RETURNING 1")
            assert await broken_rules(corpus.database) == {"periods-follow-each-other"}
            await rows(
                corpus.database,
                "UPDATE version_periods SET seen_until = NULL, seen_from = seen_from - '1 day'::interval,"
                " seen_last = seen_last - '1 day'::interval RETURNING 1",
            )
            assert await broken_rules(corpus.database) == {"sightings-lie-in-periods"}

    asyncio.run(run())
