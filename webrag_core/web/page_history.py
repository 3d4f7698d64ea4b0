"""The past of a page: its versions, what it said on a date, what changed between two of them; the latest changes."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webrag_core.application.reach import Reach
from webrag_core.application.reading import Compare, History
from webrag_core.application.refusals import Refusal
from webrag_core.application.services import Services
from webrag_core.errors import FetchError, InvalidInputError
from webrag_core.history.latest_changes import CHANGE_KINDS, latest_changes
from webrag_core.history.models import HistoryPeriod, PageHistory, TimeAxis
from webrag_core.history.summaries import ChangeSummary, change_summaries, summary_of
from webrag_core.retrieval.dates import moment
from webrag_core.showing.history_figure import history_figure
from webrag_core.text_work import beside_loop
from webrag_core.web.comparing import comparison_part
from webrag_core.web.paths import stored_page_path
from webrag_core.web.query import field, page_number, pager, typed_url
from webrag_core.web.rendering import page
from webrag_core.web.stored_page import part_from

HISTORY = "/history"
_PERIODS_A_PAGE = 20
_CHANGES_A_PAGE = 50


@dataclass(frozen=True, slots=True)
class PeriodRow:
    """A period of a page, the text that it had before, and what changed since that one, where it is known."""

    period: HistoryPeriod
    before: HistoryPeriod | None
    summary: ChangeSummary | None


async def show_history(request: Request) -> Response:
    """The versions of the page at `url`, the latest first; without one the form, and the latest changes."""
    services: Services = await request.app.state.services()
    url = field(request.query_params, "url")
    if not url:
        return await show_changes(request)
    number, database = page_number(request.query_params), services.corpus.database
    try:
        wanted = await History.of(url=typed_url(url)).within(Reach.of(request.scope), database)
        story = await wanted.versions(database)
    except (InvalidInputError, FetchError) as error:
        return _unknown(request, url, error)
    pairs = _pairs(story)
    start = _PERIODS_A_PAGE * (number - 1)
    rows = pairs[start : start + _PERIODS_A_PAGE]
    comparable = [(before, period) for period, before in rows if before is not None and period.version is not None]
    async with services.corpus.database.connection() as connection:
        summaries = await change_summaries(connection, comparable)
    by_period = {id(period): summary for (_, period), summary in zip(comparable, summaries, strict=True)}
    return page(
        request,
        "history",
        story=story,
        time_line=history_figure(story, stored_page_path) if number == 1 else None,
        rows=[PeriodRow(period, before, by_period.get(id(period))) for period, before in rows],
        numbers=sorted(
            {period.version for period in story.periods if period.version is not None and period.kept}, reverse=True
        ),
        pager=pager(HISTORY, {"url": story.url}, page=number, size=_PERIODS_A_PAGE, rows=len(pairs) - start),
        title=next((period.title for period in reversed(story.periods) if period.title), None),
    )


async def show_page_at(request: Request) -> Response:
    """What the page at `url` said at a time: the answer in words, and the beginning of the text."""
    services: Services = await request.app.state.services()
    query, database = request.query_params, services.corpus.database
    url, at = field(query, "url"), field(query, "at") or "now"
    time: TimeAxis = "valid" if field(query, "time") == "valid" else "seen"
    try:
        wanted = History.of(url=typed_url(url), at=at, time=time)
        answer = await (await wanted.within(Reach.of(request.scope), database)).then(database)
    except (InvalidInputError, FetchError) as error:
        return _unknown(request, url, error)
    part = await beside_loop(part_from, answer.text, 0) if answer.text else None
    return page(request, "history_at", answer=answer, part=part)


async def show_comparison(request: Request) -> Response:
    """What changed from one version of the page at `url` to another: numbers or dates, else the last two texts."""
    services: Services = await request.app.state.services()
    query, database = request.query_params, services.corpus.database
    url, before, after = (field(query, name) for name in ("url", "from", "to"))
    try:
        wanted = Compare.of(url=typed_url(url), before=before or None, after=after or None)
        comparison = await (await wanted.within(Reach.of(request.scope), database)).read(database)
    except (InvalidInputError, FetchError) as error:
        return _unknown(request, url, error)
    return page(
        request,
        "comparison",
        comparison=comparison,
        summary=await beside_loop(summary_of, comparison.diff),
        part=await beside_loop(comparison_part, comparison, page_number(query)),
        url=comparison.url,
    )


async def show_changes(request: Request) -> Response:
    """The latest changes of a source, or of all pages; with the form that opens a page's history."""
    services: Services = await request.app.state.services()
    query = request.query_params
    source = field(query, "source")
    Reach.of(request.scope).require(source)
    since, until = field(query, "since"), field(query, "until")
    kind = next((kind for kind in CHANGE_KINDS if kind == query.get("kind")), None)
    number = page_number(query)
    first = last = None
    refusal = None
    try:
        first = moment(since, "since") if since else None
        last = moment(until, "until", end=True) if until else None
    except InvalidInputError as error:
        refusal = Refusal.of(error)
    async with services.corpus.database.connection() as connection:
        rows = await latest_changes(
            connection,
            source or None,
            kind=kind,
            since=first,
            until=last,
            limit=_CHANGES_A_PAGE + 1,
            offset=_CHANGES_A_PAGE * (number - 1),
        )
    pairs = {"source": source, "kind": kind or "", "since": since, "until": until}
    return page(
        request,
        "changes",
        refusal,
        changes=rows[:_CHANGES_A_PAGE],
        source=source,
        kind=kind,
        kinds=CHANGE_KINDS,
        since=since,
        until=until,
        problem="" if refusal is None else refusal.message,
        pager=pager(f"{HISTORY}/changes", pairs, page=number, size=_CHANGES_A_PAGE, rows=len(rows)),
    )


def _unknown(request: Request, url: str, error: InvalidInputError | FetchError) -> Response:
    refusal = Refusal.of(error)
    return page(request, "history_problem", refusal, url=url, problem=refusal.message)


def _pairs(story: PageHistory) -> list[tuple[HistoryPeriod, HistoryPeriod | None]]:
    """Each period with the last text before it at the same address, the latest first."""
    pairs = []
    last: dict[str, HistoryPeriod] = {}
    for period in story.periods:
        pairs.append((period, last.get(period.url)))
        if period.version is not None:
            last[period.url] = period
    return sorted(pairs, key=lambda pair: pair[0].seen_from, reverse=True)


ROUTES = [
    Route(HISTORY, show_history, methods=["GET"]),
    Route(f"{HISTORY}/at", show_page_at, methods=["GET"]),
    Route(f"{HISTORY}/diff", show_comparison, methods=["GET"]),
    Route(f"{HISTORY}/changes", show_changes, methods=["GET"]),
]
