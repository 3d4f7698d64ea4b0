"""Tables of the ingestion layer: sources, documents, aliases, versions, link candidates, ledger, outbox."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.converted_page import EXTRACTOR_VERSION, ConvertedPage, PageLink
from webrag_core.corpus.freshness import ANSWERED_AT
from webrag_core.corpus.markup import store_markup
from webrag_core.corpus.periods import Sighting, basis_of, record_sighting
from webrag_core.errors import FetchError, Reason
from webrag_core.language.detection import UNCLEAR, detected_page
from webrag_core.text_work import beside_loop
from webrag_core.trace import current_trace_id

CONFIRMATIONS = 3
"""Answers in a row that a page is not there, after which it counts as gone."""
CONFIRMATION_SPACING = timedelta(hours=20)
"""Answers that come closer together are one: a site that is broken for an hour loses nothing."""
UNREADABLE = frozenset({Reason.EMPTY_PAGE, Reason.NEEDS_SCRIPT, Reason.PARSE_FAILURE, Reason.UNSUPPORTED_TYPE})
"""What the extractor says of a page: another one may read it."""
ABSENT = frozenset({Reason.NOT_FOUND, Reason.SOFT_404, Reason.EMPTY_PAGE})
"""Reasons that say that the page is not there, and nothing about the way to it."""
HELD = frozenset({Reason.NEAR_EMPTY, Reason.HELD_BACK})
"""Reasons for which a new text waits for confirmation: the page is there."""
_HELD = [reason.value for reason in HELD]


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A row of `documents`. `latest_version` is the last one fetched: not current yet while it is being indexed.

    `has_all_text`: it holds all that the page shows (None = there is none); `wants_all_text`: the next one is to.
    `ask_whole`: why its next request is unconditional, `audit` or `lies`; `refresh_hours`: its source's cadence;
    `validator_checks`: the counts of its source's `SignalRecord` of validators.
    """

    id: int
    source_id: int
    canonical_url: str
    status: str
    reason: str | None
    current_version: int | None
    acquirer: str | None
    etag: str | None
    last_modified: str | None
    last_answered: datetime | None
    misses: int
    miss_reason: str | None
    last_miss: datetime | None
    held_as: str | None
    held_sketch: list[int] | None
    latest_version: int | None
    inputs_sha256: str | None
    extractor: str | None
    fetched_at: datetime | None
    has_all_text: bool | None
    wants_all_text: bool
    ask_whole: str | None
    refresh_hours: float | None
    validator_checks: list[int] | None

    @property
    def is_due(self) -> bool:
        """Whether the last text was not made as the page's or its source's setting says."""
        return self.has_all_text is not None and self.has_all_text != self.wants_all_text


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A row of `document_versions` with its document. `detected_language` is None where nobody has looked yet;
    `language` is the one that counts, what the page declares included, None where there is none."""

    id: int
    document_id: int
    source_id: int
    canonical_url: str
    markdown: str
    sha256: str
    title: str | None
    chunker: str | None
    detected_language: str | None
    language: str | None


@dataclass(frozen=True, slots=True)
class StoredLink:
    """A row of `link_candidates` of a current version, with the page it stands on."""

    document_id: int
    from_url: str
    target_url: str
    anchor_text: str
    context: str
    heading_path: list[str]
    in_navigation: bool
    title: str | None
    description: str | None


_DOCUMENT = (
    "SELECT d.id, d.source_id, d.canonical_url, d.status, d.reason, d.current_version, d.acquirer,"  # noqa: S608
    f" d.etag, d.last_modified, {ANSWERED_AT} AS last_answered,"
    " d.misses, d.miss_reason, d.last_miss, d.held_as, d.held_sketch,"
    " v.id AS latest_version, v.inputs_sha256,"
    " v.extractor, v.fetched_at, v.all_text AS has_all_text,"
    " coalesce(d.all_text, (SELECT s.all_text FROM sources s WHERE s.id = d.source_id)) AS wants_all_text,"
    " d.ask_whole, (SELECT s.refresh_hours FROM sources s WHERE s.id = d.source_id) AS refresh_hours,"
    " (SELECT ARRAY[c.flagged_changed, c.flagged_same, c.silent_changed, c.silent_same] FROM change_signals c"
    "  WHERE c.source_id = d.source_id AND c.signal = 'validator') AS validator_checks"
    " FROM documents d LEFT JOIN LATERAL (SELECT n.id, n.extractor, n.fetched_at, n.all_text, n.inputs_sha256"
    " FROM document_versions n"
    " WHERE n.document_id = d.id"
    " ORDER BY n.fetched_at DESC, n.number DESC LIMIT 1) v ON true"
    " WHERE d.id = coalesce((SELECT a.document_id FROM url_aliases a WHERE a.url = w.url),"
    " (SELECT o.id FROM documents o WHERE o.canonical_url = w.url))"
)


_LOOK_UP = (
    "SELECT is_forgotten(w.url), CASE WHEN d.id IS NULL"  # noqa: S608
    " THEN (SELECT s.all_text FROM sources s WHERE s.id = source_of(w.url)) ELSE d.wants_all_text END,"
    " (SELECT m.mark FROM removal_mark m), d.*"
    f" FROM {{}} LEFT JOIN LATERAL ({_DOCUMENT}) d ON true ORDER BY w.place"
)
_PAGE = _LOOK_UP.format("(VALUES (%s::text, 1)) AS w (url, place)").encode()
_PAGES = _LOOK_UP.format("unnest(%s::text[]) WITH ORDINALITY AS w (url, place)").encode()


@dataclass(frozen=True, slots=True)
class StoredPage:
    """What is stored of the page at a URL: `document` None = nothing. `all_text`: whether everything that the page
    shows is kept, as it or its source says. `removals` is another text after each removal on request, and when a page
    is allowed again."""

    document: StoredDocument | None
    all_text: bool
    removals: str


async def find_pages(connection: AsyncConnection, urls: Sequence[str]) -> list[StoredPage | FetchError]:
    """What is stored of the pages at canonical URLs, in this order; the error FORGOTTEN for one that was removed on
    request. An alias wins over a document that stood there before it moved."""
    single = len(urls) == 1  # for a list the server plans anew each time, which costs more than to read one page
    parameters = (urls[0] if single else list(urls),)
    cursor = await connection.execute(_PAGE if single else _PAGES, parameters, prepare=True)
    return [
        forgotten_error()
        if forgotten
        else StoredPage(None if fields[0] is None else StoredDocument(*fields), bool(all_text), str(removals))
        for forgotten, all_text, removals, *fields in await cursor.fetchall()
    ]


async def find_document(connection: AsyncConnection, url: str) -> StoredDocument | None:
    """The document that canonical `url` names. An alias wins over a document that stood there before it moved."""
    async with connection.cursor(row_factory=class_row(StoredDocument)) as cursor:
        await cursor.execute(
            f"SELECT d.* FROM (VALUES (%s::text)) AS w (url) CROSS JOIN LATERAL ({_DOCUMENT}) d".encode(),  # noqa: S608
            (url,),
        )
        return await cursor.fetchone()


async def confirmed_missing(connection: AsyncConnection, source: str) -> list[str]:
    """URLs of the documents of a source that it said often enough are not there, and that are in the index still."""
    cursor = await connection.execute(
        "SELECT d.canonical_url FROM documents d JOIN sources s ON s.id = d.source_id WHERE s.key = %s"
        " AND d.status <> 'gone' AND d.misses >= %s AND d.miss_reason <> ALL(%s) ORDER BY d.canonical_url",
        (source, CONFIRMATIONS, _HELD),
    )
    return [str(row[0]) for row in await cursor.fetchall()]


async def load_version(connection: AsyncConnection, version_id: int) -> StoredVersion | None:
    """One version with its text; None when it does not exist or its text was pruned."""
    return next(iter(await load_versions(connection, [version_id])), None)


async def load_versions(connection: AsyncConnection, version_ids: Sequence[int]) -> list[StoredVersion]:
    """Versions with their texts, in any order, but those that do not exist or whose texts were pruned."""
    async with connection.cursor(row_factory=class_row(StoredVersion)) as cursor:
        await cursor.execute(
            "SELECT v.id, v.document_id, d.source_id, d.canonical_url, v.markdown, v.sha256, v.title, v.chunker,"
            " v.detected_language, language_of(v.language, v.detected_language) AS language"
            " FROM document_versions v JOIN documents d ON d.id = v.document_id WHERE v.id = ANY(%s)"
            " AND v.pruned_at IS NULL",
            (list(version_ids),),
        )
        return await cursor.fetchall()


async def lock_urls(connection: AsyncConnection, *urls: str) -> None:
    """Serialise writers of these URLs until the transaction ends. Once per transaction: sorted, nobody deadlocks."""
    await connection.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended(u, 0)) FROM unnest(%s::text[]) u", (sorted(set(urls)),)
    )


async def refuse_forgotten(connection: AsyncConnection, *urls: str) -> None:
    """Raise FetchError(FORGOTTEN) when one of these URLs was removed on request. Writers ask under `lock_urls`."""
    await read_forgotten(await ask_forgotten(connection, *urls))


async def ask_forgotten(connection: AsyncConnection, *urls: str) -> AsyncCursor:
    """Ask whether one of these URLs was removed on request; see `read_forgotten`. May be part of a pipeline."""
    return await connection.execute(
        "SELECT EXISTS (SELECT FROM unnest(%s::text[]) u WHERE is_forgotten(u))", ([*urls],)
    )


async def read_forgotten(cursor: AsyncCursor) -> None:
    """Raise FetchError(FORGOTTEN) when one was."""
    row = await cursor.fetchone()
    if row is not None and row[0]:
        raise forgotten_error()


def forgotten_error() -> FetchError:
    """The error of a page that was removed on request."""
    return FetchError(Reason.FORGOTTEN, "the page was removed on request; `webrag ingest URL` lets it be stored again")


async def choose_all_text(connection: AsyncConnection, document_id: int, *, all_text: bool) -> None:
    """Remember for a page whether everything that it shows is kept, whatever its source says."""
    await connection.execute("UPDATE documents SET all_text = %s WHERE id = %s", (all_text, document_id))


async def ensure_document(connection: AsyncConnection, url: str, *, new_source: bool = True) -> int | None:
    """Id of the document with this canonical URL, made when new. Call inside a transaction.

    It belongs to the source of its host with the longest prefix. Where there is none, `new_source` makes one for the
    host; without it there is no document either (None).
    """
    await lock_hosts(connection, url)
    document_id = await _document_of_source(connection, url)
    if document_id is None and new_source:
        await connection.execute("INSERT INTO sources (key) VALUES (%s) ON CONFLICT (key) DO NOTHING", (_host(url),))
        document_id = await _document_of_source(connection, url)
    return document_id


async def lock_hosts(connection: AsyncConnection, *urls: str) -> None:
    """Keep the sections of the hosts of these URLs from being attached and detached (`sources.lock_host`) until the
    transaction ends; other writers do not wait."""
    await connection.execute(
        "SELECT pg_advisory_xact_lock_shared(hashtextextended(u, 1)) FROM unnest(%s::text[]) u",
        (sorted({_host(url) for url in urls}),),
    )


def _host(url: str) -> str:
    return url.split("/", 3)[2]


async def _document_of_source(connection: AsyncConnection, url: str) -> int | None:
    cursor = await connection.execute(
        "INSERT INTO documents (source_id, canonical_url) SELECT s.id, %(url)s FROM sources s"
        " WHERE s.id = source_of(%(url)s)"
        " ON CONFLICT (canonical_url) DO UPDATE SET updated_at = documents.updated_at RETURNING id",
        {"url": url},
    )
    row = await cursor.fetchone()
    return None if row is None else int(row[0])


async def store_version(
    connection: AsyncConnection,
    page: AcquiredPage,
    converted: ConvertedPage,
    acquirer: str,
    next_check: datetime,
    *,
    sighting: bool = True,
    inputs_sha256: str | None = None,
) -> tuple[int, int]:
    """Keep a fetched page: document, aliases, version, links. Call inside a transaction.

    Returns (document id, version id). The same text is the same version, whenever it is seen again. One that is stored
    after its successor (by a slow writer, from an older archive) is superseded from the start. The version does
    not become current here (indexing does that, once everything that belongs to it is there). Without `sighting` it is
    a text that a history has, which nobody saw as the page. `inputs_sha256` is the `inputs_digest`.
    Raises FetchError(FORGOTTEN).
    """
    language = await beside_loop(detected_page, converted.markdown) or UNCLEAR
    async with connection.pipeline():  # what nobody waits for costs no way to the server and back
        values = version_values(page, converted, language, inputs_sha256)
        stored = await _write_version(connection, page, converted, values, acquirer, next_check, sighting=sighting)
        forgotten = await _clear_links(connection, stored[1], converted.links)
    await copy_links(connection, {stored[1]: [link for link in converted.links if link.target_url not in forgotten]})
    return stored


def version_values(
    page: AcquiredPage, converted: ConvertedPage, language: str, inputs_sha256: str | None
) -> dict[str, object]:
    """What a version holds of a fetched page and of what was read in it, by the names of the statements that write
    it; `language` is the one that was detected, `inputs_sha256` the `inputs_digest`."""
    return {
        "markdown": converted.markdown,
        "sha256": hashlib.sha256(converted.markdown.encode()).hexdigest(),
        "title": converted.title,
        "description": converted.description,
        "language": converted.language,
        "detected": language,
        "status": page.status,
        "media_type": page.media_type or "text/html",
        "fetched_at": page.fetched_at,
        "published": converted.published,
        "modified": converted.modified,
        "extractor": EXTRACTOR_VERSION,
        "body": hashlib.sha256(page.body).hexdigest(),
        "inputs": inputs_sha256,
        "left_out": asdict(converted.left_out),
        "all_text": page.all_text,
        "archive_url": page.archive_url,
    }


async def _write_version(
    connection: AsyncConnection,
    page: AcquiredPage,
    converted: ConvertedPage,
    values: dict[str, object],
    acquirer: str,
    next_check: datetime,
    *,
    sighting: bool,
) -> tuple[int, int]:
    aliases = sorted({page.url, *page.redirects} - {page.final_url})
    await lock_urls(connection, page.final_url, *aliases)
    await refuse_forgotten(connection, page.final_url, *aliases)
    document_id = await ensure_document(connection, page.final_url)
    assert document_id is not None
    for alias in aliases:
        await connection.execute(
            "INSERT INTO url_aliases (url, document_id) VALUES (%s, %s)"
            " ON CONFLICT (url) DO UPDATE SET document_id = EXCLUDED.document_id",
            (alias, document_id),
        )
    cursor = await connection.execute(
        "INSERT INTO document_versions (document_id, number, markdown, sha256, title, description, language,"
        " detected_language, http_status, media_type, fetched_at, superseded_at, published, modified, extractor,"
        " body_sha256, inputs_sha256, left_out, all_text, archive_url, cause)"
        " SELECT %(document)s, coalesce(max(number), 0) + 1, %(markdown)s, %(sha256)s, %(title)s, %(description)s,"
        " %(language)s, %(detected)s, %(status)s, %(media_type)s, %(fetched_at)s,"
        " CASE WHEN max(fetched_at) > %(fetched_at)s THEN now() END, %(published)s, %(modified)s, %(extractor)s,"
        " %(body)s, %(inputs)s, %(left_out)s, %(all_text)s, %(archive_url)s,"
        " coalesce((SELECT CASE WHEN n.extractor = %(extractor)s AND n.all_text = %(all_text)s THEN 'page'"
        "  WHEN n.body_sha256 = %(body)s THEN 'extractor' ELSE 'unsure' END FROM document_versions n"
        "  WHERE n.document_id = %(document)s AND n.fetched_at <= %(fetched_at)s"
        "  ORDER BY n.fetched_at DESC, n.number DESC LIMIT 1), 'page')"
        " FROM document_versions WHERE document_id = %(document)s"
        " ON CONFLICT (document_id, sha256) DO UPDATE SET"
        " fetched_at = greatest(document_versions.fetched_at, EXCLUDED.fetched_at),"
        " markdown = EXCLUDED.markdown, pruned_at = NULL, detected_language = EXCLUDED.detected_language,"
        " http_status = EXCLUDED.http_status, extractor = EXCLUDED.extractor, body_sha256 = EXCLUDED.body_sha256,"
        " inputs_sha256 = EXCLUDED.inputs_sha256, left_out = EXCLUDED.left_out, all_text = EXCLUDED.all_text,"
        " archive_url = coalesce(document_versions.archive_url, EXCLUDED.archive_url)"
        " RETURNING id",
        {
            "document": document_id,
            **values,
            "left_out": Jsonb(values["left_out"]),
        },
    )
    row = await cursor.fetchone()
    assert row is not None
    version_id = int(row[0])
    if sighting:
        seen = Sighting(page.fetched_at, version_id, acquirer, basis_of(acquirer))
        await record_sighting(connection, document_id, seen)
    await store_markup(connection, version_id, converted.markup)
    # validators go with the latest version: a slower fetch that began earlier must not bring back its own.
    # A URL is either a document or an alias: what it was seen as last counts
    await connection.execute(
        "WITH former AS (DELETE FROM url_aliases WHERE url = %s)"
        " UPDATE documents d SET acquirer = %s, etag = %s, last_modified = %s, last_checked = %s, next_check = %s,"
        " misses = 0, miss_reason = NULL, last_miss = NULL, missing_since = NULL, held_as = NULL, held_sketch = NULL,"
        " updated_at = now(),"
        " status = CASE WHEN current_version IS NULL THEN 'running' ELSE 'ready' END, reason = NULL WHERE id = %s"
        " AND NOT EXISTS (SELECT FROM document_versions n WHERE n.document_id = d.id AND n.fetched_at > %s)",
        (
            page.final_url,
            acquirer,
            page.headers.get("etag"),
            page.headers.get("last-modified"),
            page.checked_at,
            next_check,
            document_id,
            page.fetched_at,
        ),
    )
    return document_id, version_id


async def _clear_links(connection: AsyncConnection, version_id: int, links: Sequence[PageLink]) -> set[str]:
    """Remove the links of a version; return targets of the new ones that were removed on request."""
    cursor = await connection.execute(
        "WITH former AS (DELETE FROM link_candidates WHERE version_id = %s)"
        " SELECT u FROM unnest(%s::text[]) u WHERE is_forgotten(u)",
        (version_id, [link.target_url for link in links]),
    )
    return {str(row[0]) for row in await cursor.fetchall()}


async def copy_links(connection: AsyncConnection, links: Mapping[int, Sequence[PageLink]]) -> None:
    """Add links of versions, which have none."""
    if not any(links.values()):
        return
    async with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY link_candidates (version_id, ordinal, target_url, anchor_text, context, heading_path,"
            " in_navigation, nofollow) FROM STDIN"
        ) as copy,
    ):
        for version_id, of_version in links.items():
            for ordinal, link in enumerate(of_version):
                where = (version_id, ordinal, link.target_url, link.anchor_text, link.context)
                await copy.write_row((*where, list(link.heading_path), link.in_navigation, link.nofollow))


async def record_failure(connection: AsyncConnection, url: str, error: FetchError, next_check: datetime) -> None:
    """A document without a good version becomes `failed`; one that has a version keeps it and stays `ready`.

    That the page is not there is counted, once a day; the count begins again with the first good answer. On a site
    of which nothing is stored or attached there is no document: the ledger alone has the failure.
    """
    document = await find_document(connection, url)
    document_id = document.id if document else await ensure_document(connection, url, new_source=False)
    if document_id is None:
        return
    await connection.execute(
        "UPDATE documents SET last_checked = now(), next_check = %(next)s, updated_at = now(), refused_by = %(by)s,"
        " status = CASE WHEN current_version IS NULL AND status <> 'gone' THEN 'failed' ELSE status END,"
        " reason = CASE WHEN current_version IS NULL AND status <> 'gone' THEN %(reason)s ELSE reason END"
        " WHERE id = %(id)s",
        {
            "next": next_check,
            "reason": error.reason.value,
            "by": EXTRACTOR_VERSION if error.reason in UNREADABLE else None,
            "id": document_id,
        },
    )
    if error.reason in ABSENT | HELD:  # of a page that is held back nothing is missing: each has its own count
        await connection.execute(
            "UPDATE documents SET miss_reason = %(reason)s, last_miss = now(),"
            " misses = CASE WHEN miss_reason = ANY(%(held)s) IS NOT DISTINCT FROM %(is_held)s"
            "  THEN misses ELSE 0 END + 1,"
            " missing_since = CASE WHEN NOT %(is_held)s THEN coalesce(missing_since, now()) END"
            " WHERE id = %(id)s AND (last_miss IS NULL OR last_miss <= now() - %(spacing)s"
            "  OR miss_reason = ANY(%(held)s) IS DISTINCT FROM %(is_held)s)",
            {
                "reason": error.reason.value,
                "held": _HELD,
                "is_held": error.reason in HELD,
                "id": document_id,
                "spacing": CONFIRMATION_SPACING,
            },
        )
    await log_change(connection, document_id, None, "failed")


async def refusals_in_a_row(connection: AsyncConnection, url: str, reason: Reason) -> int:
    """How often a page was refused for this reason since it was last answered otherwise, as far as the ledger goes."""
    cursor = await connection.execute(
        "SELECT count(*) FROM fetch_log WHERE url = %(url)s AND reason = %(reason)s AND outcome = 'failed'"
        " AND id > coalesce((SELECT max(id) FROM fetch_log WHERE url = %(url)s AND outcome <> 'skipped'"
        "  AND reason IS DISTINCT FROM %(reason)s), 0)",
        {"url": url, "reason": reason.value},
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def make_current(connection: AsyncConnection, versions: Mapping[int, int]) -> AsyncCursor:
    """Make versions, by document, the current ones; the cursor counts the documents that change."""
    return await connection.execute(
        "UPDATE documents d SET current_version = w.version_id, status = 'ready', reason = NULL, updated_at = now()"
        " FROM unnest(%s::int[], %s::int[]) AS w (id, version_id) WHERE d.id = w.id"
        " AND (d.current_version IS DISTINCT FROM w.version_id OR d.status <> 'ready')",
        (list(versions), list(versions.values())),
    )


async def log_change(connection: AsyncConnection, document_id: int, version_id: int | None, change: str) -> None:
    """Append to the outbox that followers of the corpus read."""
    await log_changes(connection, {document_id: version_id}, change)


async def log_changes(connection: AsyncConnection, versions: Mapping[int, int | None], change: str) -> None:
    """`log_change` of several documents; `versions` are by document."""
    await connection.execute(
        "WITH line AS (INSERT INTO corpus_log (source_id, document_id, version_id, change)"
        " SELECT d.source_id, d.id, w.version_id, %s FROM unnest(%s::int[], %s::int[]) WITH ORDINALITY"
        " AS w (id, version_id, place) JOIN documents d ON d.id = w.id ORDER BY w.place RETURNING *)"
        " UPDATE documents d SET announced_version = l.version_id, announcement = l.id, announced_at = l.logged_at"
        " FROM line l WHERE d.id = l.document_id AND l.change = 'version'",
        (change, list(versions), list(versions.values())),
    )


@dataclass(frozen=True, slots=True)
class FetchRecord:
    """One line of the coverage ledger. Sizes in bytes. With `version_id` it is a sighting of that version, from
    `seen_at`, which an archive's copy has from its own time."""

    url: str
    acquirer: str
    outcome: str
    started_at: datetime
    final_url: str | None = None
    hop: int = 0
    reason: str | None = None
    http_status: int | None = None
    bytes_raw: int | None = None
    bytes_decoded: int | None = None
    run_id: str | None = None
    version_id: int | None = None
    seen_at: datetime | None = None


