"""The table of watches: added, listed, removed, declared by files, and which of them are due for a look."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from psycopg import AsyncConnection, sql
from psycopg.rows import class_row

from webrag_core.errors import InvalidInputError, NotStoredError
from webrag_core.watches.models import Watch, WatchState
from webrag_core.watches.subjects import Kind, Pace, Subject

MOST = 1_000
"""Watches that may be added: each is looked at after every change, and a question may cost requests to models."""
DAY = timedelta(days=1)
"""Least time between two messages about what is told daily."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What a watch is compared with (columns of the table, see the migration)."""

    version_id: int | None = None
    seen_version: int | None = None
    gone: bool = False
    answer_id: int | None = None
    pages: str | None = None
    sent_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Due:
    """A watch that a look may bring news of. For a page `document_id` and `current_version` are what its address leads
    to now, `is_gone` whether that is confirmed gone; for a question `pages_now` are the versions of its sources.
    `source_keys` are the sources that it rests on."""

    watch: Watch
    compared: Compared
    document_id: int | None = None
    current_version: int | None = None
    is_gone: bool = False
    pages_now: str | None = None
    source_keys: list[str] = field(default_factory=list)


_COLUMNS = (
    "w.id AS watch_id, w.kind, w.url, w.heading, w.question, w.sources, w.pace, w.declared_in, w.created_at,"
    " w.looked_at, w.sent_at, CASE WHEN w.gone THEN 'missing' WHEN w.version_id IS NULL AND w.answer_id IS NULL"
    " THEN 'waiting' ELSE 'compared' END AS state"
)
_WATCHES = f"SELECT {_COLUMNS} FROM watches w"  # noqa: S608


async def list_watches(connection: AsyncConnection, *, limit: int | None = None, offset: int = 0) -> list[Watch]:
    """All watches by number, or a part of the list."""
    async with connection.cursor(row_factory=class_row(Watch)) as cursor:
        await cursor.execute(f"{_WATCHES} ORDER BY w.id LIMIT %s OFFSET %s".encode(), (limit, offset))
        return await cursor.fetchall()


async def count_watches(connection: AsyncConnection) -> int:
    """How many watches there are."""
    row = await (await connection.execute("SELECT count(*) FROM watches")).fetchone()
    assert row is not None
    return int(row[0])


async def load_watch(connection: AsyncConnection, watch_id: int) -> Watch:
    """One watch. Raises NotStoredError when there is none with this number."""
    async with connection.cursor(row_factory=class_row(Watch)) as cursor:
        await cursor.execute(f"{_WATCHES} WHERE w.id = %s".encode(), (watch_id,))
        watch = await cursor.fetchone()
    if watch is None:
        raise NotStoredError(f"there is no watch {watch_id}; `webrag watch list` shows them")
    return watch


async def add_watch(connection: AsyncConnection, subject: Subject, compared: Compared) -> Watch:
    """Add a watch, compared with what `compared` says. One that exists stays as it is, with the pace of `subject`.
    Raises InvalidInputError for a page that was removed on request, and for one that a file declares otherwise."""
    await _refuse_forgotten(connection, subject)
    if await count_watches(connection) >= MOST:
        raise InvalidInputError(f"there are {MOST:,} watches: remove some first")
    cursor = await connection.execute(
        "INSERT INTO watches AS w (kind, url, heading, question, sources, digest, pace, version_id, seen_version,"
        " answer_id) VALUES (%(kind)s, %(url)s, %(heading)s, %(question)s, %(sources)s, %(digest)s, %(pace)s,"
        " %(version_id)s, %(seen_version)s, %(answer_id)s) ON CONFLICT (digest) DO UPDATE"
        " SET pace = EXCLUDED.pace WHERE w.declared_in IS NULL OR w.pace = EXCLUDED.pace RETURNING id",
        {**_fields(subject), **asdict(compared)},
    )
    row = await cursor.fetchone()
    if row is None:
        raise InvalidInputError("a file declares this watch, with another pace: change it there")
    return await load_watch(connection, int(row[0]))


async def remove_watch(connection: AsyncConnection, watch_id: int) -> Watch:
    """Remove a watch and return it. Raises NotStoredError, InvalidInputError for one that a file declares."""
    watch = await load_watch(connection, watch_id)
    if watch.declared_in is not None:
        raise InvalidInputError(f"watch {watch_id} is declared in {watch.declared_in}: delete it there")
    await connection.execute("DELETE FROM watches WHERE id = %s AND declared_in IS NULL", (watch_id,))
    return watch


