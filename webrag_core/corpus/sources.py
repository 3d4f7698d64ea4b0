"""Sources: what is attached, by whom, and which source a page belongs to.

A source is a site, or a section of one. Its key is its host, with the port where that is not the scheme's own, and the
path of its section: `docs.python.org`, `docs.python.org/3`. A page belongs to the source of its host with the longest
prefix. The source of a whole host comes into being with the first page that is stored of it, one of a section only by
being attached.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches

from psycopg import AsyncConnection, sql
from psycopg.rows import class_row

from webrag_core.acquisition.urls import canonicalise, folder_of, source_key
from webrag_core.errors import FetchError, InvalidInputError, NotStoredError

_MOST_LIKE = 10_000
_LONGEST_LIKE = 300
_LIKENESS = 0.7
_SCHEME = re.compile(r"^https?://")
MAX_SHARDS = 99
_SHARD_KEY = re.compile(r"(?P<source>.+)~(?P<index>\d\d)of(?P<count>\d\d)")
_FILE = re.compile(r"\.[A-Za-z]\w{0,5}$")
"""Extension of a file name; that of `3.11` is none."""


@dataclass(frozen=True, slots=True)
class Source:
    """A row of `sources`. `page_limit` is None where only pages that somebody asked for are kept fresh.

    `declared_in` names the file that declares it, `refresh_hours` and `watch_minutes` are None where the settings
    decide, `follow` is what may bring new pages: none, map, or links (the map too). `all_text`: everything that its
    pages show is kept. `name`: what people call it. `owners`: whom alerts name, e-mail addresses or `team:name`.
    """

    id: int
    key: str
    seed_url: str | None
    path_prefix: str
    page_limit: int | None
    paused: bool
    map_read_at: datetime | None
    map_entries: int | None
    described_at: datetime | None = None
    declared_in: str | None = None
    refresh_hours: float | None = None
    watch_minutes: float | None = None
    shards: int = 1
    acquirer: str | None = None
    pool: str | None = None
    follow: str = "links"
    watch_token: str | None = None
    all_text: bool = False
    name: str | None = None
    owners: list[str] = field(default_factory=list)

    @property
    def host(self) -> str:
        """Its host, with the port where the key has one."""
        return self.key.partition("/")[0]

    @property
    def place(self) -> str:
        """What the URLs of its pages begin with, after the scheme."""
        return self.host + self.path_prefix

    @property
    def start_url(self) -> str:
        """Where its site map and its pages begin."""
        return self.seed_url or f"https://{self.key}/"

    @property
    def attached(self) -> bool:
        """True when somebody attached it; others come from answer runs and `ingest`."""
        return self.page_limit is not None

    def covers(self, url: str) -> bool:
        """True when canonical `url` lies in its section. The twin of `in_section` in SQL."""
        rest = url.partition("://")[2]
        return rest.startswith(self.place) or rest.partition("?")[0] + "/" == self.place


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `index` (from 0) of `count` parts of a source. The whole is part 0 of 1."""

    index: int = 0
    count: int = 1

    def holds(self, url: str) -> bool:
        """True when the canonical `url` belongs to this part."""
        if self.count == 1:
            return True
        return int.from_bytes(hashlib.sha256(url.encode()).digest()[:8]) % self.count == self.index

    def share(self, limit: int) -> int:
        """This part's share of a limit, rounded up."""
        return -(-limit // self.count)


def shard_keys(source: str, count: int) -> list[str]:
    """Keys of the parts of a source: the source's own key when it is whole, else `host~03of08`."""
    return [source] if count == 1 else [f"{source}~{index:02d}of{count:02d}" for index in range(count)]


def is_shard_key(key: str) -> bool:
    """True for the key of a part of a source."""
    return _SHARD_KEY.fullmatch(key) is not None


def split_key(key: str) -> tuple[str, Shard]:
    """Source and part that a key of `shard_keys` names. Raises InvalidInputError for a part that cannot be."""
    match = _SHARD_KEY.fullmatch(key)
    if match is None:
        return key, Shard()
    shard = Shard(int(match["index"]), int(match["count"]))
    if not shard.index < shard.count:
        raise InvalidInputError(f"{key} names a part that is not there")
    return match["source"], shard


def key_of(source: str, count: int, url: str) -> str:
    """Key of the part of a source that holds `url`."""
    return next(key for index, key in enumerate(shard_keys(source, count)) if Shard(index, count).holds(url))


def keys_of(sources: Iterable[tuple[str, int]]) -> list[str]:
    """Keys of all parts of (source, number of parts)."""
    return [key for source, count in sources for key in shard_keys(source, count)]


def section_prefix(url: str) -> str:
    """Path prefix of the section that begins at canonical `url`: the folder it lies in.

    A URL whose path is one name (`https://github.com/python`) is that folder itself.
    """
    path = url.split("/", 3)[3]
    if path and not _FILE.search(path) and not {"/", "?"} & set(path):
        return f"/{path}/"
    return folder_of(url)


def section_key(url: str, prefix: str) -> str:
    """Key of the section below `prefix` on the site of `url`. Raises FetchError(INVALID_URL)."""
    return source_key(url) + prefix.rstrip("/")


def checked_prefix(url: str, prefix: str) -> str:
    """`prefix` as canonical URLs of this site spell it. Raises InvalidInputError for what is no path."""
    if not prefix.startswith("/") or set(prefix) & {"?", "#", "\\"}:
        raise InvalidInputError(f"{prefix!r} is not a path prefix; write one such as /docs/")
    origin = canonicalise(url).split("/", 3)[:3]
    canonical = "/" + canonicalise("/".join([*origin, prefix.removeprefix("/")])).split("/", 3)[3]
    # keys are Dagster's partition keys, which may not hold "..."
    if "..." in canonical or is_shard_key(canonical.rstrip("/")) or canonical.endswith("//"):
        raise InvalidInputError(f"{prefix!r} cannot be the prefix of a source")
    return canonical


_SOURCE = (
    "SELECT id, key, seed_url, path_prefix, page_limit, paused, map_read_at, map_entries, described_at, declared_in,"
    " refresh_hours, watch_minutes, shards, acquirer, pool, follow, watch_token, all_text, name, owners"
    " FROM sources"
)
_NAMED = "(key = %(name)s OR starts_with(key, %(name)s || '/'))"


KEEP_MAP = sql.SQL(", ").join(
    sql.SQL(
        "{0} = CASE WHEN (s.seed_url, s.path_prefix) IS NOT DISTINCT FROM (EXCLUDED.seed_url, EXCLUDED.path_prefix)"
        " THEN s.{0} END"
    ).format(sql.Identifier(column))
    for column in (
        "map_read_at",
        "map_entries",
        "watched_at",
        "watch_token",
        "look_answered_at",
        "look_failed_since",
    )
)
"""For ON CONFLICT DO UPDATE of `sources AS s`: what the site map said is dropped when the source begins elsewhere."""


async def list_sources(
    connection: AsyncConnection, keys: Sequence[str] | None = None, *, limit: int | None = None, offset: int = 0
) -> list[Source]:
    """The sources by key, of these (None = of all): all, or at most `limit` after the first `offset`."""
    condition = "" if keys is None else "WHERE key = ANY(%(keys)s)"
    async with connection.cursor(row_factory=class_row(Source)) as cursor:
        await cursor.execute(
            f'{_SOURCE} {condition} ORDER BY key COLLATE "C" LIMIT %(limit)s OFFSET %(offset)s'.encode(),
            {"keys": keys, "limit": limit, "offset": offset},
        )
        return await cursor.fetchall()


async def count_sources(connection: AsyncConnection) -> int:
    """How many sources there are."""
    row = await (await connection.execute("SELECT count(*) FROM sources")).fetchone()
    assert row is not None
    return int(row[0])


async def find_source(connection: AsyncConnection, key: str) -> Source:
    """The source with exactly this key. Raises NotStoredError when unknown."""
    async with connection.cursor(row_factory=class_row(Source)) as cursor:
        await cursor.execute(f"{_SOURCE} WHERE key = %s".encode(), (key,))
        source = await cursor.fetchone()
    if source is None:
        raise await _unknown(connection, key)
    return source


async def find_sources(connection: AsyncConnection, name: str) -> list[Source]:
    """The sources that `name` stands for, by key: the one with this key and the sections below it.

    So a host means all of its sources. Raises NotStoredError when there is none.
    """
    async with connection.cursor(row_factory=class_row(Source)) as cursor:
        await cursor.execute(f'{_SOURCE} WHERE {_NAMED} ORDER BY key COLLATE "C"'.encode(), {"name": source_name(name)})
        sources = await cursor.fetchall()
    if not sources:
        raise await _unknown(connection, name)
    return sources


async def _unknown(connection: AsyncConnection, name: str) -> NotStoredError:
    """The error for a name that no source has, with the key of the source that is meant, if one is like it."""
    cursor = await connection.execute('SELECT key, name FROM sources ORDER BY key COLLATE "C" LIMIT %s', (_MOST_LIKE,))
    keys: dict[str, str] = {}
    for key, called in await cursor.fetchall():
        keys |= {str(spelling).casefold(): str(key) for spelling in (key, called) if spelling}
    close = get_close_matches(source_name(name)[:_LONGEST_LIKE].casefold(), keys, 1, _LIKENESS)
    meant = f"; did you mean {keys[close[0]]}?" if close else ""
    return NotStoredError(f"there is no source {name}{meant or '; `webrag source list` shows them'}")


async def sources_to_refresh(connection: AsyncConnection, names: Sequence[str]) -> list[Source]:
    """The sources of these names, each once; without names all. Paused ones are left out unless their own key is given.

    Raises NotStoredError for a name that no source has.
    """
    if not names:
        return [source for source in await list_sources(connection) if not source.paused]
    named = [(name, source) for name in names for source in await find_sources(connection, name)]
    chosen = [item for name, item in named if not item.paused or item.key == source_name(name)]
    return list({source.key: source for source in chosen}.values())


def source_name(text: str) -> str:
    """The name of a source as a person may write it, with a scheme or a last slash, as keys are spelled."""
    return _SCHEME.sub("", text.strip()).rstrip("/")


async def sources_of_urls(connection: AsyncConnection, urls: Sequence[str]) -> list[tuple[str, int]]:
    """(key, shards) of the sources that hold the documents at these canonical URLs."""
    cursor = await connection.execute(
        "SELECT DISTINCT s.key, s.shards FROM sources s JOIN documents d ON d.source_id = s.id"
        " WHERE d.canonical_url = ANY(%(urls)s)"
        " OR d.id IN (SELECT document_id FROM url_aliases WHERE url = ANY(%(urls)s)) ORDER BY 1",
        {"urls": list(urls)},
    )
    return [(str(key), int(shards)) for key, shards in await cursor.fetchall()]


def section_at(url: str, prefix: str | None = None) -> tuple[str, str, str]:
    """The canonical `url`, the prefix and the key of the section that begins there, as of `attach_source`. Raises
    FetchError(INVALID_URL), InvalidInputError for a prefix that is no path."""
    url = canonicalise(url)
    prefix = checked_prefix(url, section_prefix(url) if prefix is None else prefix)
    return url, prefix, section_key(url, prefix)


async def attach_source(
    connection: AsyncConnection,
    url: str,
    page_limit: int,
    *,
    prefix: str | None = None,
    acquirer: str | None = None,
    all_text: bool = False,
    refresh_hours: float | None = None,
    name: str | None = None,
    owners: Sequence[str] | None = None,
) -> str:
    """Attach the section that begins at `url` and return its key. Its pages are moved to it.

    Its URLs begin with `prefix` (default: `section_prefix`), its pages are fetched by `acquirer` (http, firecrawl,
    browser; None = as the settings say) every `refresh_hours` (None = as the settings say), and with `all_text`
    everything that they show is kept. Attaching again replaces all of this, but for a `name` and `owners` that are not
    given. Raises FetchError(INVALID_URL), InvalidInputError for a source that a file declares.
    """
    url, prefix, key = section_at(url, prefix)
    async with connection.transaction():
        await lock_host(connection, key)
        cursor = await connection.execute(
            sql.SQL(
                "INSERT INTO sources AS s (key, seed_url, path_prefix, page_limit, acquirer, all_text, refresh_hours,"
                " name, owners) VALUES (%(key)s, %(url)s, %(prefix)s, %(pages)s, %(acquirer)s, %(all_text)s, %(hours)s,"
                " %(name)s, coalesce(%(owners)s::text[], '{{}}'))"
                " ON CONFLICT (key) DO UPDATE SET seed_url = EXCLUDED.seed_url, path_prefix = EXCLUDED.path_prefix,"
                " page_limit = EXCLUDED.page_limit, acquirer = EXCLUDED.acquirer, all_text = EXCLUDED.all_text,"
                " refresh_hours = EXCLUDED.refresh_hours, name = coalesce(EXCLUDED.name, s.name),"
                " owners = coalesce(%(owners)s, s.owners), paused = false, {}"
                " WHERE s.declared_in IS NULL RETURNING id"
            ).format(KEEP_MAP),
            {
                "key": key,
                "url": url,
                "prefix": prefix,
                "pages": page_limit,
                "acquirer": acquirer,
                "all_text": all_text,
                "hours": refresh_hours,
                "name": name,
                "owners": None if owners is None else list(owners),
            },
        )
        if await cursor.fetchone() is None:
            declared = (await find_source(connection, key)).declared_in
            raise InvalidInputError(f"{key} is declared in {declared}: change it there, or delete it there first")
        await assign_documents(connection, key)
    return key


async def ensure_source(connection: AsyncConnection, key: str) -> Source:
    """The source `key`; made when it is a host that is new. A refresh drops it again when it stores nothing.

    Raises InvalidInputError for a section that is not attached and for what is no host.
    """
    host, slash, _ = key.partition("/")
    try:
        is_new_host = not slash and source_key(f"https://{host}/") == host
    except FetchError:
        is_new_host = False
    if is_new_host:
        await connection.execute("INSERT INTO sources (key) VALUES (%s) ON CONFLICT (key) DO NOTHING", (host,))
    return await find_source(connection, key)


async def detach_source(connection: AsyncConnection, key: str) -> Source:
    """Detach the source `key`. Its pages stay, with the source around its section; returns what it was.

    Raises NotStoredError for a source that is unknown or not attached, InvalidInputError for one declared in a file.
    """
    async with connection.transaction():
        await lock_host(connection, key)
        source = await find_source(connection, key)
        if source.declared_in is not None:
            raise InvalidInputError(f"{key} is declared in {source.declared_in}: delete it there")
        if not source.attached:
            raise NotStoredError(
                f"{key} is not attached: it is listed because pages of it are stored; `webrag forget {key}` removes"
                " them"
            )
        await release_source(connection, key)
    return source


async def release_source(connection: AsyncConnection, key: str) -> None:
    """Make `key` a source that nobody attached. A section goes, its pages move to the source around it.

    Call inside a transaction that holds `lock_host`.
    """
    await connection.execute(
        "UPDATE sources SET seed_url = NULL, page_limit = NULL, declared_in = NULL, refresh_hours = NULL,"
        " watch_minutes = NULL, shards = 1, acquirer = NULL, pool = NULL, follow = 'links', versions_in_path = NULL,"
        " all_text = false, name = NULL, owners = '{}', map_read_at = NULL, map_entries = NULL, watched_at = NULL,"
        " watch_token = NULL, look_answered_at = NULL, look_failed_since = NULL"
        " WHERE key = %s",
        (key,),
    )
    host, slash, _ = key.partition("/")
    if slash:
        await connection.execute(
            "INSERT INTO sources (key) SELECT %(host)s WHERE EXISTS (SELECT FROM documents d JOIN sources s"
            " ON s.id = d.source_id WHERE s.key = %(key)s) ON CONFLICT (key) DO NOTHING",
            {"host": host, "key": key},
        )
        await connection.execute(
            "UPDATE documents d SET source_id = (SELECT n.id FROM sources n WHERE n.host = %(host)s"
            " AND n.key <> %(key)s AND in_section(d.canonical_url, n.place) ORDER BY length(n.place) DESC LIMIT 1)"
            " WHERE d.source_id = (SELECT id FROM sources WHERE key = %(key)s)",
            {"host": host, "key": key},
        )
        await connection.execute("DELETE FROM sources WHERE key = %s", (key,))
        await _log_sources(connection, host)
    await drop_empty_sources(connection, host)


async def assign_documents(connection: AsyncConnection, key: str) -> None:
    """Move the documents in the section of `key` to it, but for those of sections within it.

    Call inside a transaction that holds `lock_host`.
    """
    cursor = await connection.execute(
        "UPDATE documents d SET source_id = own.id FROM sources own, sources old WHERE own.key = %s"
        " AND old.host = own.host AND length(old.place) < length(own.place) AND d.source_id = old.id"
        " AND in_section(d.canonical_url, own.place)",
        (key,),
    )
    if cursor.rowcount:
        host = key.partition("/")[0]
        await _log_sources(connection, host)
        await drop_empty_sources(connection, host)


async def lock_host(connection: AsyncConnection, key: str) -> None:
    """Keep writers of pages of the host of `key` out until the transaction ends: they read which sources there are."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", (key.partition("/")[0],))


async def drop_empty_sources(connection: AsyncConnection, host: str) -> None:
    """Delete the sources of `host` that hold no page and that nobody attached."""
    await connection.execute(
        "DELETE FROM sources s WHERE s.host = %s AND s.page_limit IS NULL AND NOT EXISTS (SELECT FROM documents d"
        " JOIN document_versions v ON v.document_id = d.id WHERE d.source_id = s.id)",
        (host,),
    )


async def _log_sources(connection: AsyncConnection, host: str) -> None:
    """Tell followers of the corpus that the sources of `host` hold other pages: a line of the outbox for each."""
    await connection.execute(
        "INSERT INTO corpus_log (source_id, document_id, version_id, change) SELECT DISTINCT ON (d.source_id)"
        " d.source_id, d.id, d.current_version, 'version' FROM documents d JOIN sources s ON s.id = d.source_id"
        " WHERE s.host = %s AND d.current_version IS NOT NULL ORDER BY d.source_id, d.id",
        (host,),
    )


async def pause_sources(connection: AsyncConnection, name: str, *, paused: bool) -> list[str]:
    """Pause or resume the sources that `name` stands for; returns their keys. Raises NotStoredError."""
    keys = [source.key for source in await find_sources(connection, name)]
    await connection.execute("UPDATE sources SET paused = %s WHERE key = ANY(%s)", (paused, keys))
    return keys


_NAMES = """
SELECT s.key, coalesce(s.name, (SELECT v.title FROM document_versions v WHERE v.id =
 (SELECT d.current_version FROM documents d WHERE d.id = coalesce(
  (SELECT a.document_id FROM url_aliases a WHERE a.url = s.start),
  (SELECT c.id FROM documents c WHERE c.canonical_url = s.start)))))
FROM (SELECT key, name, coalesce(seed_url, 'https://' || key || '/') AS start FROM sources
 WHERE %(keys)s::text[] IS NULL OR key = ANY(%(keys)s)) s
"""


async def source_names(connection: AsyncConnection, keys: Sequence[str] | None = None) -> dict[str, str]:
    """What people call these sources, or all, by key: their names, else the titles of their start pages. Sources that
    have neither are left out.

    A title is a claim of its page: to be shown beside the key, never in its place.
    """
    cursor = await connection.execute(_NAMES, {"keys": None if keys is None else list(keys)})
    return {str(key): str(name) for key, name in await cursor.fetchall() if name}
