"""What the corpus could not answer: questions that were refused, answered low or marked wrong, grouped by what they
ask, with the stored pages nearest to them and the pages that their source names and the corpus lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from psycopg import AsyncConnection
from psycopg.rows import class_row

from webrag_core.indexing.terms import terms
from webrag_core.retrieval.models import Contract

Why = Literal["refused", "wrong", "low"]
"""No sentence was said; a person said that the answer is wrong or incomplete, or named a better passage; it was of low
confidence."""

_MOST_RUNS = 2_000
_MOST_LACKING = 20_000  # pages of a source that are looked through
_ALIKE = 2 / 3  # share of two questions' terms that they have in common, from which they ask the same
_SHOWN = 3
_MOST_WORDINGS = 5
_QUOTED = 300  # characters of a passage
_RUNS = """
WITH runs AS (
    SELECT a.id, a.query, a.started_at, a.prose ->> 'status' AS status, a.prose ->> 'band' AS band,
           a.options -> 'sources' ->> 0 AS source,
           EXISTS (SELECT FROM feedback f WHERE f.answer_id = a.id AND f.kind IN ('wrong', 'missing', 'better_source')
                   AND f.weight > 0) AS wrong,
           a.query IN (SELECT b.query FROM feedback f JOIN answer_runs b ON b.id = f.answer_id
                       WHERE f.state = 'accepted' AND f.suggested IS NOT NULL) AS is_golden
    FROM answer_runs a
    WHERE a.kind = 'prose' AND a.state = 'done' AND a.started_at >= %(since)s
)
SELECT r.id AS answer_id, r.query AS question, date_trunc('week', r.started_at AT TIME ZONE 'UTC')::date AS week,
       coalesce(r.source, (SELECT s.key FROM citations c JOIN document_versions v ON v.id = c.version_id
                           JOIN documents d ON d.id = v.document_id JOIN sources s ON s.id = d.source_id
                           WHERE c.answer_id = r.id ORDER BY c.number LIMIT 1)) AS source,
       CASE WHEN r.status IN ('not_found', 'insufficient', 'likely') THEN 'refused' WHEN r.wrong THEN 'wrong'
            ELSE 'low' END AS why,
       array(SELECT d.canonical_url FROM citations c JOIN document_versions v ON v.id = c.version_id
             JOIN documents d ON d.id = v.document_id WHERE c.answer_id = r.id
             GROUP BY d.canonical_url ORDER BY min(c.number) LIMIT 3) AS nearest,
       r.is_golden
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
# those that somebody named stand before those that the latest answer of a group quotes
_PASSAGES = """
SELECT f.answer_id, NULL::integer AS citation, f.id AS feedback, f.suggested ->> 'url' AS url, v.title,
       left(f.suggested ->> 'quote', %(quoted)s) AS quote
FROM feedback f LEFT JOIN document_versions v ON v.id = f.suggested_version
WHERE f.suggested IS NOT NULL AND f.state <> 'rejected' AND f.answer_id = ANY(%(answers)s)
UNION ALL
SELECT c.answer_id, c.number, NULL, d.canonical_url, v.title,
       substr(v.markdown, c.char_start + 1, least(c.char_end - c.char_start, %(quoted)s))
FROM unnest(%(latest)s::bigint[]) AS l (id)
JOIN LATERAL (SELECT * FROM citations WHERE answer_id = l.id ORDER BY number LIMIT %(shown)s) c ON true
JOIN document_versions v ON v.id = c.version_id JOIN documents d ON d.id = v.document_id
WHERE v.markdown IS NOT NULL
ORDER BY feedback NULLS LAST, citation
"""


class GapPassage(Contract):
    """A passage that may answer: quote number `citation` of answer `answer_id`, or what feedback number `feedback` on
    it names. `quote` is its beginning, up to 300 characters."""

    answer_id: int
    citation: int | None
    feedback: int | None
    url: str
    title: str | None
    quote: str


class Gap(Contract):
    """Questions of one week (its Monday) to one source that ask the same.

    `question` is the wording that is nearest to all of them, `wordings` are others; `why` says how often each is the
    reason. `answers` are the numbers of their answers, the latest first. `source` is None where nothing was near.
    `passages` are those that somebody named and the first that the latest answer quotes. `lacking` are pages that the
    source's site map (without one, any) names and that are not stored, those first that share most words with the
    question. `is_golden`: each of the questions is a golden question already.
    """

    week: date
    source: str | None
    question: str
    wordings: list[str]
    why: dict[Why, int]
    answers: list[int]
    nearest: list[str]
    passages: list[GapPassage]
    lacking: list[str]
    is_golden: bool

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
    is_golden: bool
    words: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", frozenset(terms(self.question)))

    @property
    def wording(self) -> str:
        """The question without what spelling adds: case, blanks, the mark at its end."""
        return " ".join(self.question.casefold().split()).rstrip("?.! ")

    def likeness(self, other: _Run) -> float:
        """Share of the terms of both questions that both have; of questions without any, whether they are the same."""
        if not self.words and not other.words:
            return float(self.wording == other.wording)
        return len(self.words & other.words) / len(self.words | other.words)


