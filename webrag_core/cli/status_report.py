"""The contents of the corpus in words: sources, freshness, failures, endpoints that fail, limits of workers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from webrag_core.cli.output import print_line, print_table
from webrag_core.errors import Reason

if TYPE_CHECKING:
    from webrag_core.corpus.status import CorpusStatus, SourceStatus
    from webrag_core.indexing.window_vectors import WindowStatus
    from webrag_core.routing.agent_figures import AgentFigures

_AGES = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def print_status(
    status: CorpusStatus, windows: WindowStatus | None, place: str, sandbox: Mapping[str, str | None]
) -> None:
    """Print the report. `windows` is None where they are off, `place` names the database, `sandbox` says of each thing
    that workers do without why they keep it on this machine, if they do."""
    print_line(f"Corpus {place}, {status.database_bytes / 1e6:.0f} MB")
    if not status.sources:
        print_line(
            "Nothing is stored yet: `webrag ask QUESTION --url URL` or `webrag source add URL` begins", style="yellow"
        )
    else:
        _print_sources(status.sources)
    print_line(f"Embedding model {status.embedding_model or 'none yet'}, {_number(status.answers, 'answer')}")
    _print_windows(windows)
    if status.failures:
        print_line(f"{_number(sum(status.failures.values()), 'page')} failed:", style="yellow")
        for reason, count in status.failures.items():
            print_line(f"  {count} × {reason_words(reason)}")
        for page in status.failed_pages:
            print_line(f"  {page.url}: {reason_words(page.reason)}")
        if status.failed_unnamed:
            print_line(f"  and {status.failed_unnamed:,} more: `webrag status --failed` names all")
    for breaker in status.breakers:
        if breaker.state == "closed":
            continue
        again = "" if breaker.retry_at is None else f", next try {breaker.retry_at:%H:%M:%S} UTC"
        print_line(
            f"{breaker.name}: {breaker.state}, {breaker.failures} failures in a row ({breaker.last_reason}){again}",
            style="yellow",
        )
    for when, spent in (("today (UTC)", status.spent_today), ("in 30 days", status.spent_in_30_days)):
        for provider in spent:
            print_line(f"Asked {when} of {provider.text}")
    print_line("Conversion workers do without: " + (", ".join(w for w, p in sandbox.items() if not p) or "nothing"))
    if left := [f"{what} ({problem})" for what, problem in sandbox.items() if problem]:
        print_line("Conversion workers keep, on this machine: " + ", ".join(left), style="yellow")


def print_agents(agents: Sequence[AgentFigures], replaced: int) -> None:
    """Print how the agents did in 30 days, and how many plans were `replaced` by others than WEBRAG_ROUTER's."""
    for agent in agents:
        print_line(f"Tasks in 30 days of {agent.text}", style="yellow" if agent.failed or agent.timeouts else None)
    if replaced:
        print_line(f"{_number(replaced, 'plan')} in 30 days could not be used, and others were", style="yellow")


def _print_sources(sources: list[SourceStatus]) -> None:
    now = datetime.now(UTC)
    print_table(
        ("source", "pages", "failed", "gone", "due", "passages", "tokens", "last reached"),
        [
            (
                *(source.key, f"{source.ready:,}", source.failed or "–", source.gone or "–", source.due or "–"),
                *(f"{source.parents:,}", f"{source.tokens:,}"),
                "never" if source.last_answered is None else age(source.last_answered, now),
            )
            for source in sources
        ],
    )
    for source in sources:
        if source.failing is not None and source.failed_at is not None:
            print_line(
                f"{source.key}: the last attempt failed, {age(source.failed_at, now)}: {reason_words(source.failing)}",
                style="yellow",
            )
        if source.held:
            print_line(
                f"{source.key}: {_number(source.held, 'new text')} held back;"
                f" `webrag refresh {source.key} --accept` takes them",
                style="yellow",
            )
    if due := sum(source.due for source in sources):
        print_line(f"{_number(due, 'page')} due: `webrag refresh --due` asks for them", style="yellow")


def _print_windows(windows: WindowStatus | None) -> None:
    """How far the window vectors are, for each source that has some or could have."""
    if windows is None:
        print_line("Window vectors are off (RETRIEVAL_WINDOWS)")
        return
    for source in windows.sources:
        if source.missing:
            print_line(
                f"{source.source}: {source.with_vector:,} of {source.passages:,} child passages have a window vector"
            )
    if missing := windows.missing:
        left = windows.cpu_seconds_left
        takes = "" if left is None else f", about {_number(math.ceil(left), 'second')} of processor time"
        print_line(f"{_number(missing, 'window vector')} to make{takes}: `webrag model windows` makes them")
    elif windows.sources:
        print_line("Every child passage in English has its window vector")


def age(moment: datetime, now: datetime) -> str:
    """How long ago a moment was, in whole days, hours or minutes."""
    seconds = (now - moment).total_seconds()
    for unit, name in _AGES:
        if seconds >= unit:
            return f"{_number(int(seconds // unit), name)} ago"
    return "just now"


def reason_words(reason: str) -> str:
    """A stored reason for people, with its code; any other text as it is."""
    known = next((item for item in Reason if item == reason), None)
    return reason if known is None else f"{known.words} [{reason}]"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
