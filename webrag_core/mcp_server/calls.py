"""Implement the tools: call the core, report progress, format results and errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, InputRequiredResult, TextContent

from webrag_core.acquisition.urls import canonicalise, source_key
from webrag_core.answering.models import Answer
from webrag_core.application.attaching import AttachSite
from webrag_core.application.inputs import check_list
from webrag_core.application.operations import RecordFeedback, Search
from webrag_core.application.reach import Reach
from webrag_core.application.reading import Compare
from webrag_core.application.services import Core, Services, run_apart
from webrag_core.application.site_preview import PreviewSite
from webrag_core.application.site_runs import SiteReading, SiteRun
from webrag_core.application.upkeep import Ingest
from webrag_core.corpus.status import corpus_status
from webrag_core.corpus.stored_pages import (
    StoredPages,
    known_hosts,
    known_sites,
    known_urls,
    pages_below,
    stored_pages,
)
from webrag_core.errors import FetchError, InvalidInputError, Reason, WebragError
from webrag_core.feedback.proof import NotVerbatimError
from webrag_core.history.answers import open_answer
from webrag_core.history.conversations import open_conversation
from webrag_core.history.models import HistoryPeriod
from webrag_core.indexing.pipeline import AddedDocument
from webrag_core.mcp_server import consent, errors
from webrag_core.mcp_server.address_guard import AddressGuard, Doubt, KnownAddresses, spellings
from webrag_core.mcp_server.attaching import preview_text, reading_text
from webrag_core.mcp_server.evidence import (
    Results,
    answer_results,
    search_results,
    trace,
    trace_summary,
)
from webrag_core.mcp_server.listing import MOST_LISTED, answer_data, data_result, ingest_text, search_data, status_text
from webrag_core.mcp_server.past import PastText, conversation_text, history_text, opened_answer_text, page_at_text
from webrag_core.mcp_server.requests import (
    AnswerCall,
    HistoryCall,
    Output,
    StatusCall,
    expansion_rounds,
    search_of,
)
from webrag_core.mcp_server.response import (
    Formatted,
    Frame,
    after_answer,
    after_search,
    answer_stats,
    compose,
    guide,
    search_stats,
)
from webrag_core.mcp_server.session_memory import SessionMemories, SessionMemory
from webrag_core.mcp_server.sessions import reach_of
from webrag_core.orchestration.limits import COST, TIMEOUT
from webrag_core.orchestration.models import OrchestrationResult, Round, progress_line
from webrag_core.origin import asked_by
from webrag_core.percentages import percent
from webrag_core.retrieval.dates import moments
from webrag_core.showing.model import render_for_model
from webrag_core.showing.untrusted import shown_title
from webrag_core.trace import traced, traceparent

Report = Callable[[float, float | None, str], Awaitable[None]]
"""Send one progress notification, if the client requested any."""


class ProgressRelay:
    """Queue synchronous progress reports of the engine and send them in order."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()

    def __call__(self, phase: str, done: Round | None) -> None:
        """As `engine.Progress`."""
        self.report(progress_line(phase, done))

    def report(self, message: str) -> None:
        """Queue one message."""
        self._queue.put_nowait(message)

    async def _send(self, report: Report) -> None:
        count = 0
        while (message := await self._queue.get()) is not None:
            count += 1
            await report(count, None, message)

    @asynccontextmanager
    async def to(self, report: Report) -> AsyncIterator[None]:
        """Send messages while open; a successful exit waits for the queue to drain."""
        sender = asyncio.create_task(self._send(report))
        try:
            yield
            self._queue.put_nowait(None)
            await sender
        finally:
            sender.cancel()
            with suppress(asyncio.CancelledError):
                await sender


_WEAK = 0.3
_WATCHED_SHARE = 0.6
"""Share of the time of a call in which it tells how far the reading of a site is."""

# what the server of a page sent is part of these messages
_QUOTES_THE_SERVER = (Reason.UNSUPPORTED_TYPE, Reason.PROVIDER_FAILED)

Result = TypeVar("Result")
Response = CallToolResult | InputRequiredResult
Work = Callable[[Services, SessionMemory], Awaitable[Response]]


