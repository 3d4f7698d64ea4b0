"""Past answers: listed, and opened with the state of each quote today."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, LiteralString

from psycopg.rows import class_row
from pydantic import BaseModel

from webrag_core.errors import NotStoredError
from webrag_core.foreign_values import LARGEST_NUMBER
from webrag_core.history.citations import CitationState, citation_states
from webrag_core.percentages import percent
from webrag_core.readable import Readable, counted
from webrag_core.store.database import Database


class StoredAnswer(BaseModel):
    """An answer run: of `evidence`, or in `prose`, which begins at no page when it asks the stored ones. `state` is
    that of the run (running, done, failed), `citations` their number. `probability`: that the evidence holds all that
    is needed, or that the sentences hold the whole answer. `status` and `confidence` are the verdict on evidence; None
    in answers in prose, and in runs from before they were kept; `forgotten` once every page that was cited is removed.
    One that `follows` another answer is of a `conversation`, which bears the number of the first; `wording` is what was
    typed where `query` completes it."""

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
    status: str | None = None
    confidence: float | None = None
    follows: int | None = None
    conversation: int | None = None
    wording: str | None = None

    def percent(self) -> str:
        """How sure it is, as the answer itself shows it; of a run of before the probability, rounded. The state of a
        run that has neither."""
        if self.confidence is not None:
            return percent(self.confidence)
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


_ANSWERS = """
SELECT a.id AS answer_id, a.kind, a.query, a.seed_url, a.state, a.reason, a.probability, a.started_at, a.trace_id,
       CASE WHEN a.status <> 'not_found' AND cited.citations = 0 THEN 'forgotten' ELSE a.status END AS status,
       a.confidence, a.follows, a.conversation, a.prose ->> 'wording' AS wording,
       cited.citations
FROM {answers} a CROSS JOIN LATERAL (SELECT count(*) AS citations FROM citations c WHERE c.answer_id = a.id) cited
ORDER BY a.id DESC
"""
_ANSWER = _ANSWERS.format(answers="(SELECT * FROM answer_runs WHERE id = %(answer)s)")
_PAGE = "(SELECT * FROM answer_runs WHERE id < %(below)s {which} ORDER BY id DESC LIMIT %(limit)s OFFSET %(offset)s)"
_EVERY_RUN = _ANSWERS.format(answers=_PAGE.format(which=""))
# the condition of the index `answer_runs_listed`
_LISTED = _ANSWERS.format(
    answers=_PAGE.format(which="AND state <> 'failed' AND origin IS DISTINCT FROM 'answer'"),
)


async def list_answers(
    database: Database, *, limit: int = 50, every_run: bool = False, before: int | None = None, offset: int = 0
) -> list[StoredAnswer]:
    """The newest answers first. `every_run`: also the runs that gathered evidence for an answer in prose, and those
    that failed. `before`: only those with a lower number. `offset`: how many of the newest are left out."""
    below = LARGEST_NUMBER if before is None else min(before, LARGEST_NUMBER)
    return await _load(
        database, _EVERY_RUN if every_run else _LISTED, {"below": below, "limit": limit, "offset": offset}
    )


async def open_answer(database: Database, answer_id: int) -> OpenedAnswer:
    """One answer with the states of its quotes. Raises NotStoredError when there is none with this number."""
    answer = await find_answer(database, answer_id)
    return OpenedAnswer(answer=answer, citations=await citation_states(database, answers=[answer_id]))


async def find_answer(database: Database, answer_id: int) -> StoredAnswer:
    """One answer. Raises NotStoredError when there is none with this number."""
    answers = await _load(database, _ANSWER, {"answer": answer_id}) if 0 < answer_id <= LARGEST_NUMBER else []
    if not answers:
        raise NotStoredError(f"there is no answer {answer_id}; `webrag answers list` names those that there are")
    return answers[0]


async def load_answers(database: Database, runs: LiteralString, values: dict[str, int]) -> list[StoredAnswer]:
    """The newest first of some runs: `runs` is a subquery on their table, with `values` for its parameters."""
    return await _load(database, _ANSWERS.format(answers=runs), values)


async def _load(database: Database, statement: str, values: dict[str, int]) -> list[StoredAnswer]:
    async with database.connection() as connection, connection.cursor(row_factory=class_row(StoredAnswer)) as cursor:
        await cursor.execute(statement.encode(), values)
        return await cursor.fetchall()
