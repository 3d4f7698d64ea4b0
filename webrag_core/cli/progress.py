"""What long work is doing, always on stderr: one live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from webrag_core.cli.output import complain, elsewhere, err, error_console
from webrag_core.page_text import one_line

if TYPE_CHECKING:
    from webrag_core.orchestration.models import Round

ProgressStyle = Literal["auto", "plain", "none"]
Show = Callable[[str, "Round | None"], None]
"""Callback for a phase that begins, or a round that ended."""

_LABEL_CHARS = 60
_style: ContextVar[ProgressStyle] = ContextVar("webrag_progress", default="auto")


def set_style(style: ProgressStyle) -> None:
    """Choose for this command: a live line where stderr is a terminal (auto), plain lines in any case, or nothing."""
    _style.set(style)


class Advance:
    """Callback for each finished unit of work, with its label."""

    def __init__(self) -> None:
        self.done = 0

    def __call__(self, label: str) -> None:
        """A unit is done."""
        self.done += 1

    def begin(self, label: str) -> None:
        """A unit is begun."""


class _Bar(Advance):
    """One live line, which names what is at work."""

    def __init__(self, bar: Progress, what: str, total: int | None) -> None:
        super().__init__()
        self._bar, self._what = bar, what
        self._task = bar.add_task(what, total=total)
        self._names_begun = False

    def __call__(self, label: str) -> None:
        super().__call__(label)
        self._bar.update(self._task, advance=1)
        if not self._names_begun:
            self._show(label)

    def begin(self, label: str) -> None:
        self._names_begun = True
        self._show(label)

    def _show(self, label: str) -> None:
        self._bar.update(self._task, description=f"{self._what} {escape(one_line(label)[-_LABEL_CHARS:])}")


class _Lines(Advance):
    """A plain line now and then."""

    def __init__(self, what: str, total: int | None) -> None:
        super().__init__()
        self._what, self._total = what, total
        self._step = 100 if total is None else max(1, total // 10)

    def __call__(self, label: str) -> None:
        super().__call__(label)
        if self.done % self._step == 0 or self.done == self._total:
            _print(f"{self._what}: {self.done}{'' if self._total is None else f'/{self._total}'}")


@contextmanager
def progress(total: int | None, what: str, *, kept: str | None = None) -> Iterator[Advance]:
    """A bar on a terminal, a plain line now and then elsewhere. `total` None = unknown. `kept` says what stays of the
    units that are done when the work is interrupted, which a line on stderr then says."""
    advance: Advance = _Lines(what, total)
    try:
        if not _is_live():
            yield advance
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=err, transient=True) as bar:
            advance = _Bar(bar, what, total)
            yield advance
    except asyncio.CancelledError:  # Ctrl-C
        if kept is not None:
            complain(f"stopped; {advance.done:,} {kept}")
        raise


@contextmanager
def show_progress() -> Iterator[Show]:
    """Show the phases and rounds of a run from the first instant on, with the best score so far on a terminal. Warnings
    of the result are printed with it, not in between."""
    from webrag_core.cli.log import leave_warnings_to_the_result

    leave_warnings_to_the_result()
    if not _is_live():
        yield lambda phase, completed: _print(_line(phase, completed))
        return
    if (streams := elsewhere.get()) is not None:
        yield _described(streams.show)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("starting the database", total=None)
        yield _described(lambda text: bar.update(task, description=escape(text[: max(_LABEL_CHARS, err.width - 14)])))


def _described(show: Callable[[str], object]) -> Show:
    """What gives `show` the words of a live line, at each phase and round."""
    best = ""

    def described(phase: str, completed: Round | None) -> None:
        nonlocal best
        if completed is None:
            place = _line(phase, None)
        else:
            best = f"round {completed.round}, best score {completed.signals.best_raw_score:.0%}: "
            place = f"reading {_next_page(completed)}" if _next_page(completed) else "following links"
        show(f"{best}{place}")

    return described


def _line(phase: str, completed: Round | None) -> str:
    """One line for a phase that begins or a round that ended, with the next page when a link is followed."""
    from webrag_core.orchestration.models import progress_line

    line = progress_line(phase, completed)
    page = None if completed is None else _next_page(completed)
    return line if page is None else f"{line}: {page}"


def _next_page(completed: Round) -> str | None:
    """The page that is read next: the best of the pages looked at, else the best link."""
    pages = [*(preview.url for preview in completed.previews), *(candidate.url for candidate in completed.candidates)]
    if completed.decision.action != "expand_breadth" or not pages:
        return None
    return one_line(pages[0])


def _is_live() -> bool:
    return _style.get() == "auto" and error_console().is_terminal


def _print(line: str) -> None:
    if _style.get() != "none":
        error_console().print(line, markup=False, highlight=False)
