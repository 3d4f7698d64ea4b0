"""The verdict on an answer and the notes that go with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webrag_core.answering import confidence
from webrag_core.answering.compose.draft import Draft
from webrag_core.answering.gathering import Gathered
from webrag_core.answering.models import SentenceCitation, Status
from webrag_core.percentages import percent
from webrag_core.routing.plan import ExecutionPlan, HistorySearch
from webrag_core.routing.question import Question

_CAUSES = {"request": "ask the reader to do something else", "address": "give addresses of other sites"}


def status_of(sure: float, gathered: Gathered, *, partial: bool) -> Status:
    """`partial` also where a task failed that the answer rests on, and where passages are listed but none is said."""
    if sure < confidence.ANSWERED_AT:
        return "partial" if gathered.findings else "not_found"
    return "partial" if partial or sure < confidence.SURE_AT or gathered.outcome == "partial" else "answered"


def reason_of(sure: float, draft: Draft, gathered: Gathered, model: str | None) -> str:
    """One sentence for people: why the answer is what it is."""
    if sure < confidence.ANSWERED_AT and gathered.findings:
        return f"{len(gathered.findings)} passages are listed; no sentence is sure enough to sum them up"
    if not gathered.ranked:
        return "no passage of the pages that were read has to do with the question" if gathered.walk else gathered.note
    if not draft.units:
        return "the evidence holds no sentence"
    if model is not None and sure < confidence.ANSWERED_AT:
        return f"{model} found no sentence that answers; the nearest passages are shown instead"
    if sure < confidence.ANSWERED_AT:
        return (
            f"no answer is given: confidence {percent(sure)}, below {percent(confidence.ANSWERED_AT)}; the nearest"
            " passages are shown instead"
        )
    return f"confidence {percent(sure)} that these sentences hold the whole answer"


def evidence_notes(citations: Sequence[SentenceCitation], withheld: Mapping[str, int]) -> list[str]:
    """Facts about the evidence: how old it is, which quotes are from texts that their pages no longer have, and which
    sentences could not be said."""
    silent = [
        f"sentences that {what} are never part of an answer; there were {withheld[one]}"
        for one, what in _CAUSES.items()
        if one in withheld
    ]
    if not citations:
        return silent
    oldest = min(citations, key=lambda one: one.seen_at)
    pages = len({one.url for one in citations})
    notes = [f"from {pages} page{'' if pages == 1 else 's'}; the oldest was last seen on {oldest.seen_at:%Y-%m-%d}"]
    superseded = [f"[{one.number}]" for one in citations if not one.current]
    return [*notes, *([f"the pages of {', '.join(superseded)} have another text now"] if superseded else []), *silent]


def plan_notes(question: Question, plan: ExecutionPlan, gathered: Gathered) -> list[str]:
    """What agents say of their findings; and the date that the plan read out of the question, without which nobody
    would know that the answer is of then."""
    notes = [task.note for task in gathered.tasks if task.note and task.findings]
    return [*notes, *_date_notes(question, plan, gathered)]


def _date_notes(question: Question, plan: ExecutionPlan, gathered: Gathered) -> list[str]:
    dates = [task.params.at for task in plan.tasks if isinstance(task.params, HistorySearch)]
    if not dates or question.at is not None:
        return []
    is_past = any(task.kind == "history.search_at" and task.status == "success" for task in gathered.tasks)
    if is_past:
        return [f"this is what the pages said as of {dates[0]}, which the question names; --at now asks today's texts"]
    return [f"nothing is known of {dates[0]}, which the question names: this is from today's texts"]
