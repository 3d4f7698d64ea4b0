"""The endpoints that read what is stored, and the one that notes feedback. They fetch nothing."""

from __future__ import annotations

from starlette.requests import Request

from webrag_core.acquisition.urls import canonicalise
from webrag_core.answering.stored import load_answer
from webrag_core.application.operations import RecordFeedback, Search
from webrag_core.application.services import Services
from webrag_core.corpus.sources import count_sources, list_sources
from webrag_core.corpus.status import corpus_status, source_statuses
from webrag_core.errors import WebragError
from webrag_core.feedback.models import Feedback
from webrag_core.history import pages
from webrag_core.history.answers import list_answers, open_answer
from webrag_core.retrieval.dates import moments
from webrag_core.retrieval.search import CorpusSearch
from webrag_core.web.api.operations import Api, Operation
from webrag_core.web.api.replies import (
    AnswerList,
    AnswerReply,
    ChangeList,
    HistoryReply,
    SourceList,
    SourceReply,
    StatusReply,
)
from webrag_core.web.api.requests import (
    AnswerQuery,
    AnswersQuery,
    ChangesQuery,
    HistoryQuery,
    Nothing,
    SourcesQuery,
)


class ForbiddenError(WebragError):
    """The operator has not allowed this."""

    code = "forbidden"


async def search(api: Api, request: Request, body: Search) -> CorpusSearch:
    """Search the stored pages, or what they said then."""
    body.as_request()  # what cannot be meant waits for no turn
    return await api.read(body.run)


async def answers(api: Api, request: Request, query: AnswersQuery) -> AnswerList:
    """List stored answers."""

    async def work(services: Services) -> AnswerList:
        listed = await list_answers(
            services.corpus.database, limit=query.limit + 1, every_run=query.every_run, before=query.before
        )
        shown = listed[: query.limit]
        return AnswerList(answers=shown, next=shown[-1].answer_id if len(listed) > len(shown) else None)

    return await api.read(work)


async def answer(api: Api, request: Request, query: AnswerQuery) -> AnswerReply:
    """Open a stored answer with the state of its quotes today."""

    async def work(services: Services) -> AnswerReply:
        database = services.corpus.database
        opened = await open_answer(database, query.number)
        async with database.connection() as connection:
            prose = await load_answer(connection, query.number) if opened.is_prose else None
        return AnswerReply(run=opened.answer, answer=prose, citations=opened.citations)

    return await api.read(work)


async def history(api: Api, request: Request, query: HistoryQuery) -> HistoryReply:
    """When a page had which text, and what it said at a time."""
    url, at = canonicalise(query.url), query.as_of()

    async def work(services: Services) -> HistoryReply:
        database = services.corpus.database
        latest = await pages.versions(database, url, last=query.limit)
        async with database.connection() as connection:
            count = await pages.count_periods(connection, url)
        then = None if at is None else await pages.page_at(database, url, at, query.time)
        return HistoryReply(history=latest, periods=count, at=then)

    return await api.read(work)


async def changes(api: Api, request: Request, query: ChangesQuery) -> ChangeList:
    """List the changes of a page or a source."""
    since, until = moments(query.since, query.until)

    async def work(services: Services) -> ChangeList:
        async with services.corpus.database.connection() as connection:
            rows = await pages.changes(
                connection, query.target, since=since, until=until, limit=query.limit, offset=query.offset
            )
            total = await pages.count_changes(connection, query.target, since=since, until=until)
        return ChangeList(changes=rows, total=total)

    return await api.read(work)


async def sources(api: Api, request: Request, query: SourcesQuery) -> SourceList:
    """List the sources with the freshness of their pages."""

    async def work(services: Services) -> SourceList:
        async with services.corpus.database.connection() as connection:
            shown = await list_sources(connection, limit=query.limit, offset=query.offset)
            counts = {one.key: one for one in await source_statuses(connection, [one.key for one in shown])}
            total = await count_sources(connection)
        listed = [SourceReply.of(one, counts[one.key]) for one in shown if one.key in counts]
        return SourceList(sources=listed, total=total)

    return await api.read(work)


async def status(api: Api, request: Request, query: Nothing) -> StatusReply:
    """Count what is stored."""

    async def work(services: Services) -> StatusReply:
        async with services.corpus.database.connection() as connection:
            return StatusReply.of(await corpus_status(connection))

    return await api.read(work)


async def feedback(api: Api, request: Request, body: RecordFeedback) -> Feedback:
    """Note feedback."""
    if not api.settings.mcp_feedback:
        raise ForbiddenError("this server takes no feedback from programs: MCP_FEEDBACK=1 allows it")
    return await api.read(body.run)


OPERATIONS = (
    Operation("POST", "/search", "search", "Search the stored pages", Search, CorpusSearch, search),
    Operation("GET", "/answers", "answers", "List stored answers, the latest first", AnswersQuery, AnswerList, answers),
    Operation(
        "GET",
        "/answers/{number}",
        "answer_by_number",
        "Open a stored answer with the state of its quotes today",
        AnswerQuery,
        AnswerReply,
        answer,
        refusals=(404,),
    ),
    Operation(
        "GET",
        "/history",
        "history",
        "When a stored page had which text, and what it said at a time",
        HistoryQuery,
        HistoryReply,
        history,
        refusals=(404,),
    ),
    Operation(
        "GET",
        "/changes",
        "changes",
        "List changes of a page or a source",
        ChangesQuery,
        ChangeList,
        changes,
        refusals=(404,),
    ),
    Operation("GET", "/sources", "sources", "List sources with their freshness", SourcesQuery, SourceList, sources),
    Operation("GET", "/status", "status", "Count what is stored", Nothing, StatusReply, status),
    Operation(
        "POST",
        "/feedback",
        "feedback",
        "Note what somebody says about an answer; it weighs nothing until the operator accepts it",
        RecordFeedback,
        Feedback,
        feedback,
        status=201,
    ),
)
