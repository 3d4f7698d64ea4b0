"""A look at a watched page or section: what it says now, against what it said when the watch was last told of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from psycopg import AsyncConnection

from webrag_core.store.database import Database
from webrag_core.text_work import beside_loop
from webrag_core.watches.differences import differences, says
from webrag_core.watches.models import Event, News, TextChange
from webrag_core.watches.quotes import quotes_of_pages
from webrag_core.watches.sections import section_of
from webrag_core.watches.store import Compared, Due

_NOT_KEPT = "the earlier text is no longer kept, so nothing says what changed"
_NO_SECTION = "the page has no section of this name"
_UNSURE = "the page is read by another version of the extractor now: the change may be ours"


@dataclass(frozen=True, slots=True)
class Look:
    """What a look brought: what the watch is compared with from now on, and news, if any."""

    compared: Compared
    news: News | None = None


@dataclass(frozen=True, slots=True)
class _Version:
    document_id: int
    markdown: str | None


async def look_at_text(database: Database, due: Due) -> Look:
    """Compare the texts of a watch of a page or section."""
    old = due.compared
    assert due.document_id is not None
    async with database.connection() as connection:
        before = None if old.version_id is None else await _version(connection, old.version_id)
    if due.is_gone:
        return await _gone(database, due, before)
    assert due.current_version is not None
    async with database.connection() as connection:
        after = await _version(connection, due.current_version)
        cause = await _cause(connection, old.version_id, due.current_version)
    new = replace(old, seen_version=due.current_version, gone=False)
    if after is None or after.markdown is None:  # replaced and removed meanwhile: the next look sees the newer one
        return Look(replace(old, seen_version=due.current_version))
    if before is None:
        return await _first(due, after.markdown, new)
    documents = [before.document_id, after.document_id]
    moved_on = replace(new, version_id=due.current_version)
    if before.markdown is None:
        return Look(moved_on, News(watch=due.watch, event="back" if old.gone else "changed", note=_NOT_KEPT))
    was = _part(before.markdown, due.watch.heading) or ""
    now = _part(after.markdown, due.watch.heading)
    if now is None:
        if old.gone or await beside_loop(says, after.markdown, _body(was)):
            return Look(replace(old, seen_version=due.current_version))  # its words stand on the page, elsewhere
        return await _with_quotes(
            database, Look(replace(old, seen_version=due.current_version, gone=True)), due, "gone", documents, was, []
        )
    if cause == "extractor" and not old.gone:
        return Look(moved_on)
    passages = await beside_loop(differences, was, now)
    changes = [
        TextChange(heading_path=list(passage.heading_path), before=passage.before, after=passage.after)
        for passage in passages
    ]
    if old.gone:
        return await _with_quotes(database, Look(moved_on), due, "back", documents, was, changes)
    if not changes:
        return Look(moved_on)
    note = _UNSURE if cause == "unsure" else ""
    return await _with_quotes(database, Look(moved_on), due, "changed", documents, was, changes, note)


async def _first(due: Due, text: str, new: Compared) -> Look:
    """Take the first text to compare with. Of a section that is not there it is told once: the heading may be wrong."""
    taken = replace(new, version_id=due.current_version)
    if _part(text, due.watch.heading) is not None:
        return Look(taken, News(watch=due.watch, event="back") if due.compared.gone else None)
    news = None if due.compared.gone else News(watch=due.watch, event="gone", note=_NO_SECTION)
    return Look(replace(new, gone=True), news)


async def _gone(database: Database, due: Due, before: _Version | None) -> Look:
    gone = replace(due.compared, gone=True, seen_version=None)
    if before is None or due.compared.gone:
        return Look(gone)
    was = _part(before.markdown or "", due.watch.heading) or ""
    return await _with_quotes(database, Look(gone), due, "gone", [before.document_id], was, [])


async def _with_quotes(
    database: Database,
    look: Look,
    due: Due,
    event: Event,
    documents: Sequence[int],
    was: str,
    changes: list[TextChange],
    note: str = "",
) -> Look:
    """The look with its news: the quotes that stood on the text before."""
    quotes, answers = await quotes_of_pages(database, documents, was, standing=event == "back")
    news = News(watch=due.watch, event=event, differences=changes, quotes=quotes, answers=answers, note=note)
    return replace(look, news=news)


def _part(text: str, heading: Sequence[str]) -> str | None:
    return section_of(text, heading) if heading else text


def _body(section: str) -> str:
    """A section without its first line, which is its heading."""
    return section.partition("\n")[2]


async def _version(connection: AsyncConnection, version_id: int) -> _Version | None:
    cursor = await connection.execute(
        "SELECT document_id, markdown FROM document_versions WHERE id = %s", (version_id,)
    )
    row = await cursor.fetchone()
    return None if row is None else _Version(int(row[0]), row[1])


async def _cause(connection: AsyncConnection, before: int | None, after: int) -> str:
    """What replaced the one text by the other: the page, the extractor, or nobody can tell."""
    cursor = await connection.execute(
        "SELECT CASE WHEN bool_and(w.cause = 'extractor') THEN 'extractor' WHEN bool_or(w.cause = 'page') THEN 'page'"
        " ELSE 'unsure' END FROM document_versions b JOIN document_versions n ON n.document_id = b.document_id"
        " JOIN document_versions w ON w.document_id = b.document_id AND w.fetched_at > b.fetched_at"
        " AND w.fetched_at <= n.fetched_at WHERE b.id = %s AND n.id = %s",
        (before, after),
    )
    row = await cursor.fetchone()
    return str(row[0]) if row is not None and row[0] is not None else "page"
