"""The page to ask on, and the page of an answer that is coming into being."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, cast

from markupsafe import Markup
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.datastructures import ImmutableMultiDict
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from webrag_core.answering.events import AnswerEvent, CitationReady, Done, Planned, SentenceReady, TaskDone
from webrag_core.answering.manager import Question
from webrag_core.answering.models import SentenceCitation
from webrag_core.application.operations import Ask
from webrag_core.application.refusals import Refusal, RefusedError
from webrag_core.application.services import Services
from webrag_core.corpus.sources import list_sources, source_names
from webrag_core.errors import WebragError
from webrag_core.foreign_values import LARGEST_NUMBER, whole_number
from webrag_core.history.answers import list_answers
from webrag_core.orchestration.events import PageSeen, PhaseBegun, RoundDone
from webrag_core.retrieval.example_questions import example_questions
from webrag_core.retrieval.text_fragments import fragment_url
from webrag_core.routing.task_words import task_words
from webrag_core.showing.elements import Sentence
from webrag_core.showing.html import Links, write_html
from webrag_core.showing.plan_lines import ending
from webrag_core.showing.wording import sentence_case
from webrag_core.web.listed import listed_answers
from webrag_core.web.phrases import reason_text
from webrag_core.web.query import typed_url
from webrag_core.web.rendering import fragment, page
from webrag_core.web.running import RunningAnswer, RunningAnswers

_RECENT = 5
_NAMED = 100
"""Sources that are shown with what people call them; of more the keys have to do."""
_EXAMPLES = 4
"""Sources of which an example is shown."""
EVENTS = re.compile(r"/running/[^/]+/events")
"""Paths of streams of events, which stay open."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """What stands in the form: the question, its start pages one a line, sources, a past date, the number of the answer
    that it follows, and whether words are carried over from there."""

    question: str
    urls: str
    sources: list[str]
    at: str
    follows: int | None = None
    carry: bool = True

    @classmethod
    def of(cls, fields: ImmutableMultiDict[str, Any]) -> _Draft:
        """Read a form, or a query that fills it in. Files are not read."""
        question, urls, at = (_text(fields, name).strip() for name in ("question", "url", "at"))
        sources = [value for value in fields.getlist("source") if isinstance(value, str) and value]
        follows = whole_number(_text(fields, "follows"), 1, LARGEST_NUMBER)
        return cls(question, urls, sources, at, follows, _text(fields, "carry") != "no")

    def checked(self) -> Question:
        """The question. Raises InvalidInputError, FetchError or GuardrailsViolationError for what cannot be asked."""
        urls = tuple(map(typed_url, self.urls.split()))
        return Ask.of(
            question=self.question,
            urls=urls,
            sources=tuple(self.sources),
            at=self.at or None,
            follows=self.follows,
            carry=self.carry,
        ).as_question()


async def show_form(request: Request) -> Response:
    """The question box, with the latest answers below. The query may fill it in."""
    return await _form(request, _Draft.of(request.query_params))


async def start(request: Request) -> Response:
    """Begin to answer, and lead to the page that shows how it goes."""
    draft = _Draft.of(await request.form())
    try:
        run = _running(request).start(draft.checked())
    except WebragError as error:
        return await _form(request, draft, error)
    return RedirectResponse(f"/running/{run.key}", 303)


async def show_running(request: Request) -> Response:
    """How an answer comes into being; when it is there, lead to it."""
    run = _run(request)
    if run.answer_id is not None:
        return RedirectResponse(f"/answers/{run.answer_id}", 303)
    return page(request, "running", run=run)


async def watch(request: Request) -> Response:
    """The events of a run as a stream of HTML fragments: `status`, `sentence`, at last `done` or `problem`."""
    run = _run(request)
    last = request.headers.get("last-event-id", "")
    start = int(last) + 1 if last.isascii() and last.isdigit() and len(last) < 6 else 0
    return EventSourceResponse(_messages(run, start), ping=15)


async def stop(request: Request) -> Response:
    """Stop a run; what was read stays stored."""
    run = _run(request)
    run.cancel()
    return RedirectResponse(f"/running/{run.key}", 303)


async def _form(request: Request, draft: _Draft, error: WebragError | None = None) -> Response:
    refusal = None if error is None else Refusal.of(error)
    services: Services = await request.app.state.services()
    database = services.corpus.database
    async with database.connection() as connection:
        sources = [source.key for source in await list_sources(connection)]
        names = await source_names(connection, sources[:_NAMED])
        chosen = [key for key in draft.sources if key in sources] or sources
        questions = await example_questions(connection, chosen[:_EXAMPLES], most=1)
    answers = await list_answers(database, limit=_RECENT)
    return page(
        request,
        "ask",
        refusal,
        draft=draft,
        sources=sources,
        names=names,
        examples=[(key, questions[key][0]) for key in chosen if key in questions],
        answers=answers,
        listed=await listed_answers(database, answers),
        problem="" if refusal is None else refusal.message,
    )


class _LivePages(Links):
    """Numbers lead to the live pages: there is nothing else yet while an answer comes into being."""

    def to_quote(self, citation: SentenceCitation) -> Markup:
        return Markup(
            '<a class="number" href="{0}" rel="noreferrer noopener" target="_blank"'
            ' aria-label="Quote {1} on the live page">{1}</a>'
        ).format(fragment_url(citation.url, citation.quote, citation.page), citation.number)


async def _messages(run: RunningAnswer, start: int) -> AsyncIterator[ServerSentEvent]:
    citations: dict[int, SentenceCitation] = {}
    async for number, event in run.watch(0):
        if isinstance(event, CitationReady):
            citations[event.citation.number] = event.citation
        name, data = _message(event, citations)
        if number >= start and name:
            yield ServerSentEvent(data, event=name, id=str(number))
    if run.answer_id is None:
        yield ServerSentEvent(fragment("run_problem", problem=run.problem, question=run.question), event="problem")


def _message(event: AnswerEvent, citations: dict[int, SentenceCitation]) -> tuple[str, str]:
    """The name and data of the message that tells of an event; ("", "") for none."""
    if isinstance(event, SentenceReady):
        sentence = event.sentence
        quotes = tuple(citations[number] for number in sentence.citations)
        shown = Sentence(sentence.ordinal, sentence.text, sentence.proof, quotes)
        return "sentence", write_html([shown], _LivePages())
    if isinstance(event, Done):
        return "done", f"/answers/{event.answer.answer_id}"
    lines = _steps(event)
    return ("status", fragment("status_lines", lines=lines)) if lines else ("", "")


def _steps(event: AnswerEvent) -> list[str]:
    """What an event says to a person who waits."""
    match event:
        case Planned():
            again = "" if event.iteration == 1 else "Still open: "
            return [sentence_case(f"{again}{task_words(task.params)}") for task in event.plan.tasks]
        case PhaseBegun():
            return [sentence_case(event.text)]
        case PageSeen(page=seen):
            if seen.outcome == "failed":
                return [f"Could not read {seen.url}: {reason_text(seen.reason or 'failed')}"]
            return [f"{'Looked at' if seen.preview else 'Read'} {seen.url}"]
        case RoundDone(round=done):
            passages, pages, best = done.signals.n_chunks, done.documents_total, done.signals.best_raw_score
            return [f"Round {done.round}: {passages} passages of {pages} pages, the best scores {best:.2f}"]
        case TaskDone():
            return [sentence_case(f"{event.task.asked}: {ending(event.task)}")]
        case _:
            return []


def _text(fields: ImmutableMultiDict[str, Any], name: str) -> str:
    value = fields.get(name, "")
    return value if isinstance(value, str) else ""


def _running(request: Request) -> RunningAnswers:
    return cast(RunningAnswers, request.app.state.running)


def _run(request: Request) -> RunningAnswer:
    run = _running(request).get(request.path_params["key"])
    if run is None:
        raise RefusedError(Refusal(404, "not_stored", "This run is over; its answer stands in the history"))
    return run


ROUTES = [
    Route("/", show_form, methods=["GET"]),
    Route("/ask", start, methods=["POST"]),
    Route("/running/{key}", show_running, methods=["GET"]),
    Route("/running/{key}/events", watch, methods=["GET"]),
    Route("/running/{key}/stop", stop, methods=["POST"]),
]
