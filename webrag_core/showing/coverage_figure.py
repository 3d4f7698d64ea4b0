"""The coverage of a source: how many of its pages are in which state, beside what its site map names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from webrag_core.corpus.source_pages import PAGE_STATES, STATE_WORDS, PageState
from webrag_core.drawing.bars import Bar, bars
from webrag_core.drawing.figure import DataTable, Figure


def coverage_figure(
    states: Mapping[PageState, int], map_entries: int | None, state_path: Callable[[PageState], str] | None = None
) -> Figure | None:
    """The states that there are; they lead to `state_path`. None for a source without pages. `map_entries` None or 0:
    no site map names pages."""
    total = sum(states.values())
    if not total:
        return None
    rows = [
        Bar(STATE_WORDS[state], states[state], href=state_path(state) if state_path is not None else "")
        for state in PAGE_STATES
        if states.get(state)
    ]
    table = [
        (STATE_WORDS[state], f"{states[state]:,}", f"{states[state] / total:.1%}")
        for state in PAGE_STATES
        if states.get(state)
    ]
    note = ""
    if map_entries:
        rows.append(Bar("on its site map", map_entries, "hollow"))
        table.append(("on its site map", f"{map_entries:,}", "–"))
        note = "An empty bar: addresses that the site itself names."
    return bars("Pages of the source by state", rows, DataTable(("State", "Pages", "Share"), tuple(table)), note)
