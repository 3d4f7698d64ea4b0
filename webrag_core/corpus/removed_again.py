"""Remove from a restored corpus what was removed from the one that it is a backup of, after the backup was made."""

from __future__ import annotations

from collections import Counter

from psycopg import AsyncConnection

from webrag_core.corpus.forget import Removal, record_removal, remove_page, remove_rows, remove_source
from webrag_core.corpus.removal_list import RemovalList, removals_of
from webrag_core.corpus.sources import find_source

# every column with addresses of pages that a removal looks for
_ADDRESSES = """
WITH addresses (url) AS (
    SELECT canonical_url FROM documents UNION SELECT url FROM url_aliases
    UNION SELECT url FROM fetch_log UNION SELECT final_url FROM fetch_log WHERE final_url IS NOT NULL
    UNION SELECT target_url FROM link_candidates UNION SELECT url FROM site_map_pages
    UNION SELECT page_url FROM inventory_symbols UNION SELECT url FROM skipped_urls
    UNION SELECT url FROM watches WHERE url IS NOT NULL UNION SELECT key FROM graph_nodes WHERE kind = 'page'
)
SELECT a.url FROM addresses a LEFT JOIN documents d ON d.canonical_url = a.url
WHERE encode(sha256(convert_to(a.url, 'UTF8')), 'hex') = ANY(%s) ORDER BY d.id IS NULL, a.url
"""
_SOURCES = "SELECT key FROM sources WHERE encode(sha256(convert_to(key, 'UTF8')), 'hex') = ANY(%s) ORDER BY key"
_PAGES = "SELECT canonical_url FROM documents WHERE source_id = %s ORDER BY id"
_ANSWERS = "SELECT id FROM answer_runs WHERE encode(sha256(convert_to(id::text, 'UTF8')), 'hex') = ANY(%s) ORDER BY id"


async def remove_again(connection: AsyncConnection, listed: RemovalList, *, removed_by: str) -> list[Removal]:
    """Remove what `listed` has and the corpus does not know of; call inside a transaction, with nobody else at work.

    The pages stay away afterwards, as they did, and the proofs of the removals are kept. Returns what was there.
    """
    new = listed.since(await removals_of(connection))
    done: list[Removal] = []
    sources = sorted({each.source for each in new.urls if each.source is not None})
    for (key,) in await (await connection.execute(_SOURCES, (sources,))).fetchall():
        source = await find_source(connection, key)
        counts: Counter[str] = Counter()
        for (url,) in await (await connection.execute(_PAGES, (source.id,))).fetchall():
            counts += await remove_page(connection, url, key, alone=True)
        counts += await remove_source(connection, source)
        done.append(await record_removal(connection, "source", key, counts, removed_by))
    pages = [each.url for each in new.urls]
    for (url,) in await (await connection.execute(_ADDRESSES, (pages,))).fetchall():
        removed = await remove_page(connection, url, alone=True)
        if removed:
            done.append(await record_removal(connection, "page", url, removed, removed_by))
    answers = [each.subject for each in new.removals if each.kind == "answer"]
    for (answer,) in await (await connection.execute(_ANSWERS, (answers,))).fetchall():
        counts = await remove_rows(connection, "answer", {"answer": answer})
        done.append(await record_removal(connection, "answer", str(answer), counts, removed_by))
    await _keep(connection, new)
    return done


async def _keep(connection: AsyncConnection, new: RemovalList) -> None:
    """Enter what is new in the tables, with its own times: a later list is compared with them."""
    async with connection.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO forgotten_urls (url_sha256, source_sha256, forgotten_at) VALUES (%s, %s, %s)"
            " ON CONFLICT (url_sha256) DO UPDATE SET source_sha256 = EXCLUDED.source_sha256,"
            " forgotten_at = EXCLUDED.forgotten_at",
            [(each.url, each.source, each.at) for each in new.urls],
        )
        await cursor.executemany(
            "INSERT INTO removals (kind, subject_sha256, removed_at, removed_by, counts)"
            " VALUES (%s, %s, %s, 'before the backup was restored', '{}')",
            [(each.kind, each.subject, each.at) for each in new.removals],
        )
