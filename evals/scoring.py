"""Scores of a site-walk run log against its goldens, with bootstrap intervals over items.

success: every need has one of its gold pages among the fetched; s@k: among the first k of them. quotes: and its gold
quote in the first 32,000 characters of evidence. stop_exact: success, and no round after the one that completed it.
utility: oracle pages / pages used when a find is claimed rightly, 1 - wasted / 30 when an unanswerable item is declared
so, else 0; net: the same with -0.5 for each false claim.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from evals.goldens import GoldenQuery
from webrag_core.indexing.markdown import plain_text
from webrag_core.ingestion.urls import page_key

EVIDENCE_CHARS = 32_000
METRICS = ("success", "s@5", "s@10", "s@30", "quotes", "pages", "stop_exact", "false_claim", "utility", "net")
_RESAMPLES = 2000
_SEED = 7


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % bootstrap interval over n items."""

    mean: float
    low: float
    high: float
    n: int


def score_item(golden: GoldenQuery, record: Mapping[str, Any]) -> dict[str, float]:
    """Metrics of one item; those that do not apply to its kind are absent."""
    order: dict[str, int] = {}
    for entry in record["fetched"]:
        if not entry.get("aux"):
            order.setdefault(_page(entry["url"]), entry["round"])
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
    reached = [
        min((order[_page(url)] for url in needed if _page(url) in order), default=None) for needed in golden.gold_pages
    ]
    success = all(round_number is not None for round_number in reached)
    complete_at = max((number for number in reached if number is not None), default=0)
    exact = success and max(order.values(), default=0) == complete_at and record["stop"] != "cap"
    spl = golden.oracle_pages / max(pages, golden.oracle_pages) if success else 0.0
    return {
        "success": success,
        **{f"s@{most}": _reached_within(order, golden, most) for most in (5, 10, 30)},
        "quotes": success and _quoted(golden, record["evidence"]),
        "pages": pages,
        "stop_exact": exact,
        "false_claim": claimed and not success,
        "utility": spl if claimed else 0.0,
        "net": 0.0 if not claimed else spl if success else -0.5,
    }


def _reached_within(order: Mapping[str, int], golden: GoldenQuery, pages: int) -> bool:
    """True when the first `pages` fetched pages hold a gold page for every need."""
    first = set(list(order)[:pages])
    return all(any(_page(url) in first for url in needed) for needed in golden.gold_pages)


def aggregate(goldens: Sequence[GoldenQuery], records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Interval]]:
    """Intervals per group (all, answerable, each kind) and metric. Items without a record are an error."""
    by_id = {record["id"]: record for record in records}
    scored = [(golden, score_item(golden, by_id[golden.id])) for golden in goldens]
    kinds = dict.fromkeys(golden.kind for golden in goldens)
    groups: dict[str, list[dict[str, float]]] = {
        "all": [score for _, score in scored],
        "answerable": [score for golden, score in scored if golden.kind != "unanswerable"],
        **{kind: [score for golden, score in scored if golden.kind == kind] for kind in kinds},
    }
    return {
        name: {
            metric: _interval([float(score[metric]) for score in scores if metric in score])
            for metric in METRICS
            if any(metric in score for score in scores)
        }
        for name, scores in groups.items()
    }


def _interval(values: Sequence[float]) -> Interval:
    sample = np.asarray(values)
    draws = np.random.default_rng(_SEED).choice(sample, size=(_RESAMPLES, len(sample))).mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return Interval(float(sample.mean()), float(low), float(high), len(sample))


def _page(url: str) -> str:
    return unquote(urlsplit(page_key(url))._replace(query="").geturl())


def _quoted(golden: GoldenQuery, evidence: Sequence[Mapping[str, Any]]) -> bool:
    room = EVIDENCE_CHARS
    passages: list[tuple[str, str]] = []
    for entry in evidence:
        text = entry["text"][:room]
        room -= len(text)
        passages.append((_page(entry["url"]), _squash(text)))
        if room <= 0:
            break
    return all(
        any(
            _squash(quote) in text and url in {_page(page) for page in pages}
            for quote in quotes
            for url, text in passages
        )
        for pages, quotes in zip(golden.gold_pages, golden.gold_quotes, strict=True)
    )


def _squash(text: str) -> str:
    """Letters and digits only: quotes are compared without white space, case, punctuation and mark-up."""
    folded = unicodedata.normalize("NFKC", plain_text(text)).casefold()
    return "".join(character for character in folded if character.isalnum())
