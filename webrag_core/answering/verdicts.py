"""The verdict on an answer and the notes that go with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webrag_core.answering import confidence
from webrag_core.answering.compose.draft import Draft
from webrag_core.answering.compose.select import Choice
from webrag_core.answering.gathering import Gathered
from webrag_core.answering.likelihood import LIKELY_AT
from webrag_core.answering.models import SentenceCitation, Status
from webrag_core.answering.wanted.thing import Thing
from webrag_core.percentages import percent
from webrag_core.routing.plan import ExecutionPlan, HistorySearch
from webrag_core.routing.question import Question

_NAMED = 4  # values beside the absent one
_CAUSES = {
    "request": "instructions to do what the question does not speak of",
    "address": "addresses of sites that the evidence is not from",
}


def status_of(sure: float, gathered: Gathered, *, partial: bool, likely: bool) -> Status:
    """`partial` also where a task failed that the answer rests on, and where passages are listed but none is said."""
    if likely:
        return "likely"
    if sure < confidence.ANSWERED_AT:
        return "partial" if gathered.findings else "not_found"
    return "partial" if partial or sure < confidence.SURE_AT or gathered.outcome == "partial" else "answered"


def reason_of(sure: float, draft: Draft, gathered: Gathered, model: str | None, *, likely: bool) -> str:
    """One sentence for people: why the answer is what it is."""
    if likely:
        return f"no sentence is sure enough; the first passage holds the answer with probability {percent(sure)}"
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
            f"no answer is given: the first of the nearest passages holds it with probability {percent(sure)}, below"
            f" {percent(LIKELY_AT)}"
        )
    return f"confidence {percent(sure)} that these sentences hold the whole answer"


def evidence_notes(citations: Sequence[SentenceCitation]) -> list[str]:
    """Facts about the evidence: how old it is, and which quotes are from texts that their pages no longer have."""
    if not citations:
        return []
    oldest = min(citations, key=lambda citation: citation.seen_at)
    pages = len({citation.url for citation in citations})
    notes = [f"from {pages} page{'' if pages == 1 else 's'}; the oldest was last seen on {oldest.seen_at:%Y-%m-%d}"]
    superseded = [f"[{citation.number}]" for citation in citations if not citation.current]
    return [*notes, *([f"the pages of {', '.join(superseded)} have another text now"] if superseded else [])]


def withheld_notes(withheld: Mapping[str, int]) -> list[str]:
    """Which sentences of the evidence could not be said, by what they do."""
    return [
        f"sentences of the passages that an answer never says, since they hold {what}: {withheld[cause]}"
        for cause, what in _CAUSES.items()
        if cause in withheld
    ]


def meaning_notes(draft: Draft, choices: Sequence[Choice]) -> list[str]:
    """What the question names and no passage speaks of, with what the passages name in its place; where a list that is
    said in part goes on, and steps that are headings; and on how many pages a sentence stands."""
    notes = [absent_note(thing) for thing in draft.things if thing.absent]
    for choice in choices:
        if choice.left_out:
            items_of_entry = sum(other.entry == choice.entry and other.saying.unit.is_listed for other in choices)
            url = choice.saying.unit.chunk.source_url
            notes.append(
                f"the list goes on: items {items_of_entry + 1} to {items_of_entry + choice.left_out} stand on {url}"
            )
    steps = {choice.saying.unit.chunk.source_url for choice in choices if choice.saying.unit.step is not None}
    notes += [f"the steps are headings: what to do in each, and any further step, stands on {url}" for url in steps]
    more = max((choice.saying.unit.places - 1 for choice in choices), default=0)
    return [*dict.fromkeys(notes), *([f"the same stands on {more} more page{'s' if more > 1 else ''}"] if more else [])]


def absent_note(thing: Thing) -> str:
    """What a question names and no passage speaks of, with what the passages name in its place."""
    names = ", ".join(item.label for item in thing.absent)
    near = f"; they name {', '.join(thing.others[:_NAMED])}" if thing.others else ""
    return f"no passage that was found speaks of {names}{near}"


def agent_notes(gathered: Gathered) -> list[str]:
    """What agents say of their findings."""
    return [task.note for task in gathered.tasks if task.note and task.findings]


def date_notes(question: Question, plan: ExecutionPlan, gathered: Gathered) -> list[str]:
    """The date that the plan read out of the question, without which nobody would know that the answer is of then."""
    dates = [task.params.at for task in plan.tasks if isinstance(task.params, HistorySearch)]
    if not dates or question.at is not None:
        return []
    is_past = any(task.kind == "history.search_at" and task.status == "success" for task in gathered.tasks)
    if is_past:
        return [f"this is what the pages said as of {dates[0]}, which the question names; --at now asks today's texts"]
    return [f"nothing is known of {dates[0]}, which the question names: this is from today's texts"]


def places_left(look_next: Sequence[str], citations: Sequence[SentenceCitation]) -> list[str]:
    """The addresses to look at next without those of pages that are quoted: their passages stand above."""
    quoted = {citation.url for citation in citations}
    return [url for url in look_next if url not in quoted]