async def apply_watches(
    connection: AsyncConnection, declared: Sequence[tuple[str, Subject]], unread: Collection[str] = ()
) -> int:
    """Make the watches of files what the files say: pairs of file and watch. Returns how many were added, changed or
    removed. Watches of `unread` files, and of pages that were removed on request, stay as they are. Call in a
    transaction."""
    changed = 0
    kept: list[int] = []
    for file, subject in declared:
        fields = {**_fields(subject), "file": file}
        if subject.url is not None and await _is_forgotten(connection, subject.url):
            continue
        cursor = await connection.execute(
            "SELECT id, pace, declared_in FROM watches WHERE digest = %(digest)s",
            fields,
        )
        row = await cursor.fetchone()
        if row is None or (row[1], row[2]) != (subject.pace, file):
            cursor = await connection.execute(
                "INSERT INTO watches (kind, url, heading, question, sources, digest, pace, declared_in) VALUES"
                " (%(kind)s, %(url)s, %(heading)s, %(question)s, %(sources)s, %(digest)s, %(pace)s, %(file)s)"
                " ON CONFLICT (digest) DO UPDATE SET pace = EXCLUDED.pace,"
                " declared_in = EXCLUDED.declared_in RETURNING id",
                fields,
            )
            row = await cursor.fetchone()
            changed += 1
        assert row is not None
        kept.append(int(row[0]))
    cursor = await connection.execute(
        "DELETE FROM watches WHERE declared_in IS NOT NULL AND declared_in <> ALL(%s) AND id <> ALL(%s)",
        (list(unread), kept),
    )
    return changed + cursor.rowcount


