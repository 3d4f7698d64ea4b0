"""What a result shows: its elements in their order, their words, and how many are enough at first sight."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from webrag_core.answering.models import Answer, Highlight
from webrag_core.corpus.forgotten_words import REMOVED
from webrag_core.history.answers import OpenedAnswer
from webrag_core.history.compare import PageComparison, VersionText
from webrag_core.history.models import PageAt, PageHistory
from webrag_core.orchestration.models import OrchestrationResult
from webrag_core.providers.prices import spent_line
from webrag_core.readable import Readable
from webrag_core.retrieval.search import CorpusSearch
from webrag_core.routing.results import TaskReport, is_lost
from webrag_core.showing.elements import (
    Element,
    ForgottenSentence,
    Note,
    Passage,
    Place,
    Row,
    Section,
    Sentence,
    Step,
    Verdict,
)
from webrag_core.showing.evidence import evidence_view, search_view
from webrag_core.showing.past import comparison_view, history_view, opened_view, page_at_view, version_view
from webrag_core.showing.plan_lines import ending, task_lines
from webrag_core.showing.warning_notes import warning_notes
from webrag_core.showing.wording import WHYS, forgotten_line, sentence_case, sureness, verdict

_LISTED = 12
_NEAREST = 3


def view(result: Readable) -> list[Element]:
    """The elements of a result, whatever it is; writers put them down."""
    match result:
        case Answer():
            return answer_view(result)
        case OrchestrationResult():
            return evidence_view(result)
        case CorpusSearch():
            return search_view(result)
        case OpenedAnswer():
            return opened_view(result)
        case PageHistory():
            return history_view(result)
        case PageAt():
            return page_at_view(result)
        case PageComparison():
            return comparison_view(result)
        case VersionText():
            return version_view(result)
    raise TypeError(f"no view of {type(result).__name__}")


_REMOVED = re.compile(rf"{re.escape(REMOVED)}\w+")
"""What stands in notes for the address of a page that was forgotten."""


def answer_view(answer: Answer) -> list[Element]:
    """The verdict and what it lacks, then the answer, its evidence or the nearest passages, what is open, notes, how
    the evidence was gathered, warnings, the cost. Sections without elements are left out; every quote is in one."""
    sure = sureness(answer)
    sections = [
        Section("answer", "", tuple(_sentences(answer))),
        *_listed(answer),
        Section("evidence", "Evidence", tuple(_evidence(answer))),
        Section("likely", "What probably answers", tuple(_shown(answer, likely=True))),
        Section("nearest", _nearest_heading(answer), tuple(_shown(answer, likely=False)), _NEAREST),
        Section("missing", "What is missing", tuple(_missing(answer))),
        Section("disagreements", "Disagreements", tuple(_disagreements(answer))),
        Section("next", "Where to look next", tuple(map(Place, _places(answer)))),
    ]
    gathered = Section("gathered", "How the evidence was gathered", tuple(_gathered(answer)))
    return [
        Verdict(
            answer.wording or answer.question,
            verdict(answer),
            answer.band,
            f"{sure}, {answer.confidence_note}" if sure else "",
        ),
        *_read_as(answer),
        *(_lost(task) for task in answer.tasks if is_lost(task.status, task.error)),
        *(section for section in sections if section.elements),
        *(Note(sentence_case(text), bare=text) for text in _notes(answer)),
        *([gathered] if gathered.elements else []),
        *warning_notes([warning for warning in answer.warnings if warning not in answer.notes]),
        Note(_cost(answer), "cost"),
    ]


def _read_as(answer: Answer) -> Iterator[Note]:
    """What the question was read as, where words of an earlier one complete it."""
    if answer.wording is not None:
        after = "" if answer.follows is None else f", after answer {answer.follows}"
        yield Note(f"Read as: {answer.question}", bare=f"words of an earlier question complete this one{after}")


def _sentences(answer: Answer) -> Iterator[Sentence | ForgottenSentence]:
    for ordinal, sentence in answer.in_order():
        if sentence is None:
            yield ForgottenSentence(ordinal)
        else:
            yield Sentence(ordinal, sentence.text, sentence.proof, tuple(map(answer.citation, sentence.citations)))


def _listed(answer: Answer) -> Iterator[Section]:
    left = _LISTED
    for group, rows in groupby(answer.listed, key=lambda row: row.group):
        passages = tuple(_passage(answer, row.citation, label=row.label) for row in rows)
        yield Section("listed", group, passages, left)
        left = max(0, left - len(passages))


def _evidence(answer: Answer) -> Iterator[Passage]:
    """What proves the sentences and is not listed; and what is left of those whose other quote was forgotten."""
    shown = {row.citation for row in answer.listed} | {highlight.citation for highlight in _highlights(answer)}
    return (_passage(answer, citation.number) for citation in answer.citations if citation.number not in shown)


def _shown(answer: Answer, *, likely: bool) -> Iterator[Passage]:
    shown = (highlight for highlight in _highlights(answer) if highlight.likely is likely)
    return (_passage(answer, highlight.citation, highlight) for highlight in shown)


def _nearest_heading(answer: Answer) -> str:
    return "Other passages near the question" if answer.status == "likely" else "The nearest passages"


def _highlights(answer: Answer) -> list[Highlight]:
    return [] if answer.sentences else answer.highlights


def _passage(answer: Answer, number: int, highlight: Highlight | None = None, label: str = "") -> Passage:
    proofs = dict.fromkeys(sentence.proof for sentence in answer.sentences if number in sentence.citations)
    return Passage(answer.citation(number), highlight, label, tuple(proofs))


def _missing(answer: Answer) -> Iterator[Row]:
    """The parts without an answer; not of a question that is one part and has none, whose verdict says all."""
    for part in answer.missing if len(answer.parts) > 1 or answer.sentences else []:
        yield Row(f"{part.text} – {WHYS[part.why]}", f"not answered: part {part.part + 1} of the question")


def _disagreements(answer: Answer) -> Iterator[Row]:
    for pair in answer.disagreements:
        text = f"Sentences {pair.sentences[0]} and {pair.sentences[1]} speak of the same and differ"
        yield Row(f"{text}: {pair.about}", text)


def _places(answer: Answer) -> list[str]:
    """Where an answer may be; without better, the pages of the nearest passages, if their links were not followed."""
    if answer.look_next or answer.sentences or answer.walk:
        return answer.look_next
    nearest = dict.fromkeys(answer.citation(highlight.citation).url for highlight in answer.highlights)
    return list(nearest)[:_NEAREST]


def _notes(answer: Answer) -> list[str]:
    chosen = f"sentences chosen by {answer.composer}, in the pages' own words"
    notes = [
        answer.final_reason if sureness(answer) else "",
        *answer.notes,
        *_reflected(answer),
        forgotten_line(answer),
        "" if answer.composer == "extractive" else chosen,
    ]
    return [_REMOVED.sub("a page that was removed", note) for note in notes if note]


def _reflected(answer: Answer) -> Iterator[str]:
    """What reflection says that neither the notes nor other elements do."""
    elsewhere = [answer.final_reason, answer.confidence_note, *answer.notes]
    elsewhere += [*(part.as_note for part in answer.missing), *(task.loss for task in answer.tasks)]
    return (text for text in (*answer.applicability, *answer.uncertainty) if text not in elsewhere)


def _gathered(answer: Answer) -> Iterator[Row | Step]:
    if answer.plan is not None:
        yield Row(sentence_case(answer.plan.rationale))
    yield from map(Row, task_lines(answer.tasks))
    for step in answer.walk:
        yield Step(tuple(step.pages), f"{step.decision.replace('_', ' ')}: {step.reason}")


def _lost(task: TaskReport) -> Note:
    # by its code alone for a model: the message may hold words of a server
    code = "" if task.error is None else f" ({task.error.code})"
    bare = f"{task.loss}{code}"
    return Note(f"Without this: {task.asked}: {ending(task)}", "problem", bare)


def _cost(answer: Answer) -> str:
    number = "" if answer.answer_id is None else f"Answer {answer.answer_id}: "
    spent = answer.spent
    requests = f"; {spent_line(spent.providers)}" if spent.providers else ""
    return f"{number}pages fetched: {spent.pages}, rounds: {spent.rounds}, {spent.seconds:.2f} s{requests}"
