"""What the corpus could not answer: questions that were refused, answered low or marked wrong, grouped by what they
ask, with the stored pages nearest to them and the pages that their source names and the corpus lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from psycopg import AsyncConnection
from psycopg.rows import class_row

from webrag_core.indexing.terms import terms
from webrag_core.retrieval.models import Contract

Why = Literal["refused", "low", "wrong"]
"""No sentence was said; the answer was of low confidence; a person said that it is wrong or incomplete."""

_MOST_RUNS = 2_000
_MOST_LACKING = 20_000  # pages of a source that are looked through
_ALIKE = 0.5  # share of two questions' terms that they have in common, from which they ask the same
_SHOWN = 3
_RUNS = """
WITH runs AS (
    SELECT a.id, a.query, a.started_at, a.prose ->> 'status' AS status, a.prose ->> 'band' AS band,
           a.options -> 'sources' ->> 0 AS source,
           EXISTS (SELECT FROM feedback f WHERE f.answer_id = a.id AND f.kind IN ('wrong', 'missing', 'better_source')
                   AND f.weight > 0) AS wrong
    FROM answer_runs a
    WHERE a.kind = 'prose' AND a.state = 'done' AND a.started_at >= %(since)s
)
SELECT r.id AS answer_id, r.query AS question, date_trunc('week', r.started_at AT TIME ZONE 'UTC')::date AS week,
       coalesce(r.source, (SELECT s.key FROM citations c JOIN document_versions v ON v.id = c.version_id
                           JOIN documents d ON d.id = v.document_id JOIN sources s ON s.id = d.source_id
                           WHERE c.answer_id = r.id ORDER BY c.number LIMIT 1)) AS source,
       CASE WHEN r.wrong THEN 'wrong' WHEN r.band = 'low' THEN 'low' ELSE 'refused' END AS why,
       array(SELECT d.canonical_url FROM citations c JOIN document_versions v ON v.id = c.version_id
             JOIN documents d ON d.id = v.document_id WHERE c.answer_id = r.id
             GROUP BY d.canonical_url ORDER BY min(c.number) LIMIT 3) AS nearest
FROM runs r
WHERE r.wrong OR r.band = 'low' OR r.status IN ('not_found', 'insufficient', 'likely')
ORDER BY r.id DESC LIMIT %(limit)s
"""
_LACKING = """
SELECT m.url, concat_ws(' ', m.title, m.description, m.words) AS words
FROM site_map_pages m JOIN sources s ON s.id = m.source_id
WHERE (%(source)s::text IS NULL OR s.key = %(source)s)
  AND NOT EXISTS (SELECT FROM documents d WHERE d.canonical_url = m.url)
  AND NOT EXISTS (SELECT FROM url_aliases u WHERE u.url = m.url)
ORDER BY m.url LIMIT %(limit)s
"""


class Gap(Contract):
    """Questions of one week (its Monday) to one source that ask the same: the latest in words, how often each `why`,
    and the numbers of their answers, the latest first. `source` is None where nothing was near. `lacking` are pages
    that the source's site map (without one, any) names and that are not stored, those first that share most words with
    the question."""

    week: date
    source: str | None
    question: str
    why: dict[Why, int]
    answers: list[int]
    nearest: list[str]
    lacking: list[str]

    @property
    def times(self) -> int:
        """How often it was asked."""
        return len(self.answers)


@dataclass(frozen=True, slots=True)
class _Run:
    answer_id: int
    question: str
    week: date
    source: str | None
    why: Why
    nearest: list[str]


async def list_gaps(connection: AsyncConnection, *, since: datetime, source: str | None = None) -> list[Gap]:
    """Those since then, of one source or all: the latest week first, in it what was asked most often. The latest 2,000
    answers are looked at."""
    async with connection.cursor(row_factory=class_row(_Run)) as cursor:
        await cursor.execute(_RUNS, {"since": since, "limit": _MOST_RUNS})
        runs = [run for run in await cursor.fetchall() if source in (None, run.source)]
    groups = grouped(runs)
    lacking = {key: await _lacking(connection, key) for key in {group[0].source for group in groups}}
    gaps = [_gap(group, lacking[group[0].source]) for group in groups]
    return sorted(gaps, key=lambda gap: (-gap.week.toordinal(), -gap.times, -gap.answers[0]))


def grouped(runs: Iterable[_Run]) -> list[list[_Run]]:
    """Runs of the same week and source whose questions share at least half of their terms with the first of a group."""
    groups: dict[tuple[date, str | None], list[tuple[frozenset[str], list[_Run]]]] = {}
    for run in runs:
        words = frozenset(terms(run.question))
        here = groups.setdefault((run.week, run.source), [])
        for others, group in here:
            if words == others or len(words & others) >= _ALIKE * max(1, len(words | others)):
                group.append(run)
                break
        else:
            here.append((words, [run]))
    return [group for here in groups.values() for _, group in here]


async def _lacking(connection: AsyncConnection, source: str | None) -> list[tuple[str, frozenset[str]]]:
    cursor = await connection.execute(_LACKING, {"source": source, "limit": _MOST_LACKING})
    return [(url, frozenset(terms(f"{words} {url}"))) for url, words in await cursor.fetchall()]


def _gap(group: Sequence[_Run], lacking: Sequence[tuple[str, frozenset[str]]]) -> Gap:
    latest = group[0]
    words = frozenset(terms(latest.question))
    shared = sorted(((len(words & others), url) for url, others in lacking), key=lambda item: (-item[0], item[1]))
    counts: dict[Why, int] = {}
    for run in group:
        counts[run.why] = counts.get(run.why, 0) + 1
    return Gap(
        week=latest.week,
        source=latest.source,
        question=latest.question,
        why=counts,
        answers=[run.answer_id for run in group],
        nearest=list(dict.fromkeys(url for run in group for url in run.nearest))[:_SHOWN],
        lacking=[url for count, url in shared[:_SHOWN] if count],
    )