async def list_gaps(
    connection: AsyncConnection, *, since: datetime, source: str | None = None, limit: int | None = None
) -> list[Gap]:
    """Those since then, of one source or all: the latest week first, in it what was asked most often, `limit` at most.
    The latest 2,000 answers are looked at."""
    async with connection.cursor(row_factory=class_row(_Run)) as cursor:
        await cursor.execute(_RUNS, {"since": since, "limit": _MOST_RUNS})
        runs = [run for run in await cursor.fetchall() if source in (None, run.source)]
    groups = sorted(grouped(runs), key=lambda group: (-group[0].week.toordinal(), -len(group), -group[0].answer_id))[
        :limit
    ]
    lacking = {key: await _lacking(connection, key) for key in {group[0].source for group in groups}}
    passages = await _passages(connection, groups)
    return [_gap(group, lacking[group[0].source], passages) for group in groups]


def grouped(runs: Iterable[_Run]) -> list[list[_Run]]:
    """Runs of the same week and source whose questions share two thirds of their terms with the first of a group."""
    groups: dict[tuple[date, str | None], list[list[_Run]]] = {}
    for run in runs:
        here = groups.setdefault((run.week, run.source), [])
        for group in here:
            if run.likeness(group[0]) >= _ALIKE:
                group.append(run)
                break
        else:
            here.append([run])
    return [group for here in groups.values() for group in here]


def title_of(group: Sequence[_Run]) -> _Run:
    """The run whose question stands for the group: the nearest to all of them, of these the one that was asked most
    often, then one that is written as a sentence, then the latest."""
    times = Counter(run.wording for run in group)

    def fitness(run: _Run) -> tuple[float, int, bool, int]:
        is_sentence = run.question[:1].isupper() and run.question.rstrip().endswith("?")
        nearness = sum(run.likeness(other) for other in group)
        return round(nearness, 9), times[run.wording], is_sentence, run.answer_id

    return max(group, key=fitness)


async def _lacking(connection: AsyncConnection, source: str | None) -> list[tuple[str, frozenset[str]]]:
    cursor = await connection.execute(_LACKING, {"source": source, "limit": _MOST_LACKING})
    return [(url, frozenset(terms(f"{words} {url}"))) for url, words in await cursor.fetchall()]


async def _passages(connection: AsyncConnection, groups: Sequence[Sequence[_Run]]) -> dict[int, list[GapPassage]]:
    """Passages by the number of their answer."""
    passages: dict[int, list[GapPassage]] = {}
    async with connection.cursor(row_factory=class_row(GapPassage)) as cursor:
        await cursor.execute(
            _PASSAGES,
            {
                "answers": [run.answer_id for group in groups for run in group],
                "latest": [group[0].answer_id for group in groups],
                "quoted": _QUOTED,
                "shown": _SHOWN,
            },
        )
        for passage in await cursor.fetchall():
            passages.setdefault(passage.answer_id, []).append(passage)
    return passages


def _gap(
    group: Sequence[_Run],
    lacking: Sequence[tuple[str, frozenset[str]]],
    passages: Mapping[int, Sequence[GapPassage]],
) -> Gap:
    title = title_of(group)
    shared = sorted(((len(title.words & others), url) for url, others in lacking), key=lambda item: (-item[0], item[1]))
    wordings = {run.wording: run.question for run in reversed(group) if run.wording != title.wording}
    near = sorted(
        (passage for run in group for passage in passages.get(run.answer_id, ())),
        key=lambda passage: passage.feedback is None,
    )
    once = {(passage.url, passage.quote): passage for passage in reversed(near)}
    return Gap(
        week=title.week,
        source=title.source,
        question=title.question,
        wordings=list(wordings.values())[:_MOST_WORDINGS],
        why=dict(Counter(run.why for run in group)),
        answers=[run.answer_id for run in group],
        nearest=list(dict.fromkeys(url for run in group for url in run.nearest))[:_SHOWN],
        passages=[passage for passage in near if once[passage.url, passage.quote] is passage],
        lacking=[url for count, url in shared[:_SHOWN] if count],
        is_golden=all(run.is_golden for run in group),
    )
