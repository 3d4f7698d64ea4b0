"""The history of answers, and one answer beside the stored pages that prove it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from psycopg import AsyncConnection
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from webrag_core.answering.models import Answer, SentenceCitation
from webrag_core.answering.stored import load_answer
from webrag_core.answering.stored_walk import load_walk
from webrag_core.application.reading import ListConversations
from webrag_core.application.refusals import Refusal, RefusedError
from webrag_core.application.services import Services
from webrag_core.errors import WebragError
from webrag_core.foreign_values import LARGEST_NUMBER, whole_number
from webrag_core.history.answers import OpenedAnswer, StoredAnswer, list_answers, open_answer
from webrag_core.history.conversations import open_conversation
from webrag_core.history.shares import Share, list_shares
from webrag_core.orchestration.models import COMPLETE_AT
from webrag_core.orchestration.walk import Walk
from webrag_core.page_text import one_line
from webrag_core.showing.elements import Note, Section
from webrag_core.showing.html import Links, render_page, write_html
from webrag_core.showing.markdown import render_markdown
from webrag_core.showing.references import WRITERS
from webrag_core.showing.view import view
from webrag_core.showing.walk_figure import walk_figure
from webrag_core.text_work import beside_loop
from webrag_core.web.feedback_draft import FeedbackDraft
from webrag_core.web.listed import listed_answers
from webrag_core.web.paths import ask_path
from webrag_core.web.query import page_number, pager
from webrag_core.web.rendering import fragment, page
from webrag_core.web.stored_page import PagePart, StoredVersion, load_version, part_around

FEEDBACK = "feedback"
"""The part of the page of an answer where a person judges it."""
_PER_PAGE = 30
_FILES = {"html": (render_page, "text/html"), "md": (render_markdown, "text/markdown"), **WRITERS}
"""Writer and media type of the files of an answer, by their ending."""
_REACH = 1_500  # characters of the page before and after a quote that stand beside its answer


@dataclass(frozen=True, slots=True)
class _ShownQuote:
    """A quote in its page, as it stands beside the answer."""

    number: int
    version: StoredVersion
    part: PagePart | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Sharing:
    """The links to an answer that are in force, the one that was made now, or why none was."""

    shares: Sequence[Share]
    link: str
    error: WebragError | None


class _Beside(Links):
    """Numbers lead to the page beside the answer, places to a question that is asked from there."""

    folds = True

    def __init__(self, answer_id: int, question: str, current: int) -> None:
        self.base = f"/answers/{answer_id}"
        self._question = question
        self._current = current

    def number(self, number: int) -> Markup:
        """The number of a quote."""
        current = Markup(' aria-current="true"') if number == self._current else ""
        return Markup(
            '<a class="number" href="{0}" data-quote="{1}" aria-label="Quote {1} in its page"{2}>{1}</a>'
        ).format(self.quote_path(number), number, current)

    def quote_path(self, number: int) -> str:
        """This page, with a quote in its page beside the answer."""
        return f"{self.base}?quote={number}#page"

    def to_quote(self, citation: SentenceCitation) -> Markup:
        return self.number(citation.number)

    def of_quote(self, citation: SentenceCitation) -> Markup:
        return self.number(citation.number)

    def to_place(self, url: str) -> Markup:
        return Markup('<a href="{}">Ask from {}</a>').format(ask_path(self._question, url), one_line(url))


async def show_list(request: Request) -> Response:
    """The latest answers, the newest first."""
    services: Services = await request.app.state.services()
    number = page_number(request.query_params)
    rows = await list_answers(services.corpus.database, limit=_PER_PAGE + 1, offset=(number - 1) * _PER_PAGE)
    shown = rows[:_PER_PAGE]
    listed = await listed_answers(services.corpus.database, shown)
    beside = pager("/answers", {}, page=number, size=_PER_PAGE, rows=len(rows))
    return page(request, "answers", answers=shown, listed=listed, pager=beside)


async def show_answer(request: Request) -> Response:
    """One answer with the state of its quotes today, and beside it the page of one of them (`quote`)."""
    return await answer_page(request, await request.app.state.services())


async def show_conversations(request: Request) -> Response:
    """Conversations of more than one question, the latest first."""
    services: Services = await request.app.state.services()
    before = whole_number(request.query_params.get("before", ""), 1, LARGEST_NUMBER)
    listed = await ListConversations.of(limit=_PER_PAGE, before=before).read(services.corpus.database)
    return page(request, "conversations", conversations=listed.conversations, next=listed.next)


async def answer_page(
    request: Request,
    services: Services,
    *,
    feedback: FeedbackDraft | None = None,
    error: WebragError | None = None,
    shared_link: str = "",
    share_error: WebragError | None = None,
) -> Response:
    """The page of the answer that the path names. `feedback` stands in its form, with the `error` that it caused;
    `shared_link` was made now, or `share_error` says why not."""
    opened, answer = await _load(services, request.path_params["number"])
    conversation = await open_conversation(services.corpus.database, opened.answer.answer_id)
    states = {citation.number: citation for citation in opened.citations}
    chosen = whole_number(request.query_params.get("quote", ""), 0, 2**31 - 1)
    if chosen not in states:
        chosen = _first(opened, answer)
    async with services.corpus.database.connection() as connection:
        shown = None if chosen is None else await _shown_quote(connection, opened.answer.answer_id, chosen, answer)
        walk = None if answer is None else await load_walk(connection, answer)
        shares = await list_shares(connection, opened.answer.answer_id)
    sharing = _Sharing(shares, shared_link, share_error)
    turns = conversation.turns if len(conversation.turns) > 1 else []
    # long quotes take their time
    return await beside_loop(
        _written, request, opened, answer, walk, shown, turns, sharing, feedback or FeedbackDraft(), error
    )


def _written(
    request: Request,
    opened: OpenedAnswer,
    answer: Answer | None,
    walk: Walk | None,
    shown: _ShownQuote | None,
    turns: Sequence[StoredAnswer],
    sharing: _Sharing,
    feedback: FeedbackDraft,
    error: WebragError | None,
) -> Response:
    """The page of an answer, put together."""
    refusal = None if error is None else Refusal.of(error)
    not_shared = None if sharing.error is None else Refusal.of(sharing.error)
    links = _Beside(opened.answer.answer_id, opened.answer.query, 0 if shown is None else shown.number)
    parts = [] if answer is None else view(answer)
    costs = [part for part in parts if isinstance(part, Note) and part.kind == "cost"]
    # the evidence stands below, with what became of it, and so does how it was gathered, with a picture
    gathered = [part for part in parts if isinstance(part, Section) and part.key == "gathered"]
    below = [part for part in parts if isinstance(part, Section) and part.key == "evidence"]
    above = [part for part in parts if part not in (*costs, *gathered, *below)]
    return page(
        request,
        "answer",
        refusal or not_shared,
        shares=sharing.shares,
        shared_link=sharing.link,
        share_problem="" if not_shared is None else not_shared.message,
        turns=turns,
        open_answer=opened.answer.answer_id,
        noted=whole_number(request.query_params.get("noted", ""), 1, LARGEST_NUMBER),
        given=feedback,
        feedback_problem="" if refusal is None else refusal.message,
        opened=opened,
        answer=answer,
        shown=shown,
        links=links,
        body=write_html(above, links),
        walk=None if walk is None else walk_figure(walk, links.quote_path),
        gathered=write_html(gathered, links),
        cost="".join(cost.text for cost in costs),
        evidence_verdict=_evidence_verdict(opened),
        evidence_band="high" if (opened.answer.probability or 0.0) >= COMPLETE_AT else "insufficient",
    )


async def show_quote(request: Request) -> Response:
    """The page of one quote alone, which a script puts beside the answer."""
    services: Services = await request.app.state.services()
    opened, answer = await _load(services, request.path_params["number"])
    async with services.corpus.database.connection() as connection:
        shown = await _shown_quote(connection, opened.answer.answer_id, request.path_params["quote"], answer)
    if shown is None:
        raise RefusedError(Refusal(404, "not_stored", "This quote is no longer stored"))
    return HTMLResponse(fragment("quote_in_page", shown=shown))


async def download(request: Request) -> Response:
    """The answer as a file to keep: one HTML page that needs no network, Markdown, or the pages that it quotes, for
    programs for references."""
    services: Services = await request.app.state.services()
    _, answer = await _load(services, request.path_params["number"])
    if answer is None:
        raise RefusedError(Refusal(404, "not_stored", "Only answers in prose can be downloaded"))
    suffix = request.path_params["suffix"]
    if suffix not in _FILES:
        raise RefusedError(
            Refusal(404, "not_stored", f"Answers are there as {', '.join(f'.{name}' for name in _FILES)}")
        )
    write, kind = _FILES[suffix]
    text = await beside_loop(write, answer)
    name = f"answer-{answer.answer_id}.{suffix}"
    return Response(text, headers={"Content-Disposition": f'attachment; filename="{name}"'}, media_type=kind)


async def _load(services: Services, number: int) -> tuple[OpenedAnswer, Answer | None]:
    """An answer with the states of its quotes, and what it says, if it is one in prose."""
    database = services.corpus.database
    opened = await open_answer(database, number)
    async with database.connection() as connection:
        return opened, await load_answer(connection, number) if opened.is_prose else None


def _evidence_verdict(opened: OpenedAnswer) -> str:
    """The headline of a run that gathered evidence, or that has not ended well."""
    answer = opened.answer
    if answer.state == "failed":
        return f"Failed: {answer.reason}"
    if answer.state == "running":
        return "Still running"
    return f"Evidence, complete with probability {answer.percent()}"


def _first(opened: OpenedAnswer, answer: Answer | None) -> int | None:
    """The quote that is shown first: that of the first sentence or passage; None when no quote is stored."""
    if answer is not None:
        numbers = [number for sentence in answer.sentences for number in sentence.citations]
        numbers += [row.citation for row in answer.listed] + [highlight.citation for highlight in answer.highlights]
        if numbers:
            return numbers[0]
    return opened.citations[0].number if opened.citations else None


async def _shown_quote(
    connection: AsyncConnection, answer_id: int, number: int, answer: Answer | None
) -> _ShownQuote | None:
    """A quote in its page; of a passage that is shown instead of an answer, its likeliest sentences."""
    cursor = await connection.execute(
        "SELECT version_id, char_start, char_end FROM citations WHERE answer_id = %s AND number = %s",
        (answer_id, number),
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    version_id, start, end = row
    spans = [(start, end)]
    for highlight in () if answer is None else answer.highlights:
        if highlight.citation == number and highlight.marks:
            spans = [(start + mark, start + other) for mark, other in sorted(highlight.marks)]
    version = await load_version(connection, version_id)
    part = None if version.markdown is None else await beside_loop(part_around, version.markdown, spans, _REACH)
    return _ShownQuote(number, version, part, start, end)


ROUTES = [
    Route("/answers", show_list, methods=["GET"]),
    Route("/answers/{number:int}", show_answer, methods=["GET"]),
    Route("/conversations", show_conversations, methods=["GET"]),
    Route("/answers/{number:int}.{suffix}", download, methods=["GET"]),
    Route("/answers/{number:int}/quotes/{quote:int}", show_quote, methods=["GET"]),
]
