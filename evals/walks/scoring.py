"""Scores of a site-walk run log against its goldens, with clustered bootstrap intervals.

success: every need has one of its gold pages among the fetched; s@k: among the first k of them. quotes: and its gold
quote in the first 32,000 characters of evidence. stop_exact: success, and no round after the one that completed it.
utility: oracle pages / pages used when a find is claimed rightly, 1 - wasted / 30 when an unanswerable item is declared
so, else 0; net: the same with -0.5 for each false claim. complete: the evidence holds every quote, which is what
`probability_complete` speaks of; never so for an unanswerable item.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import unquote, urlsplit

from evals.intervals import Interval, interval
from evals.walks.goldens import GoldenQuery, cluster_of
from webrag_core.acquisition.urls import page_key
from webrag_core.indexing.markdown import plain_text

EVIDENCE_CHARS = 32_000
METRICS = ("success", "s@5", "s@10", "s@30", "quotes", "pages", "stop_exact", "false_claim", "utility", "net")


def score_item(golden: GoldenQuery, record: Mapping[str, Any]) -> dict[str, float]:
    """Metrics of one item; those that do not apply to its kind are absent, and so is what needs the evidence when the
    record's `evidence` is None."""
    order = pages_in_order(record)
    pages = len(order)
    claimed = bool(record["claimed_found"])
    if golden.kind == "unanswerable":
        utility = 0.0 if claimed else max(0.0, 1 - (pages - 1) / 30)
        return {
            "pages": pages,
            "false_claim": claimed,
            "utility": utility,
            "net": -0.5 if claimed else utility,
        }
    complete_at = round_complete(golden, order)
    success = complete_at is not None
    exact = success and max(order.values(), default=0) == complete_at and record["stop"] != "cap"
    spl = golden.oracle_pages / max(pages, golden.oracle_pages) if success else 0.0
    return {
        "success": success,
        **{f"s@{most}": _reached_within(order, golden, most) for most in (5, 10, 30)},
        **({} if record["evidence"] is None else {"quotes": success and all(quotes_found(golden, record["evidence"]))}),
        "pages": pages,
        "stop_exact": exact,
        "false_claim": claimed and not success,
        "utility": spl if claimed else 0.0,
        "net": 0.0 if not claimed else spl if success else -0.5,
    }


def is_complete(golden: GoldenQuery, record: Mapping[str, Any]) -> bool:
    """True when the run has a gold page for every need and the evidence holds every gold quote."""
    if golden.kind == "unanswerable" or round_complete(golden, pages_in_order(record)) is None:
        return False
    return all(quotes_found(golden, record["evidence"]))


def pages_in_order(record: Mapping[str, Any]) -> dict[str, int]:
    """Pages of a run (see `page_of`) with the round that fetched them first, in the order of fetching."""
    order: dict[str, int] = {}
    for entry in record["fetched"]:
        if not entry.get("aux"):
            order.setdefault(page_of(entry["url"]), entry["round"])
    return order


def round_complete(golden: GoldenQuery, order: Mapping[str, int]) -> int | None:
    """The round that brought the last gold page needed; None when one is missing."""
    reached = [min((order[page_of(url)] for url in need if page_of(url) in order), default=None)
               for need in golden.gold_pages]  # fmt: skip
    known = [number for number in reached if number is not None]
    return max(known) if known and len(known) == len(reached) else None


def quotes_found(golden: GoldenQuery, evidence: Sequence[Mapping[str, Any]]) -> list[bool]:
    """For each need: whether one of its quotes is in the evidence budget, in a passage of one of its pages."""
    room = EVIDENCE_CHARS
    passages: list[tuple[str, str]] = []
    for entry in evidence:
        text = entry["text"][:room]
        room -= len(text)
        passages.append((page_of(entry["url"]), squash(text)))
        if room <= 0:
            break
    return [
        any(
            squash(quote) in text and url in {page_of(page) for page in pages}
            for quote in quotes
            for url, text in passages
        )
        for pages, quotes in zip(golden.gold_pages, golden.gold_quotes, strict=True)
    ]


def _reached_within(order: Mapping[str, int], golden: GoldenQuery, pages: int) -> bool:
    """True when the first `pages` fetched pages hold a gold page for every need."""
    first = set(list(order)[:pages])
    return all(any(page_of(url) in first for url in needed) for needed in golden.gold_pages)


def aggregate(goldens: Sequence[GoldenQuery], records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Interval]]:
    """Intervals per group and metric. Items without a record are an error."""
    by_id = {record["id"]: record for record in records}
    return summarise(goldens, {golden.id: score_item(golden, by_id[golden.id]) for golden in goldens}, METRICS)


def summarise(
    goldens: Sequence[GoldenQuery], scores: Mapping[str, Mapping[str, float]], metrics: Sequence[str]
) -> dict[str, dict[str, Interval]]:
    """Intervals per group (all, answerable, each kind) and metric; `scores` by item. Items without scores, and groups
    without items, are left out."""
    scored = [(golden, scores[golden.id]) for golden in goldens if golden.id in scores]
    groups: dict[str, list[tuple[GoldenQuery, Mapping[str, float]]]] = {
        "all": scored,
        "answerable": [(golden, score) for golden, score in scored if golden.kind != "unanswerable"],
        **{kind: [(golden, score) for golden, score in scored if golden.kind == kind]
           for kind in dict.fromkeys(golden.kind for golden, _ in scored)},
    }  # fmt: skip
    table: dict[str, dict[str, Interval]] = {}
    for name, members in groups.items():
        table[name] = {}
        for metric in metrics:
            values = [(float(score[metric]), cluster_of(golden)) for golden, score in members if metric in score]
            if values:
                table[name][metric] = interval([value for value, _ in values], [cluster for _, cluster in values])
    return table


@lru_cache(maxsize=65_536)
def page_of(url: str) -> str:
    """One name per page: no query, no fragment, no final index.html."""
    return unquote(urlsplit(page_key(url))._replace(query="").geturl())


@lru_cache(maxsize=8_192)
def squash(text: str) -> str:
    """Letters and digits only: quotes are compared without white space, case, punctuation and mark-up."""
    folded = unicodedata.normalize("NFKC", plain_text(text)).casefold()
    return "".join(character for character in folded if character.isalnum())
