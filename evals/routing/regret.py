"""The regret of each way to choose among agents, against the best agent in hindsight, on recorded arms.

    webrag eval routes [--arms FILE] [--json]

found: share of answerable questions all of whose quotes are in the first 8,000 tokens (32,000 characters) of evidence;
regret: that of the best agent in hindsight less the router's; utility: found less .02 a page fetched (previews
included) and .01 a second; cost: pages and seconds as a share of those of all agents at once. Unanswerable questions
count for pages, seconds, utility and cost. Intervals: 95 %, bootstrap over sites.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from evals.intervals import interval
from evals.routing.arms import State
from evals.routing.offline import ROUTERS, Judged, Row, best_agent, both, most_useful

STATES: tuple[State, ...] = ("stored", "half", "empty")


def scores(rows: Sequence[Row]) -> dict[str, dict[str, dict[str, Any]]]:
    """Figures per state of the corpus, router and measure."""
    table: dict[str, dict[str, dict[str, Any]]] = {}
    for state in STATES:
        state_rows = [row for row in rows if row["state"] == state]
        judged = {name: [router(row) for row in state_rows] for name, router in ROUTERS.items()}
        best, useful, everything = ([item(row) for row in state_rows] for item in (best_agent, most_useful, both))
        answerable = [place for place, row in enumerate(state_rows) if row["needs"]]
        sites = [row["suite"] for row in state_rows]
        table[state] = {
            name: _figures(results, best, useful, everything, answerable, sites) for name, results in judged.items()
        }
    return table


def _figures(
    results: Sequence[Judged],
    best: Sequence[Judged],
    useful: Sequence[Judged],
    everything: Sequence[Judged],
    answerable: Sequence[int],
    sites: Sequence[str],
) -> dict[str, Any]:
    regret = interval(
        [best[place].found - results[place].found for place in answerable], [sites[place] for place in answerable]
    )
    return {
        "n": len(results),
        "found": round(statistics.mean(results[place].found for place in answerable), 3),
        "regret": round(regret.mean, 3),
        "regret from": round(regret.low, 3),
        "regret to": round(regret.high, 3),
        "utility": round(statistics.mean(result.utility for result in results), 3),
        "utility regret": round(
            statistics.mean(two.utility - result.utility for result, two in zip(results, useful, strict=True)), 3
        ),
        "pages": round(statistics.mean(result.pages for result in results), 1),
        "seconds": round(statistics.mean(result.seconds for result in results), 2),
        "cost": round(sum(result.cost for result in results) / sum(item.cost for item in everything), 2),
    }


def planning(rows: Sequence[Row]) -> Mapping[str, float]:
    """Milliseconds of planning: median and 95th percentile."""
    times = sorted(row["planning_ms"] for row in rows)
    return {"p50": statistics.median(times), "p95": times[int(0.95 * (len(times) - 1))]}
