"""Pages that are new to the index are written together, and each fails alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from benchmarks import server_work
from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules, rows
from webrag_core.config import Settings
from webrag_core.errors import StoreError
from webrag_core.gathering import Gathering
from webrag_core.indexing.indexer import Indexer
from webrag_core.indexing.pipeline import AddedDocument, Corpus

PAGES = {
    f"{HOME}{number}": html(f"Page {number % 5}", f"This page is about the number {number % 5}.")
    for number in range(12)
}
_CURRENT = "SELECT count(*) FROM documents WHERE current_version IS NOT NULL AND status = 'ready'"


def test_new_pages_share_a_transaction(settings: Settings) -> None:
    """Some of them have the same text."""

    async def run() -> None:
        added: dict[str, object] = {}
        async with Corpus.open(settings, ServedPages(dict(PAGES))) as corpus:
            with server_work.recorded(str) as statements:
                await corpus.add_all(PAGES, added.__setitem__)
            assert all(isinstance(page, AddedDocument) and page.embedded for page in added.values())
            written = [each for each in statements if "INSERT INTO lexical_documents" in str(each.query)]
            assert len(written) < len(PAGES) / 2, "a transaction for every page"
            assert await rows(corpus.database, _CURRENT) == [(len(PAGES),)]
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())


def test_pages_that_are_written_together_are_as_those_written_alone(settings: Settings) -> None:
    def page(host: str, number: int) -> str:
        """With links, structured data, a date of validity and a description; two of them have the same text."""
        head = (
            f'<meta name="description" content="About {number}"><script type="application/ld+json">{{"@context":'
            f'"https://schema.org","@type":"Article","name":"N","author":{{"@id":"https://{host}/2"}},'
            f'"datePublished":"2026-01-0{number + 1}"}}</script>'
        )
        links = f'<p>See <a href="https://{host}/{number + 1}">the next page</a> and the rest of the manual.</p>'
        text = f"This page is about the number {number % 5}.</p>{links}<p>More words."
        return html("A page", "Valid until 31 December 2026", text).replace("</head>", f"{head}</head>")

    async def run() -> None:
        site = {f"https://{host}/{n}": page(host, n) for host in ("bulks.org", "alone.org") for n in range(7)}
        async with Corpus.open(settings, ServedPages(dict(site))) as corpus:
            for host in ("bulks.org", "alone.org"):
                await corpus.add(f"https://{host}/0")  # makes the source
            with server_work.recorded(str) as statements:
                await corpus.add_all([url for url in site if "bulks" in url], lambda url, result: None)
            assert [each for each in statements if "OVERRIDING SYSTEM VALUE" in str(each.query)]
            for url in site:
                await corpus.add(url)

            async def stored(host: str) -> list[tuple[Any, ...]]:
                return await rows(
                    corpus.database,
                    "SELECT replace((to_jsonb(d) - 'etag' || jsonb_build_object("
                    " 'version', to_jsonb(v) - '{body_sha256,sha256,inputs_sha256}'::text[], 'line', to_jsonb(f),"
                    " 'links', (SELECT jsonb_agg(to_jsonb(l) - '{id,version_id}'::text[] ORDER BY ordinal)"
                    "  FROM link_candidates l WHERE l.version_id = v.id),"
                    " 'markup', (SELECT to_jsonb(m) - '{version_id,digest}'::text[]"
                    "  FROM version_markup m WHERE m.version_id = v.id),"
                    " 'valid', (SELECT jsonb_agg(to_jsonb(y) - '{id,version_id}'::text[] ORDER BY kind, basis, valid)"
                    "  FROM version_validity y WHERE y.version_id = v.id), 'period', (SELECT to_jsonb(p)"
                    "  FROM version_periods p WHERE p.version_id = v.id)))::text, %s, 'HOST')::jsonb AS row"
                    " FROM documents d JOIN document_versions v ON v.document_id = d.id"
                    " JOIN fetch_log f ON f.url = d.canonical_url"
                    " WHERE d.canonical_url LIKE '%%' || %s || '%%' ORDER BY d.canonical_url",
                    host,
                    host,
                )

            together, alone = await stored("bulks.org"), await stored("alone.org")
            assert len(together) == len(alone) == 7
            for (first,), (second,) in zip(together, alone, strict=True):
                assert _without_ids(first) == _without_ids(second)
                assert [part for part in ("links", "markup", "valid", "period") if not first[part]] == []
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())


def _without_ids(value: Any) -> Any:
    """Rows as nested values without ids and times of day, which differ from one run to the next."""
    if not isinstance(value, dict):
        return value
    ids = ("id", "_id", "version", "_at", "_until", "_fetch", "last_checked", "next_check", "announcement", "seen_last")
    return {
        name: _without_ids(inner)
        for name, inner in value.items()
        if isinstance(inner, dict) or not name.endswith((*ids, "seen_from", "trace_id"))
    }


def test_a_page_that_cannot_be_written_fails_alone(settings: Settings) -> None:
    async def run() -> None:
        async with Corpus.open(settings, ServedPages(dict(PAGES))) as corpus:
            versions = [(await corpus.ingestor.ingest(url)).version_id for url in PAGES]
            async with corpus.database.connection() as connection:
                await connection.execute(
                    "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$"
                )
                await connection.execute(
                    "CREATE TRIGGER refused BEFORE INSERT ON chunks FOR EACH ROW"
                    f" WHEN (NEW.version_id = {versions[2]}) EXECUTE FUNCTION refuse()".encode()
                )
            with pytest.raises(StoreError):
                await corpus.indexer.index_new(versions[:4])
            assert await rows(corpus.database, _CURRENT) == [(0,)]
            together = Gathering(corpus.indexer.index_new, 4, 1.0)
            results = await asyncio.gather(*map(together.of, versions[:4]), return_exceptions=True)
            assert [isinstance(result, StoreError) for result in results] == [False, False, True, False]
            assert await rows(corpus.database, _CURRENT) == [(3,)]
            async with corpus.database.connection() as connection:
                await connection.execute("DROP FUNCTION refuse CASCADE")  # the next test has the same tables
            async with corpus.database.claims.hold(f"index version {versions[5]}"):  # somebody else indexes it
                other = Indexer(corpus.database, corpus.embedder, settings)
                outcomes = await other.index_new(versions[4:7])
            assert [outcome is not None and outcome.became_current for outcome in outcomes] == [True, False, True]
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())
