"""A scope that stays a condition is the scope that lists the same documents: sizes and results, whatever happens."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString, get_args

import pytest
from psycopg import AsyncConnection

from tests.corpus.corpora import broken_rules
from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.corpus.forget import forget
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.request import DateRange, DocumentType, ScopeFilter
from webrag_core.retrieval.scope import Scope, list_documents, resolve_scope, scope_size
from webrag_core.retrieval.searcher import Searcher

SENTENCES = {
    "en": "The heron stands in the water and waits for the fish to come by. It likes {} best of all the animals.",
    "de": "Der Reiher steht im Wasser und wartet auf die Fische. Am liebsten mag er {} unter allen Tieren.",
    "fr": "Le héron se tient dans l'eau et attend les poissons. Il préfère {} parmi tous les animaux.",
}
DECLARED = ("en", "en-GB", "de-AT", "fr_CA", "", "x" * 3000, "en and Mr Smith")
MEDIA = ("text/html", "application/pdf", "text/markdown", "application/epub+zip", "image/png")
TAGS = ("en", "EN_gb", "de", "de-at", "fr", "fr-ca", "sv", "e%")
START = datetime(2024, 1, 1, tzinfo=UTC)
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
    """Any of the filters that stay conditions, at times with dates, which do not."""
    conditions: dict[str, Any] = {}
    if dice.random() < 0.4:
        conditions["sources"] = dice.sample(["site.example", "other.example"], dice.randrange(1, 3))
    if dice.random() < 0.6:
        conditions["languages"] = dice.sample(TAGS, dice.randrange(3))
    if dice.random() < 0.6:
        conditions["types"] = dice.sample(get_args(DocumentType), dice.randrange(3))
    for name in ("published", "modified"):
        if dice.random() < 0.2:
            begin = START + timedelta(days=dice.randrange(300))
            conditions[name] = DateRange(begin, dice.choice([None, begin + timedelta(days=dice.randrange(200))]))
    return ScopeFilter(**conditions)


def kind_of(media_type: str) -> str:
    """The document type."""
    if media_type in ("text/html", "application/pdf"):
        return media_type.rpartition("/")[2]
    return {"text/markdown": "text", "application/epub+zip": "office"}.get(media_type, "")


async def let_through(connection: AsyncConnection, wanted: ScopeFilter) -> list[int]:
    """The documents that match, by what their versions say."""
    rows = await (await connection.execute(_PAGES)).fetchall()
    tags = None if wanted.languages is None else [tag.lower().replace("_", "-") for tag in wanted.languages]

    def lies_in(date: datetime | None, dates: DateRange | None) -> bool:
        return dates is None or (date is not None and dates.start <= date and (dates.end is None or date < dates.end))  # type: ignore[operator]

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
        assert scope.document_ids is None or wanted.published or wanted.modified
        if dice.random() < 0.5:
            query = f"which animal likes fish {dice.randrange(9)}"
            pair = [await searcher.retrieve(query, each, mode="chunk") for each in (scope, listed)]
            results = [result.model_dump(exclude={"timing"}) for result in pair]
            assert results[0] == results[1], wanted
        filled += bool(listed.document_ids)
    return filled


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
                        (dice.choice(MEDIA), START + timedelta(days=dice.randrange(300)), None, document),
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
