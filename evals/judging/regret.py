"""Regret: what a run lost against the oracle, item by item. Missing evidence, and pages fetched for nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evals.intervals import Interval
from evals.judging.oracle import Links, best_pages, links_within
from evals.walks.goldens import GoldenQuery
from evals.walks.scoring import page_of, pages_in_order, quotes_found, round_complete, summarise

FIELDS = ("missing_pages", "missing_quotes", "wasted_pages", "rounds_after", "too_early", "false_claim")

CAUSES = {
    "confident": "stopped, believing the evidence complete",
    "gave_up": "stopped, giving up",
    "exhausted": "no link left that seemed worth following",
    "cap": "the page or time limit",
}
"""Why a gold page was never fetched, by the recorded kind of stop."""


@dataclass(frozen=True, slots=True)
class Regret:
    """One item.

    missing_pages: needs without a gold page; missing_quotes: needs with one whose quote is not in the evidence.
    wasted_pages: fetched, and neither a gold page that counts nor on the shortest way to one over the run's own pages.
    rounds_after: rounds after the one that brought the last gold page (0 when that never came).
    too_early: the policy stopped while a gold page was missing; false_claim: "found" was claimed all the same.
    """

    missing_pages: int
    missing_quotes: int
    wasted_pages: int
    rounds_after: int
    too_early: bool
    false_claim: bool
    cause: str

    @property
    def none(self) -> bool:
        """True for a run that lost nothing."""
        return not (self.missing_pages or self.missing_quotes or self.wasted_pages or self.false_claim)


def regret_of(golden: GoldenQuery, record: Mapping[str, Any], links: Links) -> Regret:
    """What the run of `record` lost. `links` are the site's links between the pages it fetched, by `page_of`."""
    order = pages_in_order(record)
    claimed = bool(record["claimed_found"])
    needs = [{page_of(url) for url in need} for need in golden.gold_pages]
    missing = sum(not need & order.keys() for need in needs)
    quotes = quotes_found(golden, record["evidence"])
    unread = sum(bool(need & order.keys()) and not quoted for need, quoted in zip(needs, quotes, strict=True))
    used = 0
    if order:
        pages = list(order)
        way = best_pages(links_within(links, pages), pages[0], [need & order.keys() for need in needs
                                                                if need & order.keys()])  # fmt: skip
        used = len(way or pages[:1])
    complete = round_complete(golden, order)
    cause = ""
    if missing:
        cause = CAUSES[record["stop"]] if order else "the seed page could not be fetched"
    elif unread:
        cause = "the page was read, the quote is not in the evidence"
    elif golden.kind == "unanswerable" and claimed:
        cause = "claimed an answer where there is none"
    return Regret(
        missing_pages=missing,
        missing_quotes=unread,
        wasted_pages=len(order) - used,
        rounds_after=0 if complete is None else max(order.values()) - complete,
        too_early=bool(missing) and record["stop"] in ("confident", "gave_up"),
        false_claim=claimed and (missing > 0 or golden.kind == "unanswerable"),
        cause=cause,
    )


def regrets_of(
    goldens: Sequence[GoldenQuery], records: Mapping[str, Mapping[str, Any]], links: Links
) -> dict[str, Regret]:
    """Regret by item, for the goldens that have a record."""
    return {golden.id: regret_of(golden, records[golden.id], links) for golden in goldens if golden.id in records}


def regret_table(goldens: Sequence[GoldenQuery], regrets: Mapping[str, Regret]) -> dict[str, dict[str, Interval]]:
    """Means per group (all, answerable, each kind) and field, with intervals."""
    numbers = {
        item: {name: float(value) for name, value in asdict(regret).items() if name in FIELDS}
        for item, regret in regrets.items()
    }
    return summarise(goldens, numbers, FIELDS)
