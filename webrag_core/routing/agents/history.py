"""Agent `history`: what pages said, and how they changed."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import AsyncConnection

from webrag_core.errors import InvalidInputError
from webrag_core.history.as_of import AsOf
from webrag_core.history.citations import citation_states
from webrag_core.history.compare import PageComparison, compare
from webrag_core.history.diff import BlockChange
from webrag_core.history.models import PageChange
from webrag_core.history.pages import changes, page_at, versions
from webrag_core.history.past_search import search_at
from webrag_core.retrieval.dates import moment
from webrag_core.retrieval.request import ScopeFilter, SearchRequest
from webrag_core.routing.agents.nothing_found import nothing_found
from webrag_core.routing.agents.protocol import Context
from webrag_core.routing.plan import HistoryChanges, HistoryCitations, HistoryPage, HistorySearch, HistoryVersions, Task
from webrag_core.routing.results import Finding, Output

_MOST_PAGES = 10  # whose changes are compared
_MOST_FINDINGS = 20
_MOST_WORDS_SHOWN = 1_500  # characters of a page of then
_VERBS = {"added": "added", "removed": "removed", "edited": "edited", "moved": "moved"}


class HistoryAgent:
    """Implements `Agent`. Dates are those at which pages were seen, unless a task asks for valid time."""

    async def run(self, task: Task, context: Context) -> Output:
        """Read the past; nothing is fetched."""
        params = task.params
        database = context.corpus.database
        if isinstance(params, HistorySearch):
            return await _search(context, params)
        if isinstance(params, HistoryCitations):
            states = await citation_states(database, answers=[params.answer])
            lost = [f"[{one.number}] {one.state}" for one in states if one.state not in ("valid", "moved")]
            standing = len(states) - len(lost)
            return Output(
                note=f"{standing} of {len(states)} quotes of answer {params.answer} still stand",
                warnings=[f"quotes of answer {params.answer} that no longer stand: {', '.join(lost)}"] if lost else [],
            )
        async with database.connection() as connection:
            if isinstance(params, HistoryPage):
                return await _page(connection, params)
            if isinstance(params, HistoryVersions):
                history = await versions(connection, params.url)
                last = history.last_two()
                if last is None:
                    return Output(note=f"{history.url} has had one text since {history.periods[0].seen_from:%Y-%m-%d}")
                return _compared([await compare(connection, params.url, *last)])
            assert isinstance(params, HistoryChanges)
            return await _changes(connection, params)


async def _search(context: Context, params: HistorySearch) -> Output:
    filters = ScopeFilter(sources=params.sources or None, url_prefixes=params.below or None)
    request = SearchRequest(query=params.query, filters=filters)
    results = await search_at(context.corpus, request, AsOf.parse(params.at), time=params.time)
    note = "uncalibrated: fitted for what is stored today"
    return Output(
        evidence=results.chunks,
        top_score=results.top_score,
        complete=results.top_score,
        note=note if results.chunks else await nothing_found(context.corpus.database, filters, params.at),
        warnings=results.warnings,
    )


async def _page(connection: AsyncConnection, params: HistoryPage) -> Output:
    page = await page_at(connection, params.url, AsOf.parse(params.at), params.time)
    if page.text is None or page.version_id is None:
        return Output(note=page.note)
    start = len(page.text) - len(page.text.lstrip())
    quote = page.text[start : start + _MOST_WORDS_SHOWN].rstrip()
    finding = Finding.of(
        quote,
        group=f"The page at {page.at}",
        label=page.note,
        url=page.url,
        title=page.title,
        heading=None,
        version_id=page.version_id,
        char_start=start,
    )
    return Output(findings=[finding], note=page.note)


async def _changes(connection: AsyncConnection, params: HistoryChanges) -> Output:
    since = None if params.since is None else moment(params.since, "since")
    until = None if params.until is None else moment(params.until, "until", end=True)
    listed: list[PageChange] = []
    for target in params.targets:
        listed += await changes(connection, target, since=since, until=until)
    warnings, compared = [], []
    by_page: dict[str, list[PageChange]] = {}
    for change in listed:
        by_page.setdefault(change.url, []).append(change)
    edited = {url: pair for url, own in by_page.items() if (pair := _texts(own)) is not None}
    for url, (before, after) in list(edited.items())[:_MOST_PAGES]:
        try:
            compared.append(await compare(connection, url, str(before), str(after)))
        except InvalidInputError as error:  # a text that is no longer kept
            warnings.append(error.message)
    output = _compared(compared)
    output.warnings += warnings
    if len(edited) > _MOST_PAGES:
        output.warnings.append(f"{len(edited)} pages changed; the first {_MOST_PAGES} are compared")
    counts = {kind: sum(one.kind == kind for one in listed) for kind in ("new", "gone", "back")}
    others = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    output.note = (
        f"{len(edited)} pages changed{f', others: {others}' if others else ''}" if listed else "nothing changed"
    )
    return output


def _texts(own: Sequence[PageChange]) -> tuple[int, int] | None:
    """Numbers of the first and last text of these changes of a page; None where there is nothing to compare."""
    edits = [one for one in own if one.from_version is not None and one.to_version is not None]
    first, last = (edits[0].from_version, edits[-1].to_version) if edits else (None, None)
    return None if first is None or last is None or first == last else (first, last)


def _compared(comparisons: Sequence[PageComparison]) -> Output:
    """The changed blocks, those in which facts changed first; of each page in turn."""
    ranked = [
        [_finding(one, change) for change in sorted(one.diff.changes, key=_importance) if change.kind != "moved"]
        for one in comparisons
    ]
    turns = max(map(len, ranked), default=0)
    findings = [rows[turn] for turn in range(turns) for rows in ranked if turn < len(rows)]
    warnings = []
    if len(findings) > _MOST_FINDINGS:
        warnings.append(f"{len(findings)} passages changed; {_MOST_FINDINGS} are listed (webrag history URL --diff)")
    return Output(findings=findings[:_MOST_FINDINGS], warnings=warnings)


def _importance(change: BlockChange) -> tuple[bool, bool]:
    return (not change.facts_changed, change.kind == "removed")


def _finding(comparison: PageComparison, change: BlockChange) -> Finding:
    text, span = (comparison.after, change.after) if change.after is not None else (comparison.before, change.before)
    assert span is not None
    edited = change.kind == "edited" and bool(change.facts_changed)
    facts = f", {' and '.join(change.facts_changed)} changed" if edited else ""
    return Finding.of(
        text.text[span.start : span.end],
        group=f"Changed on {comparison.url}",
        label=f"{_VERBS[change.kind]} between {comparison.before.seen_last:%Y-%m-%d} and"
        f" {comparison.after.seen_from:%Y-%m-%d}{facts}",
        url=text.url,
        title=text.title,
        heading=" > ".join(change.heading_path) or None,
        version_id=text.version_id,
        char_start=span.start,
    )
