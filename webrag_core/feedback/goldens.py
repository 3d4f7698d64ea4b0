"""Golden questions out of accepted corrections, in the files that `webrag eval retrieval` reads.

A question is one of an answer, its evidence the spans that were suggested for it and accepted. Its documents are the
versions that hold them, and among what else it is searched: current pages of the same sources, those first that the
rated answers quote.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg import AsyncConnection

from webrag_core.config.home import HomeSettings
from webrag_core.errors import InvalidInputError
from webrag_core.store.database import Database

SET = "local"
_MOST_DOCUMENTS = 200  # beside those with evidence

_SPANS = """
SELECT f.id, a.query, d.canonical_url, v.number, v.id, (f.suggested ->> 'char_start')::integer,
       (f.suggested ->> 'char_end')::integer
FROM feedback f JOIN answer_runs a ON a.id = f.answer_id JOIN document_versions v ON v.id = f.suggested_version
JOIN documents d ON d.id = v.document_id
WHERE f.state = 'accepted' AND v.markdown IS NOT NULL ORDER BY f.id
"""
_TEXTS = """
SELECT d.canonical_url, v.number, v.title, v.markdown FROM document_versions v JOIN documents d ON d.id = v.document_id
WHERE v.id = ANY(%(versions)s)
"""
_SEARCHED_AMONG = """
WITH evidence AS (
    SELECT v.document_id, d.source_id FROM document_versions v JOIN documents d ON d.id = v.document_id
    WHERE v.id = ANY(%(versions)s)
), quoted AS (
    SELECT DISTINCT v.document_id FROM citations c JOIN document_versions v ON v.id = c.version_id
    WHERE c.answer_id IN (SELECT answer_id FROM feedback WHERE state = 'accepted' AND suggested IS NOT NULL)
)
SELECT d.current_version FROM documents d LEFT JOIN quoted q ON q.document_id = d.id
WHERE d.current_version IS NOT NULL AND d.id <> ALL(ARRAY(SELECT document_id FROM evidence))
  AND (q.document_id IS NOT NULL OR d.source_id IN (SELECT source_id FROM evidence))
ORDER BY q.document_id IS NULL, md5(d.canonical_url) LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class GoldenFiles:
    """The local golden questions and their documents: where they lie, and how many there are."""

    questions: Path
    documents: Path
    golden_questions: int
    pages: int


def golden_files(settings: HomeSettings) -> tuple[Path, Path]:
    """Where the questions and their documents lie."""
    folder = settings.webrag_home / "feedback"
    return folder / "questions.jsonl", folder / "documents.jsonl"


async def write_goldens(database: Database, settings: HomeSettings) -> GoldenFiles:
    """Write both files anew from what is accepted now; what is no longer accepted, or was forgotten, is gone from them.

    Raises InvalidInputError when they cannot be written.
    """
    async with database.snapshot() as connection:
        questions, documents = await _load(connection)
    paths = golden_files(settings)
    for path, rows in zip(paths, (questions, documents), strict=True):
        _write(path, rows)
    return GoldenFiles(*paths, len(questions), len(documents))


async def renew_goldens(database: Database, settings: HomeSettings) -> None:
    """Write the files anew where they exist: after a removal they must not hold what was removed."""
    if golden_files(settings)[0].exists():
        await write_goldens(database, settings)


async def _load(connection: AsyncConnection) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    cursor = await connection.execute(_SPANS)
    by_query: dict[str, dict[str, Any]] = {}
    versions: list[int] = []
    for feedback_id, query, url, number, version_id, start, end in await cursor.fetchall():
        question = by_query.setdefault(
            query, {"id": f"{SET}-{feedback_id}", "set": SET, "question": query, "evidence": []}
        )
        span = {"document": _name(url, number), "start": start, "end": end}
        if span not in question["evidence"]:
            question["evidence"].append(span)
        versions.append(version_id)
    if not by_query:
        return [], []
    cursor = await connection.execute(_SEARCHED_AMONG, {"versions": versions, "limit": _MOST_DOCUMENTS})
    versions += [row[0] for row in await cursor.fetchall()]
    cursor = await connection.execute(_TEXTS, {"versions": versions})
    documents = {
        _name(url, number): {"id": _name(url, number), "title": title, "text": text}
        for url, number, title, text in await cursor.fetchall()
        if text is not None
    }
    return list(by_query.values()), [documents[name] for name in sorted(documents)]


def _name(url: str, number: int) -> str:
    return f"{url} version {number}"


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        os.replace(partial, path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}") from None