_PLACE = (
    "SELECT t.id, t.current_version, t.status, s.key FROM documents t JOIN sources s ON s.id = t.source_id"
    " WHERE t.id = coalesce((SELECT a.document_id FROM url_aliases a WHERE a.url = w.url),"
    " (SELECT o.id FROM documents o WHERE o.canonical_url = w.url))"
)
_STATE = "w.version_id, w.seen_version, w.gone, w.answer_id, w.pages"
_DUE_TEXTS = f"""
SELECT {_COLUMNS}, {_STATE}, d.id AS document_id, d.current_version, d.status = 'gone' AS is_gone, ARRAY[d.key] AS keys
FROM watches w CROSS JOIN LATERAL ({_PLACE}) d
WHERE w.kind <> 'question' AND (%(only)s::bigint[] IS NULL OR w.id = ANY(%(only)s::bigint[])) AND CASE d.status
 WHEN 'gone' THEN NOT w.gone
 ELSE d.current_version IS NOT NULL AND d.current_version IS DISTINCT FROM w.seen_version END
ORDER BY w.id
"""  # noqa: S608
# sources that name their pages' versions by one number each: what a question rests on is then compared by a few of them
_DUE_QUESTIONS = f"""
WITH held AS (
 SELECT w.id, s.id AS source_id, s.key FROM watches w JOIN sources s ON CASE
  WHEN w.sources <> '{{}}' THEN s.key = ANY(w.sources)
  WHEN EXISTS (SELECT FROM sentence_citations c WHERE c.answer_id = w.answer_id) THEN s.id IN (
   SELECT d.source_id FROM citations c JOIN document_versions v ON v.id = c.version_id
   JOIN documents d ON d.id = v.document_id WHERE c.answer_id = w.answer_id)
  ELSE true END
 WHERE w.kind = 'question' AND (%(only)s::bigint[] IS NULL OR w.id = ANY(%(only)s::bigint[]))),
texts AS (
 SELECT d.source_id, sum(hashtextextended(d.id || ' ' || d.current_version, 0)::numeric) AS number
 FROM documents d WHERE d.current_version IS NOT NULL AND d.source_id IN (SELECT source_id FROM held) GROUP BY 1),
asked AS (
 SELECT h.id, md5(string_agg(h.key || ' ' || coalesce(t.number, 0), ',' ORDER BY h.key)) AS pages_now,
  array_agg(h.key ORDER BY h.key) AS keys FROM held h LEFT JOIN texts t USING (source_id) GROUP BY h.id)
SELECT {_COLUMNS}, {_STATE}, a.pages_now, a.keys FROM watches w JOIN asked a USING (id)
WHERE a.pages_now IS DISTINCT FROM w.pages AND (w.postponed_to IS NULL OR w.postponed_to <= now())
ORDER BY w.id
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class _Row:
    watch_id: int
    kind: Kind
    url: str | None
    heading: list[str]
    question: str | None
    sources: list[str]
    pace: Pace
    declared_in: str | None
    created_at: datetime
    looked_at: datetime | None
    sent_at: datetime | None
    state: WatchState
    gone: bool
    version_id: int | None
    seen_version: int | None
    answer_id: int | None
    pages: str | None
    keys: list[str]
    document_id: int | None = None
    current_version: int | None = None
    is_gone: bool = False
    pages_now: str | None = None

    def as_due(self) -> Due:
        fields = asdict(self)
        return Due(
            Watch.model_validate({name: fields[name] for name in Watch.model_fields}),
            Compared(self.version_id, self.seen_version, self.gone, self.answer_id, self.pages, self.sent_at),
            self.document_id,
            self.current_version,
            self.is_gone,
            self.pages_now,
            self.keys,
        )


async def due_watches(connection: AsyncConnection, only: Collection[int] | None = None) -> list[Due]:
    """Watches of pages and questions whose pages have other versions than at the last look, of `only` or all. What is
    told daily is left out for 24 hours after its last message."""
    scope = {"only": None if only is None else list(only)}
    due: list[Due] = []
    for statement in (_DUE_TEXTS, _DUE_QUESTIONS):
        async with connection.cursor(row_factory=class_row(_Row)) as cursor:
            await cursor.execute(statement.encode(), scope, prepare=False)
            due += [row.as_due() for row in await cursor.fetchall()]
    row = await (
        await connection.execute(
            "SELECT coalesce(max(sent_at) > now() - %s, false) FROM watches WHERE pace = 'daily'", (DAY,)
        )
    ).fetchone()
    assert row is not None
    return [watch for watch in due if watch.watch.pace == "at_once" or not row[0]]


_CHANGED = sql.SQL(", ").join(
    sql.SQL("{0} = {1}").format(sql.Identifier(column), sql.Placeholder(column))
    for column in ("version_id", "seen_version", "gone", "answer_id", "pages", "sent_at")
)
_UNCHANGED = sql.SQL(" AND ").join(
    sql.SQL("{0} IS NOT DISTINCT FROM {1}").format(sql.Identifier(column), sql.Placeholder(f"old_{column}"))
    for column in ("version_id", "seen_version", "gone", "answer_id", "pages", "sent_at")
)


async def move_on(connection: AsyncConnection, watch_id: int, old: Compared, new: Compared) -> bool:
    """Compare the watch with something else from now on. False when another look was faster: nothing is done then, and
    whoever was faster tells of it."""
    cursor = await connection.execute(
        sql.SQL("UPDATE watches SET looked_at = now(), postponed_to = NULL, {} WHERE id = %(id)s AND {}").format(
            _CHANGED, _UNCHANGED
        ),
        {"id": watch_id, **asdict(new), **{f"old_{name}": value for name, value in asdict(old).items()}},
    )
    return cursor.rowcount == 1


async def postpone(connection: AsyncConnection, watch_id: int, wait: timedelta) -> None:
    """Look at a question again only after `wait`."""
    await connection.execute("UPDATE watches SET postponed_to = now() + %s WHERE id = %s", (wait, watch_id))


def _fields(subject: Subject) -> dict[str, object]:
    return {
        "kind": subject.kind,
        "url": subject.url,
        "heading": list(subject.heading),
        "question": subject.question,
        "sources": list(subject.sources),
        "digest": subject.digest,
        "pace": subject.pace,
    }


async def _is_forgotten(connection: AsyncConnection, url: str) -> bool:
    row = await (await connection.execute("SELECT is_forgotten(%s)", (url,))).fetchone()
    return row is not None and bool(row[0])


async def _refuse_forgotten(connection: AsyncConnection, subject: Subject) -> None:
    if subject.url is not None and await _is_forgotten(connection, subject.url):
        raise InvalidInputError(f"{subject.url} was removed on request")
