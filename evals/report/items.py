"""One item of the report: what was asked, what the oracle would have done, what the run did round by round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.judging.oracle import Links, best_pages
from evals.judging.regret import Regret
from evals.walks.goldens import GoldenQuery
from evals.walks.recorded import RecordedRun
from evals.walks.scoring import page_of, pages_in_order, quotes_found, score_item

_PASSAGES = 3
_PASSAGE_CHARS = 420


@dataclass(frozen=True, slots=True)
class PageView:
    """A fetched page: the link that led there where it is known, and whether it is a gold page."""

    url: str
    origin: str | None
    anchor: str | None
    link_score: float | None
    is_gold: bool


@dataclass(frozen=True, slots=True)
class RoundView:
    """One round: the pages it brought, its signals in name order of the model, and its decision."""

    number: int
    pages: tuple[PageView, ...]
    signals: tuple[tuple[str, str], ...]
    action: str
    rule: str
    reason: str
    probability: str


@dataclass(frozen=True, slots=True)
class NeedView:
    """One thing the answer needs: its quote, and whether the evidence holds it."""

    quote: str
    page: str
    fetched: bool
    found: bool


@dataclass(frozen=True, slots=True)
class ItemView:
    """Everything about one item."""

    golden: GoldenQuery
    outcome: str
    verdict: str
    pages: int
    net: float
    stop: str
    confidence: str
    cause: str
    wasted: int
    oracle: tuple[str, ...]
    needs: tuple[NeedView, ...]
    rounds: tuple[RoundView, ...]
    passages: tuple[tuple[str, str, str], ...]
    failed: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]


def item_view(golden: GoldenQuery, run: RecordedRun, regret: Regret, links: Links) -> ItemView:
    """What the report tells of one run. `links` are those of the whole site, for the oracle's way."""
    record = run.record
    order = pages_in_order(record)
    score = score_item(golden, record)
    outcome, verdict = _verdict(golden, score, regret)
    gold = {page_of(url) for need in golden.gold_pages for url in need}
    way = best_pages(links, page_of(golden.seed_url), [[page_of(url) for url in need] for need in golden.gold_pages])
    fetched = [page for page in record["fetched"] if not page.get("aux")]
    return ItemView(
        golden=golden,
        outcome=outcome,
        verdict=verdict,
        pages=len(order),
        net=score["net"],
        stop=record["stop"],
        confidence=_number(record.get("confidence")),
        cause=regret.cause,
        wasted=regret.wasted_pages,
        oracle=tuple(way or ()),
        needs=tuple(
            NeedView(quotes[0], pages[0], any(page_of(url) in order for url in pages), result)
            for pages, quotes, result in zip(
                golden.gold_pages, golden.gold_quotes, quotes_found(golden, record["evidence"]), strict=True
            )
        ),
        rounds=tuple(_round_view(run, number, fetched, gold) for number in range(len(run.rounds))),
        passages=tuple(
            (passage["url"], _number(passage.get("score")), _cut(passage["text"]))
            for passage in record["evidence"][:_PASSAGES]
        ),
        failed=tuple((str(url), str(reason)) for url, reason in (record.get("failed") or {}).items()),
        warnings=tuple(record.get("warnings") or ()),
    )


def _verdict(golden: GoldenQuery, score: Mapping[str, float], regret: Regret) -> tuple[str, str]:
    if golden.kind == "unanswerable":
        return ("bad", "claimed an answer") if score["false_claim"] else ("good", "said that there is none")
    if not score["success"]:
        return "bad", "pages missing" if regret.missing_pages else "nothing fetched"
    if not score["quotes"]:
        return "fair", "page read, quote lost"
    return ("good", "complete") if score["stop_exact"] else ("fair", "complete, but went on")


def _round_view(run: RecordedRun, number: int, fetched: Sequence[Mapping[str, Any]], gold: set[str]) -> RoundView:
    done = run.rounds[number]
    return RoundView(
        number=number,
        pages=tuple(
            PageView(
                url=page["url"],
                origin=page.get("from"),
                anchor=page.get("anchor"),
                link_score=page.get("link_score"),
                is_gold=page_of(page["url"]) in gold,
            )
            for page in fetched
            if page.get("round") == number
        ),
        signals=tuple((name, _number(value)) for name, value in done.signals.model_dump().items()),
        action=done.action,
        rule=done.rule,
        reason=done.reason,
        probability=_number(done.probability),
    )


def _number(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _cut(text: str) -> str:
    return text if len(text) <= _PASSAGE_CHARS else text[:_PASSAGE_CHARS].rsplit(None, 1)[0] + " […]"