class Calls:
    """The tools of one server."""

    def __init__(self, core: Core, guard: AddressGuard) -> None:
        self._core = core
        self._settings = core.settings
        self._guard = guard
        self._sessions = SessionMemories()

    async def answer(self, call: AnswerCall, context: Context[Any, Any]) -> Response:
        """Answer a question, starting at the URLs and following links; with `at` gather evidence from what is stored
        of their sites: the past cannot be fetched."""
        if call.at is not None and call.style == "evidence":
            return await self._safely(
                lambda *given: self._searched(call.past(self._settings), call.output, *given), context
            )
        relay = ProgressRelay()

        async def work(services: Services, session: SessionMemory) -> Response:
            evidence = call.evidence(self._settings)
            request = evidence.as_request(self._settings)
            question = call.prose(self._settings) if call.style == "prose" else None

            async def answer(urls: Sequence[str]) -> CallToolResult:
                some = replace(call, urls=tuple(urls))
                if question is None:
                    return self._answered(some, await some.evidence(self._settings).run(services, relay), session)
                return self._prose_result(
                    some, await services.manager.answer(some.prose(self._settings), relay), session
                )

            return await self._admitted(services, session, request.seeds(), answer, context, relay)

        async with relay.to(context.report_progress):
            return await self._safely(work, context)

    async def search(self, context: Context[Any, Any], output: Output, **given: Any) -> Response:
        """Search the stored pages."""

        async def work(services: Services, session: SessionMemory) -> Response:
            wanted = await search_of(self._settings, **given).within(reach_of(context), services.corpus.database)
            return await self._searched(wanted, output, services, session)

        return await self._safely(work, context)

    async def status(self, call: StatusCall, context: Context[Any, Any]) -> Response:
        """List the stored pages."""

        async def work(services: Services, session: SessionMemory) -> Response:
            call.check()
            async with services.searches:
                return await self._limited(self._status(services, call, session))

        return await self._safely(work, context)

    async def history(self, call: HistoryCall, context: Context[Any, Any]) -> Response:
        """Return what a page said, or what became of an answer's quotes."""

        async def work(services: Services, session: SessionMemory) -> Response:
            call.check()
            async with services.searches:
                past = await self._limited(self._history(services, call, reach_of(context)))
            session.show(past.words)
            return _text(past.text)

        return await self._safely(work, context)

    async def feedback(self, context: Context[Any, Any], **given: Any) -> Response:
        """Store feedback that weighs nothing until an operator accepts it."""

        async def work(services: Services, session: SessionMemory) -> Response:
            wanted = RecordFeedback.of(**given)
            async with services.searches:
                try:
                    stored = await self._limited(wanted.run(services))
                except NotVerbatimError as error:  # the message quotes the page, and here nothing fences it
                    raise InvalidInputError(error.plain, code=error.code) from None
            return _text(f"Feedback {stored.id} is noted. It counts once the operator has accepted it.")

        return await self._safely(work, context)

    async def ingest(self, context: Context[Any, Any], *, urls: Sequence[str], refresh: bool) -> Response:
        """Fetch and store pages."""
        relay = ProgressRelay()

        async def work(services: Services, session: SessionMemory) -> Response:
            if not urls:
                raise InvalidInputError("no URL given")
            check_list("url", urls, self._settings.webrag_max_pages)
            pages = list(dict.fromkeys(canonicalise(url) for url in urls))

            async def ingest(admitted: Sequence[str]) -> CallToolResult:
                return await self._ingest(services, Ingest.of(urls=admitted, refresh=refresh), session, relay)

            return await self._admitted(services, session, pages, ingest, context, relay)

        async with relay.to(context.report_progress):
            return await self._safely(work, context)

    async def attach(
        self, context: Context[Any, Any], *, url: str, look: bool, pages: int, refresh_hours: float | None
    ) -> Response:
        """Look at a site, or attach it and tell for some time how far the reading of it is, which then goes on."""
        relay = ProgressRelay()
        runs: list[SiteRun] = []

        async def work(services: Services, session: SessionMemory) -> Response:
            async def begin(urls: Sequence[str]) -> CallToolResult:
                (address,) = urls
                if look:
                    preview = await PreviewSite.of(url=address, pages=pages).run(services)
                    session.show([preview.name or "", *preview.warnings])
                    return _text(preview_text(preview))
                wanted = AttachSite.of(url=address, pages=pages, refresh_hours=refresh_hours)
                runs.append(await wanted.start(services))
                return _text("")

            begun = await self._admitted(
                services, session, [canonicalise(url)], begin, context, relay, attached=not look
            )
            if not runs:
                return begun
            reading = await self._watched(runs[0], relay)
            if reading.failures:  # their addresses are those of pages
                session.show([failure.url for failure in reading.failures])
            return _text(reading_text(reading))

        async with relay.to(context.report_progress):
            return await self._safely(work, context)

    async def _watched(self, run: SiteRun, relay: ProgressRelay) -> SiteReading:
        """How far the reading of a source is at its end, or when most of the time of a call is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_WATCHED_SHARE * self._settings.mcp_tool_timeout):
                async for reading in run.watch():
                    relay.report(f"{reading.read:,} pages read, {reading.failed:,} failed")
        return run.reading

    async def _safely(self, work: Work, context: Context[Any, Any]) -> Response:
        """The work's response, as part of the trace that the call names (`_meta.traceparent`), which it names too."""
        with traced(_trace_of(context)), asked_by("mcp"):
            response = await self._or_error(work, context)
            if isinstance(response, CallToolResult):
                response.meta = {**(response.meta or {}), "traceparent": traceparent()}
            return response

    async def _or_error(self, work: Work, context: Context[Any, Any]) -> Response:
        session = self._sessions.of(context)
        try:
            return await work(await self._core.services(), session)
        except TimeoutError:
            return errors.of_timeout(self._settings.mcp_tool_timeout)
        except WebragError as error:
            if isinstance(error, FetchError) and error.reason in _QUOTES_THE_SERVER:
                session.show([error.message])
            return errors.of_error(error)

    async def _limited(self, work: Coroutine[Any, Any, Result]) -> Result:
        async with asyncio.timeout(self._settings.mcp_tool_timeout):
            return await run_apart(work)

    @asynccontextmanager
    async def _turn(self, slots: asyncio.Semaphore, relay: ProgressRelay) -> AsyncIterator[None]:
        if slots.locked():
            relay.report("waiting for other calls to finish")
        async with slots:
            yield

    async def _admitted(
        self,
        services: Services,
        session: SessionMemory,
        urls: Sequence[str],
        run: Callable[[Sequence[str]], Awaitable[CallToolResult]],
        context: Context[Any, Any],
        relay: ProgressRelay,
        *,
        attached: bool = False,
    ) -> Response:
        """Run `run` in its turn on those of the canonical `urls` that are admitted; the result names the others. A
        person is asked between turns: nobody waits for the answer but this call. Raises InvalidInputError where none is
        admitted."""

        async def attempt(some: Sequence[str]) -> CallToolResult | list[Doubt]:
            return await self._doubts(services, session, some, attached=attached) or await run(some)

        self._guard.receive(urls, session)  # before the queue: meanwhile other calls show page text
        left_out: list[str] = []
        while True:
            async with self._turn(services.answers, relay):
                result = await self._limited(attempt(urls))
            if isinstance(result, CallToolResult):
                result.content += [TextContent(type="text", text=f"[NOT FETCHED] {why}") for why in left_out]
                return result
            relay.report("waiting for the user's consent")
            try:
                to_ask = await consent.ask(context, result, session)
            except InvalidInputError as refusal:
                refused = {doubt.url for doubt in result}
                urls = [url for url in urls if url not in refused]
                if not urls:
                    raise
                left_out.append(errors.with_way(refusal))
                continue
            if to_ask is not None:
                return to_ask
            session.choose(doubt.url for doubt in result)

    async def _doubts(
        self, services: Services, session: SessionMemory, urls: Sequence[str], *, attached: bool
    ) -> list[Doubt]:
        async with services.corpus.database.connection(self._settings.mcp_tool_timeout) as connection:
            hosts = await known_hosts(connection, [source_key(url) for url in urls])
            known = await known_urls(connection, [form for url in urls for form in spellings(url)])
        kept = [host for host, is_attached in hosts.items() if is_attached]
        return self._guard.doubts(urls, session, KnownAddresses(hosts, kept, known), attached=attached)

    def _answered(self, call: AnswerCall, result: OrchestrationResult, session: SessionMemory) -> CallToolResult:
        session.show(())  # the trace names pages even without evidence
        results = answer_results(result)
        if call.output == "data":
            return self._as_data(answer_data(result, results), results, session)
        settings = self._settings
        research = call.research(settings)
        rounds = expansion_rounds(research, call.expansion_budget, settings)
        frame = Frame(
            guide=lambda word: guide(results, word=word, status=result.status, doubts=_doubts(result)),
            stats=lambda shown: answer_stats(result, shown, research=research, rounds=rounds),
            follow_ups=after_answer(result, rounds, settings),
            trace=trace(result),
            trace_summary=trace_summary(result),
        )
        whole = settings.mcp_response_token_budget
        return self._formatted(
            compose(results, frame, whole if results.whole else min(whole, settings.mcp_answer_token_budget)), session
        )

    def _prose_result(self, call: AnswerCall, answer: Answer, session: SessionMemory) -> CallToolResult:
        session.show(
            [*(sentence.text for sentence in answer.sentences), *(citation.quote for citation in answer.citations)]
        )
        return data_result(answer.model_dump(mode="json")) if call.output == "data" else _text(render_for_model(answer))

    async def _history(self, services: Services, call: HistoryCall, reach: Reach) -> PastText:
        budget = self._settings.mcp_search_token_budget
        if call.url is None and not reach.is_everything:
            raise reach.error
        if call.answer is not None:
            return opened_answer_text(await open_answer(services.corpus.database, call.answer))
        if call.conversation is not None:
            return conversation_text(await open_conversation(services.corpus.database, call.conversation))
        database = services.corpus.database
        past = await call.past().within(reach, database)
        if call.at is not None:
            return page_at_text(await past.then(database), budget)
        since, until = moments(call.since, call.until)
        story = await past.versions(database)
        periods = [period for period in story.periods if _overlaps(period, since, until)]
        story = story.model_copy(update={"periods": periods})
        pair = story.last_two()
        compared = None if pair is None else Compare.of(url=past.url, before=pair[0], after=pair[1])
        changed = None if compared is None else await compared.read(database)
        return history_text(story, changed, budget)

    async def _searched(self, wanted: Search, output: Output, services: Services, session: SessionMemory) -> Response:
        async with services.searches:
            return await self._limited(self._search(services, wanted, output, session))

    async def _search(
        self, services: Services, wanted: Search, output: Output, session: SessionMemory
    ) -> CallToolResult:
        settings = self._settings
        if wanted.at is None and wanted.urls and wanted.sources is None:
            await self._documents_at(services, wanted.urls, session)
        result = await wanted.run(services)
        results = search_results(result)
        if output == "data":
            return self._as_data(search_data(result, results), results, session)
        weak = not results.hits or results.hits[0].ranked.reranked_score < _WEAK
        doubts = ["no stored page matches the question well."] if weak and results.hits else []
        frame = Frame(
            guide=lambda word: guide(results, word=word, doubts=doubts),
            stats=lambda shown: search_stats(result, shown),
            follow_ups=after_search(results, weak=weak),
        )
        whole = settings.mcp_response_token_budget
        return self._formatted(
            compose(results, frame, whole if results.whole else min(whole, settings.mcp_search_token_budget)), session
        )

    async def _status(self, services: Services, call: StatusCall, session: SessionMemory) -> CallToolResult:
        ids = await self._documents_at(services, (call.url,), session) if call.url else None
        async with services.corpus.database.connection(self._settings.mcp_tool_timeout) as connection:
            listed = MOST_LISTED if call.include_urls else 0
            pages = await stored_pages(connection, ids=ids, limit=listed)
            status = await corpus_status(connection)
        if status.failed_pages and call.url is None:  # their addresses are those of pages
            session.show([page.url for page in status.failed_pages])
        text = status_text(status, pages, place=call.url, urls=call.include_urls)
        return self._listed(text, pages, session)

    async def _ingest(
        self, services: Services, wanted: Ingest, session: SessionMemory, relay: ProgressRelay
    ) -> CallToolResult:
        urls, results = wanted.urls, dict[str, AddedDocument | FetchError]()

        def done(url: str, result: AddedDocument | FetchError) -> None:
            results[url] = result
            relay.report(f"{len(results)} of {len(urls)} pages done")

        await wanted.run(services, done)
        ids = [result.document_id for result in results.values() if isinstance(result, AddedDocument)]
        async with services.corpus.database.connection() as connection:
            pages = await stored_pages(connection, ids=ids, limit=len(urls))
        failures = [result for result in results.values() if isinstance(result, FetchError)]
        if any(failure.reason in _QUOTES_THE_SERVER for failure in failures):
            session.show([failure.message for failure in failures])
        answered = self._listed(ingest_text(urls, results, pages), pages, session)
        answered.is_error = not ids
        return answered

    def _as_data(self, content: dict[str, Any], results: Results, session: SessionMemory) -> CallToolResult:
        cited = [hit.citation for hit in results.hits]
        if cited:
            session.show(
                text
                for citation in cited
                for text in (citation.verbatim_text, citation.title or "", citation.section_heading or "")
            )
        return data_result(content)

    def _formatted(self, formatted: Formatted, session: SessionMemory) -> CallToolResult:
        if formatted.results.hits:
            session.show(formatted.words)
        return _text(formatted.text)

    def _listed(self, text: str, pages: StoredPages, session: SessionMemory) -> CallToolResult:
        if pages.total:
            session.show(shown_title(page.title) for page in pages.pages)
        return _text(text)

    async def _documents_at(self, services: Services, places: Sequence[str], session: SessionMemory) -> list[int]:
        """Return document ids. Raises InvalidInputError for a place without stored pages, listing the stored sites."""
        ids: list[int] = []
        async with services.corpus.database.connection(self._settings.mcp_tool_timeout) as connection:
            for place in places:
                here = await pages_below(connection, place)
                if not here:
                    sites = await known_sites(connection)
                    if sites:
                        session.show(sites)
                    listed = ", ".join(sites[:20]) + (f" and {len(sites) - 20} more" if len(sites) > 20 else "")
                    shown = place if len(place) <= 200 else place[:199] + "…"
                    raise InvalidInputError(f"nothing is stored at {shown}; stored sites: {listed or 'none'}")
                ids += here
        return sorted(set(ids))


