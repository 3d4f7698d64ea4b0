"""Reading by validity: which text of a page holds on a day, by what its texts say of themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import get_args

from psycopg import AsyncConnection
from psycopg.rows import class_row

from webrag_core.corpus.in_force import KINDS, SeenVersion, ValidAnswer, holding
from webrag_core.corpus.stated_dates import Statement
from webrag_core.corpus.validity import StatedVersion, load_statements
from webrag_core.corpus.validity_phrases import ValidityKind
from webrag_core.history.as_of import AsOf
from webrag_core.history.models import PageAt, StatedTime

_ALL_KINDS: tuple[ValidityKind, ...] = get_args(ValidityKind)


@dataclass(frozen=True, slots=True)
class _Version:
    """A version of a page, with the day of its first sighting."""

    document_id: int
    id: int
    number: int
    sha256: str
    title: str | None
    first_seen: date | None


_VERSIONS = """
SELECT v.document_id, v.id, v.number, v.sha256, v.title,
       (SELECT min(p.seen_from AT TIME ZONE 'UTC')::date FROM version_periods p WHERE p.version_id = v.id) AS first_seen
FROM document_versions v WHERE v.document_id = ANY(%s) ORDER BY v.document_id, v.number
"""


async def stated_times(connection: AsyncConnection, documents: Sequence[int]) -> list[StatedTime]:
    """All that the versions of these documents say of their own time, by kind."""
    stated = await load_statements(connection, documents, _ALL_KINDS)
    cursor = await connection.execute(
        "SELECT id, number FROM document_versions WHERE id = ANY(%s)",
        ([row.version_id for listed in stated.values() for row in listed],),
    )
    numbers = {int(version): int(number) for version, number in await cursor.fetchall()}
    listed = [
        StatedTime(
            version=numbers[item.version_id],
            kind=item.statement.kind,
            start=item.statement.start,
            end=item.statement.end,
            basis=item.statement.basis,
            char_start=item.statement.char_start,
            char_end=item.statement.char_end,
        )
        for document in documents
        for item in stated.get(document, ())
    ]
    return sorted(listed, key=lambda row: _ALL_KINDS.index(row.kind))


async def holding_versions(connection: AsyncConnection, documents: Sequence[int], day: date) -> dict[int, ValidAnswer]:
    """What holds on a day, by document."""
    versions = await _versions(connection, documents)
    stated = await load_statements(connection, documents, KINDS)
    by_document: dict[int, list[SeenVersion]] = {}
    for version in versions:
        by_document.setdefault(version.document_id, []).append(
            SeenVersion(version.id, version.number, version.first_seen)
        )
    return {document: holding(day, by_document.get(document, ()), stated.get(document, ())) for document in documents}


async def valid_page(connection: AsyncConnection, address: str, documents: Sequence[int], at: AsOf) -> PageAt:
    """Which text of the page at `address` holds at a time; of a month or a year its last day counts.

    `documents` are those that have or had the address. The day may lie ahead: a text may say already when it begins.
    """
    day = at.end.date()
    answers = await holding_versions(connection, documents, day)
    document = next((document for document in documents if answers[document].certainty == "certain"), documents[0])
    answer = answers[document]
    versions = {version.id: version for version in await _versions(connection, [document])}
    previous, following = (
        None if item is None else versions[item.version_id].number for item in (answer.previous, answer.following)
    )
    page = PageAt(
        url=address,
        at=at.text,
        time="valid",
        certainty=answer.certainty,
        previous_version=previous,
        next_version=following,
        note=_note(answer, versions, day),
    )
    if answer.chosen is None:
        return page
    version, statement = versions[answer.chosen.version_id], answer.chosen.statement
    cursor = await connection.execute("SELECT markdown FROM document_versions WHERE id = %s", (version.id,))
    text = (await cursor.fetchone() or (None,))[0]
    return page.model_copy(
        update={
            "version": version.number,
            "version_id": version.id,
            "sha256": version.sha256,
            "title": version.title,
            "text": text,
            "valid_from": statement.start,
            "valid_until": statement.end,
            "kind": statement.kind,
            "note": page.note if text is not None else f"{page.note}; its text is no longer kept",
        }
    )


async def _versions(connection: AsyncConnection, documents: Sequence[int]) -> list[_Version]:
    async with connection.cursor(row_factory=class_row(_Version)) as cursor:
        await cursor.execute(_VERSIONS, (list(documents),))
        return await cursor.fetchall()


def _note(answer: ValidAnswer, versions: dict[int, _Version], day: date) -> str:
    """One sentence: what is stated, and by whom."""
    if answer.chosen is not None:
        return f"version {versions[answer.chosen.version_id].number} {time_text(answer.chosen.statement)}"
    around = "; ".join(
        f"version {versions[item.version_id].number} {time_text(item.statement)}"
        for item in (answer.previous, answer.following)
        if isinstance(item, StatedVersion)
    )
    if answer.certainty == "not_in_force":
        return f"no version holds on {day}: {around}"
    return f"{answer.reason}; {around}" if around else answer.reason


def time_text(statement: Statement | StatedTime) -> str:
    """What a statement says, such as: says that it is in force from 2024-01-01."""
    says = {
        "text": "says that it",
        "metadata": "says in its metadata that it",
        "history": "by the history it was read from",
        "undated": "by the history it was read from, at some time,",
    }[statement.basis]
    is_so = {
        "in_force": "is in force",
        "applicable": "is applicable",
        "published": "was published",
        "release": "was released",
    }[statement.kind]
    since = "" if statement.start is None else f" from {statement.start}"
    until = "" if statement.end is None else f" until the day before {statement.end}"
    return f"{says} {is_so}{since}{until}"
