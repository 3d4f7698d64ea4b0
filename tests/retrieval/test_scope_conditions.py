"""A scope that stays a condition is the scope that lists the same documents: sizes and results, whatever happens."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, LiteralString, get_args

import pytest
from psycopg import AsyncConnection

from tests.corpus.corpora import broken_rules
from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.corpus.forget import forget
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.request import DateRange, DocumentType, ScopeFilter, SearchRequest
from webrag_core.retrieval.scope import Scope, list_documents, resolve_scope, scope_size, within_dates
from webrag_core.retrieval.searcher import Searcher

SENTENCES = {
    "en": "The heron stands in the water and waits for the fish to come by. It likes {} best of all the animals.",
    "de": "Der Reiher steht im Wasser und wartet auf die Fische. Am liebsten mag er {} unter allen Tieren.",
    "fr": "Le héron se tient dans l'eau et attend les poissons. Il préfère {} parmi tous les animaux.",
}
DECLARED = ("en", "en-GB", "de-AT", "fr_CA", "", "x" * 3000, "en and Mr Smith")
MEDIA = ("text/html", "application/pdf", "text/markdown", "application/epub+zip", "image/png")
TAGS = ("en", "EN_gb", "de", "de-at", "fr", "fr-ca", "sv", "e%")
_PAGES: LiteralString = """
SELECT d.id, s.key, coalesce(language_of(v.language, v.detected_language), ''), v.media_type, v.published, v.modified
FROM documents d JOIN sources s ON s.id = d.source_id JOIN document_versions v ON v.id = d.current_version ORDER BY d.id
"""


def written(dice: random.Random, number: int) -> str:
    """A page that declares a language, and is in it or in another one."""
    language = dice.choice([*SENTENCES])
    text = " ".join(SENTENCES[language].format(f"fish {dice.randrange(9)}") for _ in range(dice.randrange(2, 30)))
    declared = dice.choice(DECLARED)
    return page(f"Heron {number}", text).replace("<html>", f'<html lang="{declared}">' if declared else "<html>")


def filters(dice: random.Random) -> ScopeFilter:
    """Any of the filters that stay conditions, of which two dates do not."""
    conditions: dict[str, Any] = {}
    if dice.random() < 0.4:
        conditions["sources"] = dice.sample(["site.example", "other.example"], dice.randrange(1, 3))
    if dice.random() < 0.6:
        conditions["languages"] = dice.sample(TAGS, dice.randrange(3))
    if dice.random() < 0.6:
        conditions["types"] = dice.sample(get_args(DocumentType), dice.randrange(3))
    for name in ("published", "modified"):
        if dice.random() < 0.3:
            conditions[name] = dates(dice)
    return ScopeFilter(**conditions)


def dates(dice: random.Random) -> DateRange:
    """A range of some days, of whole months or open at a side."""
    begin, end = sorted(moment(dice) for _ in range(2))
    return dice.choice([DateRange(begin, end), DateRange(begin, None), DateRange(None, end)])


def moment(dice: random.Random) -> datetime:
    """Midnight of a day, often the first of a month, in any zone."""
    zone = dice.choice([UTC, UTC, timezone(timedelta(hours=-9))])
    return datetime(2024, dice.randrange(1, 13), dice.choice([1, dice.randrange(1, 29)]), tzinfo=zone)


def lies_in(date: datetime | None, wanted: DateRange | None) -> bool:
    """Whether a date lies in a range; any lies in None."""
    if wanted is None:
        return True
    after = wanted.start is None or (date is not None and wanted.start <= date)
    return date is not None and after and (wanted.end is None or date < wanted.end)


def kind_of(media_type: str) -> str:
    """The document type."""
    if media_type in ("text/html", "application/pdf"):
        return media_type.rpartition("/")[2]
    return {"text/markdown": "text", "application/epub+zip": "office"}.get(media_type, "")


async def let_through(connection: AsyncConnection, wanted: ScopeFilter) -> list[int]:
    """The documents that match, by what their versions say."""
    rows = await (await connection.execute(_PAGES)).fetchall()
    tags = None if wanted.languages is None else [tag.lower().replace("_", "-") for tag in wanted.languages]

    return [
        document
        for document, source, language, media_type, published, modified in rows
        if (wanted.sources is None or source in wanted.sources)
        and (tags is None or any(f"{language}-".startswith(f"{tag}-") for tag in tags))
        and (wanted.types is None or kind_of(media_type) in wanted.types)
        and lies_in(published, wanted.published)
        and lies_in(modified, wanted.modified)
    ]


async def check(corpus: Corpus, searcher: Searcher, dice: random.Random, rounds: int) -> int:
    """Compare scopes of random filters with those that list their documents; returns how many were not empty."""
    filled = 0
    for _ in range(rounds):
        wanted = filters(dice)
        async with corpus.database.connection() as connection:
            scope = await resolve_scope(connection, wanted)
            listed = Scope(tuple(await let_through(connection, wanted)), {})
            assert tuple(await list_documents(connection, scope)) == listed.document_ids, wanted
            sizes = [await scope_size(connection, each) for each in (scope, listed)]
        assert (sizes[0], sizes[0].indexes) == (sizes[1], sizes[1].indexes), wanted
        assert scope.document_ids is None or (wanted.published and wanted.modified)
        if dice.random() < 0.5:
            query = f"which animal likes fish {dice.randrange(9)}"
            pair = [await searcher.retrieve(query, each, mode="chunk") for each in (scope, listed)]
            results = [result.model_dump(exclude={"timing"}) for result in pair]
            assert results[0] == results[1], wanted
        filled += bool(listed.document_ids)
        async with corpus.database.connection() as connection:
            await check_stated(connection, scope, dice)
    return filled


async def check_stated(connection: AsyncConnection, scope: Scope, dice: random.Random) -> None:
    """Compare what a search by year and date leaves of a scope with what the versions say."""
    wanted = SearchRequest(
        query="fish",
        dated=dates(dice) if dice.random() < 0.7 else None,
        requested_years=dice.sample((2023, 2024, 2025), dice.randrange(2)),
    ).date_ranges
    inside = set(await list_documents(connection, scope))
    rows = await (await connection.execute(_PAGES)).fetchall()
    stated = {row[0]: row[5] or row[4] for row in rows if row[0] in inside}
    left = [
        document
        for document, date in stated.items()
        if all(any(lies_in(date, each) for each in alternatives) for alternatives in wanted)
    ]
    narrowed, undated = await within_dates(connection, scope, wanted)
    assert await list_documents(connection, narrowed) == left, wanted
    assert undated == (list(stated.values()).count(None) if wanted else 0)
    sizes = [await scope_size(connection, each) for each in (narrowed, Scope(tuple(left), {}))]
    assert (sizes[0], sizes[0].indexes) == (sizes[1], sizes[1].indexes), wanted


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_condition_is_the_listing(settings: Settings, seed: int) -> None:
    dice = random.Random(seed)

    async def body() -> None:
        filled = 0
        site = LocalSite({f"/{number}": written(dice, number) for number in range(24)})
        async with Corpus.open(settings, site) as corpus:
            searcher = Searcher(corpus.database, corpus.embedder, await corpus.model_id(), settings)
            for path in site.pages:
                await corpus.add(SITE + path)
            async with corpus.database.connection() as connection:
                await connection.execute("INSERT INTO sources (key) VALUES ('other.example')")
            filled += await check(corpus, searcher, dice, 10)
            async with corpus.database.connection() as connection:
                for document in range(1, 25):
                    await connection.execute(
                        "UPDATE document_versions SET media_type = %s, published = %s, modified = %s"
                        " WHERE document_id = %s",
                        (dice.choice(MEDIA), *(dice.choice([None, moment(dice)]) for _ in range(2)), document),
                    )
                await connection.execute("UPDATE documents SET source_id = 2 WHERE mod(id, 3) = 0")
            filled += await check(corpus, searcher, dice, 30)
            for number in dice.sample(range(24), 8):  # new texts, some in another language
                site.pages[f"/{number}"] = written(dice, number)
                await corpus.add(f"{SITE}/{number}", refresh=True)
            filled += await check(corpus, searcher, dice, 20)
            for number in dice.sample(range(8, 24), 4):
                await forget(corpus.database, f"{SITE}/{number}", removed_by="test")
            for number in range(8):
                await corpus.indexer.retire_ended(f"{SITE}/{number}", number + 1)
            filled += await check(corpus, searcher, dice, 10)
            for number in range(5):  # is there again, some with another text
                site.pages[f"/{number}"] = dice.choice([site.pages[f"/{number}"], written(dice, number)])
                await corpus.add(f"{SITE}/{number}", refresh=True)
            filled += await check(corpus, searcher, dice, 10)
            assert await broken_rules(corpus.database) <= {"ledger-leads-to-document"}
            async with corpus.database.connection() as connection:  # source, version and sizes by one statement
                await connection.execute(
                    "UPDATE documents d SET source_id = 3 - source_id, current_version ="
                    " (SELECT min(v.id) FROM document_versions v WHERE v.document_id = d.id)"
                    " WHERE current_version IS NOT NULL AND mod(id, 2) = 0"
                )
            filled += await check(corpus, searcher, dice, 10)
        assert filled > 25

    asyncio.run(body())
