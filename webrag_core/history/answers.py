"""Past answers: listed, and opened with the state of each quote today."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from psycopg.rows import class_row
from pydantic import BaseModel

from webrag_core.errors import NotStoredError
from webrag_core.history.citations import CitationState, citation_states
from webrag_core.markdown_text import fenced, link, prose, quote
from webrag_core.percentages import percent
from webrag_core.readable import Readable, counted
from webrag_core.retrieval.text_fragments import fragment_url
from webrag_core.store.database import Database


class StoredAnswer(BaseModel):
    """An answer run: of `evidence`, or in `prose`, which begins at no page when it asks the stored ones. `state` is
    that of the run (running, done, failed), `citations` their number. `probability`: that the evidence holds all that
    is needed, or that the sentences hold the whole answer."""

    answer_id: int
    query: str
    kind: Literal["evidence", "prose"]
    seed_url: str | None
    state: str
    reason: str | None
    probability: float | None
    started_at: datetime
    citations: int
    trace_id: str | None = None

    def percent(self) -> str:
        """The probability as the answer itself shows it: that of evidence rounded, as in its reasons. The state of a
        run that has none."""
        if self.probability is None:
            return self.state
        return f"{self.probability:.0%}" if self.kind == "evidence" else percent(self.probability)


class OpenedAnswer(Readable, BaseModel):
    """An answer run with its citations, in their order."""

    answer: StoredAnswer
    citations: list[CitationState]

    @property
    def is_prose(self) -> bool:
        """Whether it is a finished answer in prose, which says more than its quotes."""
        return self.answer.kind == "prose" and self.answer.state == "done"

    def summary(self) -> str:
        """Its number, size and question."""
        answer = self.answer
        return f"{answer.answer_id} {answer.percent()}: {counted(len(self.citations), 'quote')} for {answer.query!r}"

    def to_markdown(self) -> str:
        """The quotes with their states today."""
        answer = self.answer
        asked = f"Asked {answer.started_at:%Y-%m-%d %H:%M} UTC, complete with probability {answer.percent()}"
        lines = [
            f"# {prose(answer.query)}",
            "",
            f"{asked}." if answer.reason is None else f"Failed: {prose(answer.reason)}",
            "",
        ]
        for one in self.citations:
            opened = link(one.url, fragment_url(one.url, one.quote))
            lines += [f"**{one.number}.** {opened}: version {one.cited_version}, {one.state}", ""]
            lines += [quote(fenced(one.quote.strip("\n"))), ""]
        return "\n".join(lines).rstrip() + "\n"


_ANSWERS = """
SELECT a.id AS answer_id, a.kind, a.query, a.seed_url, a.state, a.reason, a.probability, a.started_at, a.trace_id,
       (SELECT count(*) FROM citations c WHERE c.answer_id = a.id) AS citations
FROM answer_runs a
WHERE CASE WHEN %(answer)s::bigint IS NOT NULL THEN a.id = %(answer)s
      ELSE (%(before)s::bigint IS NULL OR a.id < %(before)s)
           AND (%(every_run)s OR (a.state <> 'failed' AND a.id NOT IN (
           SELECT (jsonb_array_elements(p.prose -> 'evidence_ids'))::bigint
           FROM answer_runs p WHERE p.kind = 'prose' AND p.state = 'done'))) END
ORDER BY a.id DESC LIMIT %(limit)s
"""


async def list_answers(
    database: Database, *, limit: int = 50, every_run: bool = False, before: int | None = None
) -> list[StoredAnswer]:
    """The newest answers first. `every_run`: also the runs that gathered evidence for an answer in prose, and those
    that failed. `before`: only those with a lower number."""
    return await _load(database, {"answer": None, "limit": limit, "every_run": every_run, "before": before})


async def open_answer(database: Database, answer_id: int) -> OpenedAnswer:
    """One answer with the states of its quotes. Raises NotStoredError when there is none with this number."""
    answers = await _load(database, {"answer": _known(answer_id), "limit": 1, "every_run": True, "before": None})
    if not answers:
        raise NotStoredError(f"there is no answer {answer_id}; `webrag answers list` names those that there are")
    states = await citation_states(database, answers=[answer_id])
    return OpenedAnswer(answer=answers[0], citations=states)


def _known(answer_id: int) -> int:
    return answer_id if 0 < answer_id < 2**63 else 0  # beyond PostgreSQL's numbers is none


async def _load(database: Database, values: dict[str, int | None]) -> list[StoredAnswer]:
    async with database.connection() as connection, connection.cursor(row_factory=class_row(StoredAnswer)) as cursor:
        await cursor.execute(_ANSWERS, values)
        return await cursor.fetchall()