_RECORD = (
    "WITH line AS (INSERT INTO fetch_log (url, final_url, hop, run_id, acquirer, outcome, reason, http_status,"
    " bytes_raw, bytes_decoded, started_at, version_id, seen_at, trace_id)"
    " VALUES (%(url)s, %(final_url)s, %(hop)s, %(run_id)s, %(acquirer)s, %(outcome)s, %(reason)s, %(http_status)s,"
    " %(bytes_raw)s, %(bytes_decoded)s, %(started_at)s, %(version_id)s, %(seen_at)s, %(trace_id)s)"
    " RETURNING *)"
    " UPDATE documents d SET last_outcome = l.outcome, last_reason = l.reason, last_run = l.run_id,"
    " last_fetch = l.id, last_fetch_at = l.ended_at FROM line l"
    " WHERE d.id = coalesce((SELECT o.id FROM documents o WHERE o.canonical_url = %(final_url)s),"
    " (SELECT a.document_id FROM url_aliases a WHERE a.url = %(url)s),"
    " (SELECT o.id FROM documents o WHERE o.canonical_url = %(url)s))"
)


async def record_fetch(connection: AsyncConnection, record: FetchRecord) -> None:
    """Append to the coverage ledger, and write the outcome to the document."""
    await connection.execute(_RECORD, {**asdict(record), "trace_id": current_trace_id()})


async def load_links(connection: AsyncConnection, document_ids: Sequence[int]) -> list[StoredLink]:
    """Links on the current versions of these documents, in page order; `nofollow` links are left out.

    `title` and `description` are what a site map says about the target, where there is one.
    """
    async with connection.cursor(row_factory=class_row(StoredLink)) as cursor:
        await cursor.execute(
            "SELECT d.id AS document_id, d.canonical_url AS from_url, l.target_url, l.anchor_text, l.context,"
            " l.heading_path, l.in_navigation, m.title, m.description"
            " FROM documents d JOIN link_candidates l ON l.version_id = d.current_version"
            " LEFT JOIN LATERAL (SELECT p.title, p.description FROM site_map_pages p WHERE p.url = l.target_url"
            " ORDER BY p.source_id LIMIT 1) m ON true"
            " WHERE d.id = ANY(%s) AND NOT l.nofollow ORDER BY d.canonical_url, l.ordinal",
            (list(document_ids),),
        )
        return await cursor.fetchall()
