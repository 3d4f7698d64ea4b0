"""Works: versions of one document that stand beside each other at different addresses (/3.11/, /3.13/, /stable/).

Two pages of one source are of one work when their addresses differ in one segment, which looks like a version, and
their titles are equal without numbers; or when the operator's pattern says where versions stand.
"""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import AsyncConnection

from webrag_core.corpus.version_paths import versioned_paths, work_title
from webrag_core.store.database import Database

_BATCH = 500


@dataclass(frozen=True, slots=True)
class WorkMember:
    """A version of a work: `label` as the address has it; `stored` is False where the page is gone."""

    url: str
    label: str
    title: str | None
    stored: bool


@dataclass(frozen=True, slots=True)
class Work:
    """A work with at least two versions, by label; `key` is their address with {version}."""

    key: str
    members: tuple[WorkMember, ...]


_UNREAD = """
SELECT d.id, d.canonical_url, d.current_version, v.title, s.versions_in_path
FROM documents d JOIN sources s ON s.id = d.source_id JOIN document_versions v ON v.id = d.current_version
WHERE d.work_unread ORDER BY d.id LIMIT %s
"""
_WORKS = """
SELECT k.id, k.key, d.canonical_url, m.label, coalesce(v.title, ''), d.current_version IS NOT NULL
FROM work_members own JOIN works k ON k.id = own.work_id JOIN documents o ON o.id = own.document_id
JOIN work_members m ON m.work_id = k.id JOIN documents d ON d.id = m.document_id AND d.source_id = o.source_id
LEFT JOIN document_versions v ON v.id = d.current_version
WHERE own.document_id = coalesce((SELECT a.document_id FROM url_aliases a WHERE a.url = %(url)s),
                                 (SELECT x.id FROM documents x WHERE x.canonical_url = %(url)s))
ORDER BY k.key, k.id, d.canonical_url
"""


async def update_works(database: Database) -> int:
    """Read the addresses and titles of pages that are new or changed; returns their number. Ends at once if none."""
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT EXISTS (SELECT FROM documents WHERE work_unread)")
        if await cursor.fetchone() == (False,):
            return 0
    done = 0
    async with database.claims.hold("works"):  # two that make the same works would deadlock
        while True:
            async with database.transaction() as connection:
                cursor = await connection.execute(_UNREAD, (_BATCH,))
                rows = await cursor.fetchall()
                for document_id, url, version_id, title, pattern in rows:
                    await _write(connection, document_id, url, title, pattern)
                    await connection.execute(
                        "UPDATE documents SET work_version = %s WHERE id = %s", (version_id, document_id)
                    )
                if len(rows) < _BATCH:
                    await connection.execute(
                        "DELETE FROM works k WHERE NOT EXISTS (SELECT FROM work_members m WHERE m.work_id = k.id)"
                    )
            done += len(rows)
            if len(rows) < _BATCH:
                return done


async def _write(
    connection: AsyncConnection, document_id: int, url: str, title: str | None, pattern: str | None
) -> None:
    await connection.execute("DELETE FROM work_members WHERE document_id = %s", (document_id,))
    confirmed = "" if pattern is not None else work_title(title)
    if confirmed is None:
        return
    for path in versioned_paths(url, pattern):
        await connection.execute(
            "WITH work AS (INSERT INTO works (key, title) VALUES (%(key)s, %(title)s)"
            " ON CONFLICT (key, title) DO UPDATE SET title = EXCLUDED.title RETURNING id)"
            " INSERT INTO work_members (work_id, document_id, label) SELECT id, %(document)s, %(label)s FROM work"
            " ON CONFLICT DO NOTHING",
            {"key": path.key, "title": confirmed, "document": document_id, "label": path.label},
        )


async def leave_works(connection: AsyncConnection, document_id: int) -> None:
    """Take a document out of its works, and remove those that nothing else belongs to: they have its title. Call
    inside a transaction."""
    cursor = await connection.execute(
        "SELECT id FROM works WHERE id IN (SELECT work_id FROM work_members WHERE document_id = %s) ORDER BY id"
        " FOR UPDATE",  # whoever adds a member to one of them waits
        (document_id,),
    )
    works = [int(row[0]) for row in await cursor.fetchall()]
    await connection.execute("DELETE FROM work_members WHERE document_id = %s", (document_id,))
    await connection.execute(
        "DELETE FROM works k WHERE id = ANY(%s) AND NOT EXISTS (SELECT FROM work_members m WHERE m.work_id = k.id)",
        (works,),
    )


async def load_works(database: Database, url: str) -> list[Work]:
    """The works that the page at canonical `url` is a version of, with all stored versions of each. Reads new and
    changed pages first."""
    await update_works(database)
    async with database.connection() as connection:
        cursor = await connection.execute(_WORKS, {"url": url})
        rows = await cursor.fetchall()
    members: dict[tuple[int, str], list[WorkMember]] = {}
    for work, key, address, label, title, stored in rows:
        members.setdefault((work, key), []).append(WorkMember(address, label, title or None, stored))
    return [
        Work(key, tuple(sorted(listed, key=lambda row: _in_order(row.label))))
        for (_, key), listed in members.items()
        if len(listed) > 1
    ]


def _in_order(label: str) -> tuple[list[int], str]:
    """3.9 before 3.11, names such as `stable` last."""
    numbers = [int(part) for part in "".join(c if c.isdigit() else " " for c in label).split()]
    return (numbers or [1_000_000], label)
