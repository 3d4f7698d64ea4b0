"""What the past of a page shows: its periods, what it said at a time, its changes; and what became of quotes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from webrag_core.corpus.works import WorkMember
from webrag_core.history.anchoring import State
from webrag_core.history.answers import OpenedAnswer
from webrag_core.history.citations import CitationState
from webrag_core.history.compare import PageComparison, VersionText
from webrag_core.history.models import Certainty, OtherVersion, PageAt, PageChange, PageHistory, StatedTime
from webrag_core.showing.elements import Code, Element, Note, Page, Quotation, Row, Section, Table, Title

CERTAINTIES: dict[Certainty, str] = {
    "certain": "certain",
    "between": "not certain",
    "not_seen": "not seen",
    "not_in_force": "not in force",
    "not_stated": "not stated",
}
"""How sure it is what a page said, in words."""
_BASES = {
    "text": "the text",
    "metadata": "its metadata",
    "history": "its history",
    "undated": "its history, at some time",
}
SIGHTINGS = {"seen": "seen", "archive": "from an archive or a repository", "backfilled": "earlier sightings unknown"}
"""How it is known that a text was there, in words."""
_CAUSES = {"extractor": "another extractor, same page", "unsure": "another extractor; perhaps the page, too"}
_SECOND = "%Y-%m-%d %H:%M:%S"


def history_view(story: PageHistory) -> list[Element]:
    """Its periods; what its versions say of their own time; the versions that stand at other addresses."""
    several = {period.url for period in story.periods} != {story.url}
    rows = tuple(
        (
            "absent" if period.version is None else str(period.version),
            f"{period.seen_from:{_SECOND}}",
            f"{period.seen_last:{_SECOND}}",
            "" if period.seen_until is None else f"{period.seen_until:{_SECOND}}",
            _why(period.basis, period.cause, kept=period.kept),
            *((period.url,) if several else ()),
        )
        for period in story.periods
    )
    columns = ("version", "seen from", "last seen", "something else from", "why", *(("address",) if several else ()))
    return [
        Title(story.url),
        Table("", columns, rows),
        *([_stated(story.stated)] if story.stated else []),
        *(versions_beside(key, members, story.url) for key, members in story.works.items()),
    ]


def page_at_view(page: PageAt) -> list[Element]:
    """How sure it is what the page said, and its text."""
    version = "no text" if page.version is None else f"version {page.version}"
    near = page.nearest
    nearest = []
    if near is not None and near.version is not None:
        nearest = [f"Nearest: version {near.version}, seen {near.seen_from:%Y-%m-%d} to {near.seen_last:%Y-%m-%d}"]
    return [
        Title(f"{page.url} at {page.at}: {CERTAINTIES[page.certainty]}, {version}"),
        Note(f"{page.note}."),
        *map(Note, nearest),
        *([Code(page.text, "markdown")] if page.text is not None else []),
    ]


def versions_beside(key: str, members: Sequence[OtherVersion | WorkMember], here: str) -> Section:
    """The versions of a work that stand beside each other at other addresses; the page `here` is named."""
    return Section("pages", f"Versions beside each other: {key}", tuple(_members(members, here)))


def changes_view(changes: Sequence[PageChange]) -> list[Element]:
    """Each change, and their number."""
    rows = tuple(
        (f"{change.by:{_SECOND}}", change.url, change.kind, _number(change.from_version), _number(change.to_version))
        for change in changes
    )
    table = Table("", ("first seen", "page", "change", "from", "to"), rows)
    return [table, Note(f"{len(changes)} changes")]


def comparison_view(comparison: PageComparison) -> list[Element]:
    """What changed, block by block, and how much of it."""
    counts = comparison.diff.counts()
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in ("edited", "added", "removed", "moved") if counts.get(kind))
    facts = comparison.diff.facts_changed
    return [
        Title(comparison.url),
        Note(f"From {comparison.before.name} to {comparison.after.name}"),
        Code(comparison.unified().rstrip("\n"), "diff"),
        Note(f"{comparison.note or kinds or 'nothing changed'}."),
        *([Note(f"Changed facts: {', '.join(facts)}.")] if facts else []),
    ]


def version_view(version: VersionText) -> list[Element]:
    """The text of a version."""
    return [Title(version.url), Note(version.name), Code(version.text, "markdown")]


def opened_view(opened: OpenedAnswer) -> list[Element]:
    """The question of a run, and its quotes with what became of each."""
    answer = opened.answer
    moment = f"Asked {answer.started_at:%Y-%m-%d %H:%M} UTC, confidence {answer.percent()}."
    parts: list[Element] = [
        Title(answer.query),
        Note(moment) if answer.reason is None else Note(f"Failed: {answer.reason}", "problem"),
    ]
    if opened.citations:
        heading = f"Its quotes today: {state_counts(Counter(citation.state for citation in opened.citations))}"
        parts.append(Section("states", heading, tuple(map(_quoted, opened.citations))))
    return parts


def state_counts(counts: Counter[State]) -> str:
    """How many quotes are in which state."""
    states: tuple[State, ...] = ("valid", "moved", "changed", "gone", "broken")
    return ", ".join(f"{counts[state]} {state}" for state in states if counts[state] or state != "broken")


def state_line(citation: CitationState) -> str:
    """What became of a quote."""
    reasons = {
        ("moved", "text"): "stands elsewhere on the page",
        ("moved", "markup"): "the same words, with other markup or links",
        ("moved", "page"): "stands on another page",
        ("changed", "reworded"): f"{citation.kept:.0%} of its words are left"
        + (f", {citation.standing} of {citation.sentences} sentences unchanged" if citation.sentences > 1 else ""),
        ("changed", "lost"): "no longer on the page",
    }
    parts = [citation.state, reasons.get((citation.state, citation.how), "")]
    if citation.facts_changed:
        parts.append(f"changed facts: {', '.join(citation.facts_changed)}")
    if citation.state == "valid" and citation.context_changed:
        parts.append("what stands around it changed")
    if citation.cause == "extractor":
        parts.append("the page is the same, read by another extractor")
    return "; ".join(part for part in parts if part)


def _quoted(citation: CitationState) -> Quotation:
    now = ""
    if citation.state in ("moved", "changed") and citation.now_url is not None:
        now = f"; now {citation.now_url} version {citation.now_version}, characters {citation.now_start} to"
        now += f" {citation.now_end}"
    return Quotation(
        number=citation.number,
        url=citation.url,
        title=citation.url,
        headings=(),
        text=citation.quote,
        marked=(0, 0),
        quoted=citation.quote,
        notes=(state_line(citation),),
        stamp=f"version {citation.cited_version}{now}",
    )


def _stated(stated: Sequence[StatedTime]) -> Table:
    rows = (
        (
            str(statement.version),
            statement.kind.replace("_", " "),
            "" if statement.start is None else str(statement.start),
            "" if statement.end is None else str(statement.end),
            _BASES[statement.basis],
        )
        for statement in stated
    )
    columns = ("version", "is", "from", "until before", "says")
    return Table("What its versions say of their own time", columns, tuple(rows))


def _members(members: Sequence[OtherVersion | WorkMember], here: str) -> Iterator[Page | Row]:
    for member in members:
        mark = ", this page" if member.url == here else "" if member.stored else ", gone"
        yield Page(member.url, f"{member.label}{mark}")


def _why(basis: str, cause: str | None, *, kept: bool) -> str:
    sighting = "" if basis == "seen" else SIGHTINGS.get(basis, basis)
    parts = [sighting, _CAUSES.get(cause or "", ""), "" if kept else "text no longer kept"]
    return ", ".join(part for part in parts if part)


def _number(version: int | None) -> str:
    return "" if version is None else str(version)