def _overlaps(period: HistoryPeriod, since: datetime | None, until: datetime | None) -> bool:
    """Whether a period was seen, or was the last known, between two instants."""
    ended = since is not None and period.seen_until is not None and period.seen_until <= since
    return not ended and (until is None or period.seen_from < until)


def _doubts(result: OrchestrationResult) -> list[str]:
    doubts = []
    if result.final_decision.rule == TIMEOUT:
        doubts.append("the time limit was reached: this is only part of the evidence.")
    elif result.final_decision.rule == COST:
        doubts.append("a limit of cost was reached: this is only part of the evidence.")
    elif result.status == "likely":
        doubts.append(f"no sentence is sure enough; a passage probably answers ({percent(result.confidence)}).")
    elif result.status != "answered" and result.citations:
        doubts.append(f"the evidence may not answer (status {result.status}, confidence {percent(result.confidence)}).")
    failed = sum(document.outcome == "failed" and document.link_depth == 0 for document in result.documents)
    if failed:
        doubts.append(f"{failed} of the requested pages could not be fetched (EXPANSION TRACE).")
    return doubts


def _text(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)])


def _trace_of(context: Context[Any, Any]) -> str | None:
    parent = (context.request_context.meta or {}).get("traceparent")
    return parent if isinstance(parent, str) else None
