"""Agent `history`: what pages said, and how they changed."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import AsyncConnection

from webrag_core.errors import InvalidInputError
from webrag_core.history.as_of import AsOf
from webrag_core.history.citations import CitationState, citation_states
from webrag_core.history.compare import PageComparison, compare
from webrag_core.history.diff import BlockChange
from webrag_core.history.models import PageChange
from webrag_core.history.pages import changes, page_at, seen_history
from webrag_core.history.past_search import search_at
from webrag_core.indexing.markdown import plain_text
from webrag_core.result_warnings import Caution
from webrag_core.retrieval.dates import moment
from webrag_core.retrieval.request import SearchRequest
from webrag_core.routing.agents.nothing_found import nothing_found
from webrag_core.routing.agents.protocol import Context
from webrag_core.routing.plan import HistoryChanges, HistoryCitations, HistoryPage, HistorySearch, HistoryVersions, Task
from webrag_core.routing.results import Finding, Output
from webrag_core.store.database import Database

_MOST_PAGES = 10  # whose changes are compared
_MOST_FINDINGS = 20
_CHANGED = "Changed on "
_MOST_EDIT = 80  # characters of the words that went, and of those that came
_MOST_CHARACTERS = 1_500  # characters of a page of then


class HistoryAgent:
    """Implements `Agent`. Dates are those at which pages were seen, unless a task asks for valid time."""

    async def run(self, task: Task, context: Context) -> Output:
        """Read the past; nothing is fetched."""
        params = task.params
        database = context.corpus.database
        if isinstance(params, HistorySearch):
            return await _search(context, params)
        if isinstance(params, HistoryCitations):
            return await _quotes(database, params.answer)
        if isinstance(params, HistoryPage):
            return await _page(database, params)
        async with database.connection() as connection:
            if isinstance(params, HistoryVersions):
                history = await seen_history(connection, params.url)
                last = history.last_two()
                if last is None:
                    return Output(note=f"{history.url} has had one text since {history.periods[0].seen_from:%Y-%m-%d}")
                return _compared([await compare(connection, params.url, *last)])
            assert isinstance(params, HistoryChanges)
            return await _changes(connection, params)


async def _search(context: Context, params: HistorySearch) -> Output:
    filters = params.filters()
    request = SearchRequest(query=params.query, filters=filters)
    results = await search_at(context.corpus, request, AsOf.parse(params.at), time=params.time)
    note = "uncalibrated: fitted for what is stored today"
    return Output(
        evidence=results.chunks,
        top_score=results.top_score,
        complete=results.top_score,
        note=note if results.chunks else await nothing_found(context.corpus.database, filters, params.at),
        warnings=list(map(Caution, results.warnings)),
    )


async def _quotes(database: Database, answer: int) -> Output:
    """Every quote of an answer, with what became of it."""
    states = {state.number: state for state in await citation_states(database, answers=[answer])}
    async with database.connection() as connection:
        cursor = await connection.execute(
            "SELECT c.number, c.version_id, c.char_start, c.heading, v.title FROM citations c"
            " JOIN document_versions v ON v.id = c.version_id WHERE c.answer_id = %s ORDER BY c.number",
            (answer,),
        )
        rows = await cursor.fetchall()
    findings = [
        Finding.of(
            states[number].quote,
            group=f"Quotes of answer {answer}",
            label=_state(states[number]),
            url=states[number].url,
            title=title,
            heading=heading,
            version_id=version,
            char_start=start,
        )
        for number, version, start, heading, title in rows
        if number in states
    ]
    standing = sum(state.state in ("valid", "moved") for state in states.values())
    return Output(findings=findings, note=f"{standing} of {len(states)} quotes of answer {answer} still stand")


def _state(state: CitationState) -> str:
    parts = f", {state.standing} of {state.sentences} sentences stand" if state.state == "changed" else ""
    facts = f", {' and '.join(state.facts_changed)} changed" if state.facts_changed else ""
    return f"{state.number}: {state.state}{parts}{facts}"


async def _page(database: Database, params: HistoryPage) -> Output:
    page = await page_at(database, params.url, AsOf.parse(params.at), params.time)
    if page.text is None or not page.text.strip() or page.version_id is None:
        return Output(note=page.note)
    start = len(page.text) - len(page.text.lstrip())
    quote = page.text[start : start + _MOST_CHARACTERS].rstrip()
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
    edited = {url: pair for url, page_changes in by_page.items() if (pair := _texts(page_changes)) is not None}
    for url, (before, after) in list(edited.items())[:_MOST_PAGES]:
        try:
            compared.append(await compare(connection, url, str(before), str(after)))
        except InvalidInputError as error:  # a text that is no longer kept
            warnings.append(error.message)
    output = _compared(compared)
    output.warnings += map(Caution, warnings)
    if len(edited) > _MOST_PAGES:
        output.warnings.append(Caution(f"{len(edited)} pages changed; the first {_MOST_PAGES} are compared"))
    counts = {kind: sum(row.kind == kind for row in listed) for kind in ("new", "gone", "back")}
    others = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    output.note = (
        f"{len(edited)} pages changed{f', others: {others}' if others else ''}" if listed else "nothing changed"
    )
    return output


def _texts(page_changes: Sequence[PageChange]) -> tuple[int, int] | None:
    """Numbers of the first and last text of these changes of a page; None where there is nothing to compare."""
    edits = [item for item in page_changes if item.from_version is not None and item.to_version is not None]
    first, last = (edits[0].from_version, edits[-1].to_version) if edits else (None, None)
    return None if first is None or last is None or first == last else (first, last)


def _compared(comparisons: Sequence[PageComparison]) -> Output:
    """The changed blocks, those in which facts changed first; of each page in turn."""
    ranked = [
        [
            _finding(comparison, change)
            for change in sorted(comparison.diff.changes, key=_importance)
            if change.kind != "moved"
        ]
        for comparison in comparisons
    ]
    turns = max(map(len, ranked), default=0)
    findings = [rows[turn] for turn in range(turns) for rows in ranked if turn < len(rows)]
    warnings = []
    if len(findings) > _MOST_FINDINGS:
        listed = f"{_MOST_FINDINGS} are listed (webrag history URL --changes)"
        warnings.append(Caution(f"{len(findings)} passages changed; {listed}"))
    pages = {comparison.url: place for place, comparison in enumerate(comparisons)}
    shown = sorted(findings[:_MOST_FINDINGS], key=lambda finding: pages.get(finding.group.removeprefix(_CHANGED), 0))
    return Output(findings=shown, warnings=warnings)


def _importance(change: BlockChange) -> tuple[bool, bool, int]:
    """Changed facts first, then what is on the page now, then the larger changes."""
    return (not change.facts_changed, change.kind == "removed", -_size(change))


def _size(change: BlockChange) -> int:
    """Words that came or went."""
    if change.words:
        return sum(len(word.text.split()) for word in change.words if word.op != "same")
    span = change.after or change.before
    return 0 if span is None else (span.end - span.start) // 6


def _edit(change: BlockChange) -> str:
    """The words of an edited block that went and came, cut short."""
    gone, come = (
        plain_text(" … ".join(word.text.strip() for word in change.words if word.op == op and word.text.strip()))[
            :_MOST_EDIT
        ]
        for op in ("removed", "added")
    )
    return f": “{gone}” → “{come}”" if gone or come else ""


def _finding(comparison: PageComparison, change: BlockChange) -> Finding:
    text, span = (comparison.after, change.after) if change.after is not None else (comparison.before, change.before)
    assert span is not None
    edited = change.kind == "edited" and bool(change.facts_changed)
    facts = f", {' and '.join(change.facts_changed)} changed" if edited else ""
    return Finding.of(
        text.text[span.start : span.end],
        group=f"{_CHANGED}{comparison.url}",
        label=f"{change.kind} between {comparison.before.seen_last:%Y-%m-%d} and"
        f" {comparison.after.seen_from:%Y-%m-%d}{facts}{_edit(change)}",
        url=text.url,
        title=text.title,
        heading=" > ".join(change.heading_path) or None,
        version_id=text.version_id,
        char_start=span.start,
    )
