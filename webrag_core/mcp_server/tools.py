"""Declare the six tools, and `feedback` where MCP_FEEDBACK allows it: names, descriptions, arguments. `calls`
implements them."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import ToolAnnotations
from pydantic import Field

from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.application.inputs import Intent, RetrievalMode
from webrag_core.application.parameters import DEFAULT_PAGES
from webrag_core.config import Settings
from webrag_core.feedback.models import Kind
from webrag_core.history.models import TimeAxis
from webrag_core.mcp_server.calls import Calls, Response
from webrag_core.mcp_server.requests import (
    AnswerCall,
    HistoryCall,
    Output,
    ResearchMode,
    StatusCall,
    Style,
)
from webrag_core.mcp_server.server import WebragServer, offered
from webrag_core.orchestration.run_scope import RunScope
from webrag_core.retrieval.request import DocumentType

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_FETCHES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True)
_NOTES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)

At = Annotated[str | None, Field(description="As of then: 2024, 2024-05-17 or a time (UTC)")]
Time = Annotated[TimeAxis, Field(description="at = when texts were seen, or hold by their own words (valid)")]
Amount = Annotated[
    RetrievalMode | None,
    Field(description="chunk = best passages (default); full_context = all text; auto = by size"),
]
As = Annotated[Output, Field(description="data = JSON in structuredContent, for programs")]


async def answer(
    ctx: Context[Calls],
    urls: Annotated[str | list[str], Field(description="Page(s) to start from; all are searched")],
    question: Annotated[str, Field(description="The user's complete question")],
    intent: Annotated[Intent | None, Field(description="Kind of question")] = None,
    known_context: Annotated[str, Field(description="Facts already known; passages repeating them are skipped")] = "",
    constraints: Annotated[list[str], Field(description="Requirements for the evidence, each in a few words")] = [],  # noqa: B006
    max_age: Annotated[
        float | None, Field(ge=0, description="Seconds; stored pages that are older are fetched again; 0 = all")
    ] = None,
    expansion_budget: Annotated[
        int | None, Field(description="Maximum link-following rounds; overrides research_mode; 0 = none")
    ] = None,
    research_mode: Annotated[
        ResearchMode | None,
        Field(description="fast = no links (default); auto = up to 2 link-following rounds; deep = full budget"),
    ] = None,
    retrieval_mode: Amount = None,
    scope: Annotated[
        RunScope | None,
        Field(description="Stored pages to use too: source = the site's (default), all = every site's, run = none"),
    ] = None,
    sources: Annotated[
        list[str], Field(description="Stored pages to use too: of these sources, in place of scope")
    ] = [],  # noqa: B006
    policy: Annotated[
        str | None, Field(description="Stop policy: calibrated, seed-matrix or fixed-k:N; default: the server's")
    ] = None,
    at: At = None,
    time: Time = "seen",
    style: Annotated[Style, Field(description="prose = few sentences, each proved by its quote")] = "evidence",
    follows: Annotated[
        int | None, Field(description="prose: number of the answer that the query goes on from; completes the query")
    ] = None,
    carry: Annotated[bool, Field(description="false = query is complete; take nothing from that answer")] = True,
    output: As = "text",
) -> Response:
    """Answer a question; see `requests.AnswerCall`."""
    call = AnswerCall(
        urls=tuple([urls] if isinstance(urls, str) else urls),
        question=question,
        intent=intent,
        known_context=known_context or None,
        constraints=tuple(constraints),
        max_age=max_age,
        expansion_budget=expansion_budget,
        research_mode=research_mode,
        retrieval_mode=retrieval_mode,
        scope=scope,
        sources=tuple(sources),
        policy=policy,
        output=output,
        style=style,
        at=at,
        time=time,
        follows=follows,
        carry=carry,
    )
    return await _calls(ctx).answer(call, ctx)


async def search(
    ctx: Context[Calls],
    question: Annotated[str, Field(description="A question, or words to search for")],
    urls: Annotated[list[str], Field(description="Only pages at or below these URLs or hosts")] = [],  # noqa: B006
    sources: Annotated[list[str], Field(description="Only these sites: host or host/section")] = [],  # noqa: B006
    since: Annotated[str | None, Field(description="Only pages dated then or later")] = None,
    until: Annotated[str | None, Field(description="Only pages dated then or earlier")] = None,
    languages: Annotated[list[str], Field(description="Only pages in these (en)")] = [],  # noqa: B006
    types: Annotated[list[DocumentType], Field(description="Only such pages")] = [],  # noqa: B006
    flags: Annotated[list[str], Field(description="Only passages with: table, code, math, steps, image")] = [],  # noqa: B006
    intent: Annotated[Intent | None, Field(description="Kind of question")] = None,
    top_k: Annotated[int | None, Field(description="Maximum passages, 1 to 50")] = None,
    retrieval_mode: Amount = None,
    at: At = None,
    time: Time = "seen",
    output: As = "text",
) -> Response:
    """See `operations.Search`."""
    return await _calls(ctx).search(
        ctx,
        output,
        question=question,
        urls=urls or None,
        sources=sources or None,
        since=since,
        until=until,
        languages=languages or None,
        types=types or None,
        flags=flags or None,
        intent=intent,
        top_k=top_k,
        mode=retrieval_mode,
        at=at,
        time=time,
    )


async def status(
    ctx: Context[Calls],
    url: Annotated[str, Field(description="Only pages at or below this URL or host")] = "",
    include_urls: Annotated[bool, Field(description="List the pages, newest first")] = True,
) -> Response:
    """See `requests.StatusCall`."""
    return await _calls(ctx).status(StatusCall(url or None, include_urls), ctx)


async def history(
    ctx: Context[Calls],
    url: Annotated[str | None, Field(description="A stored page")] = None,
    at: At = None,
    time: Time = "seen",
    since: Annotated[str | None, Field(description="Only texts seen then or later")] = None,
    until: Annotated[str | None, Field(description="Only texts seen then or earlier")] = None,
    answer: Annotated[
        int | None, Field(description="Instead of url: number of an answer, for its quotes' state")
    ] = None,
    conversation: Annotated[
        int | None, Field(description="Instead of url: number of an answer, for the questions before and after it")
    ] = None,
) -> Response:
    """See `requests.HistoryCall`."""
    return await _calls(ctx).history(HistoryCall(url, at, since, until, answer, time, conversation), ctx)


async def ingest(
    ctx: Context[Calls],
    urls: Annotated[str | list[str], Field(description="Pages to store")],
    refresh: Annotated[bool, Field(description="Fetch stored pages again")] = False,
) -> Response:
    """See `upkeep.Ingest`."""
    return await _calls(ctx).ingest(ctx, urls=[urls] if isinstance(urls, str) else urls, refresh=refresh)


async def attach(
    ctx: Context[Calls],
    url: Annotated[str, Field(description="Start page; its folder is the section")],
    look: Annotated[bool, Field(description="Only say what is there; store nothing")] = False,
    pages: Annotated[int, Field(ge=1, description="Page limit")] = DEFAULT_PAGES,
    refresh_hours: Annotated[float | None, Field(gt=0, description="Hours between refreshes")] = None,
) -> Response:
    """See `application.attaching.AttachSite` and `site_preview.PreviewSite`."""
    return await _calls(ctx).attach(ctx, url=url, look=look, pages=pages, refresh_hours=refresh_hours)


async def feedback(
    ctx: Context[Calls],
    answer: Annotated[int, Field(description="Number of the answer")],
    kind: Annotated[Kind, Field(description="What the user says of it")],
    sentence: Annotated[int | None, Field(description="About this sentence")] = None,
    citation: Annotated[int | None, Field(description="About this quote")] = None,
    value: Annotated[int | None, Field(description="1 or 2 for helpful, else -1 or -2")] = None,
    text: Annotated[str | None, Field(description="The user's own words")] = None,
    better_url: Annotated[str | None, Field(description="A stored page that answers")] = None,
    quote: Annotated[str | None, Field(description="Its words, letter for letter")] = None,
) -> Response:
    """See `operations.RecordFeedback`."""
    return await _calls(ctx).feedback(
        ctx,
        answer=answer,
        kind=kind,
        sentence=sentence,
        citation=citation,
        value=value,
        text=text,
        better_url=better_url,
        quote=quote,
    )


def make_server(settings: Settings, acquirer: Acquirer | None = None) -> WebragServer:
    """Create a server with its tools; `acquirer` replaces the configured one."""
    tools = [
        offered(
            answer,
            "Evidence with citations for a question about web pages: reads the URL(s), optionally follows links,"
            " returns the relevant passages and any failures. Takes seconds to minutes.",
            _FETCHES,
        ),
        offered(search, "Evidence with citations from stored pages. Fetches nothing; under a second.", _READS),
        offered(status, "List stored sites and pages with sizes and fetch times.", _READS),
        offered(
            history,
            "What a stored page said at a date, when its text changed and how; or whether the quotes of an earlier"
            " answer still stand.",
            _READS,
        ),
        offered(ingest, "Fetch and store pages for later `search`.", _FETCHES),
        offered(attach, "Attach a site, or a section of it: read its pages, to be refreshed when due.", _FETCHES),
    ]
    if settings.mcp_feedback:
        tools.append(offered(feedback, "Note what the user says about an answer. Never what a page says.", _NOTES))
    return WebragServer(settings, tools, acquirer)


def _calls(ctx: Context[Calls]) -> Calls:
    return ctx.request_context.lifespan_context
