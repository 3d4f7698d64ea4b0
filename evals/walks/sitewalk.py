"""Run the loop over golden queries on a WARC snapshot and write one line per item.

Each item searches only the pages that its own run took in, or the whole site when that is stored. Pages parsed
and embedded for earlier items are reused from a database of the suite's own; that saves time and tells an item nothing
about pages it has not fetched.

A line holds enough to decide every round again and to score a run that had stopped at any of them
(`evals.walks.replay`): signals, decisions and settings, and per round the best passages by their index in `evidence` +
`dropped`.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from evals.homes import own_home
from evals.storing import store_site
from evals.walks.goldens import GoldenQuery
from evals.walks.twins import Twin
from webrag_core.acquisition.urls import page_key
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import Settings
from webrag_core.errors import FetchError, InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.frontier import pages_tried
from webrag_core.orchestration.models import COMPLETE_AT, OrchestrationResult, ScoredCandidate
from webrag_core.orchestration.run_scope import RunScope
from webrag_core.retrieval.weights import weights_file

UNTIL_CAP = "until-cap"
"""System name of a recording that expands by breadth until the page limit, or until no link is worth following."""

_TIMINGS = {"cpu_s", "wall_s"}
_CAPS = {"page-limit", "timeout"}
_EXHAUSTED = {"no-candidates", "no-rewrite"}


@dataclass(frozen=True, slots=True)
class Passage:
    """A parent chunk's text and the page it is from."""

    url: str
    text: str


def suite_settings(settings: Settings, warc: Path, *, stored: bool = False) -> Settings:
    """Settings of a suite: its own embedded database per frozen site and embedding model (another one for runs on the
    `stored` site), no live page, no ageing, and no preview that a slow machine cuts off.

    Raises InvalidInputError when the site cannot be read.
    """
    try:
        digest = hashlib.sha256(warc.read_bytes()).hexdigest()[:12]
    except OSError as error:
        raise InvalidInputError(f"{warc} cannot be read: {error.strerror}") from error
    return settings.model_copy(
        update={
            "webrag_home": own_home(settings, "eval-stored" if stored else "eval", digest),
            "retrieval_weights_file": weights_file(settings),  # what is in force is what is measured
            "database_url": None,
            "webrag_warc": warc,
            "webrag_max_age": None,
            "webrag_preview_timeout": settings.webrag_answer_timeout,
        }
    )


async def run_suite(
    goldens: Sequence[GoldenQuery],
    *,
    warc: Path,
    policy: str,
    settings: Settings,
    out: TextIO,
    advance: Callable[[str], None],
    until_cap: bool = False,
    stored: bool = False,
) -> list[dict[str, Any]]:
    """Run every golden, write its run-log line to `out` as it ends, return the lines.

    `settings` as of `suite_settings`. With `until_cap` only the page limit stops a run; `policy` is ignored. With
    `stored` the whole site is indexed first, and all of it is searched.
    """
    records = []
    rounds = settings.webrag_max_pages if until_cap else None
    policy_name = f"fixed-k:{rounds}" if until_cap else policy
    recorded = recorded_settings(settings)
    if rounds is not None:  # the recording is meant to go beyond the ceiling of an answer
        settings = settings.model_copy(update={"max_expansion_depth": rounds})
    async with Corpus.open(settings, WarcAcquirer(warc)) as corpus:
        engine = OrchestratorEngine(corpus)
        if stored:
            await store_site(corpus, warc.name, WarcAcquirer(warc).page_urls())
        for golden in goldens:
            wall, cpu = time.perf_counter(), time.process_time()
            request = request_of(
                golden, policy=policy_name, expansion_budget=rounds, scope="source" if stored else "run"
            )
            try:
                result = await engine.run(request)
                record = run_record(golden.id, result, await _dropped(corpus, result))
            except FetchError as error:  # a seed that the site does not hold fails its item, not the suite
                record = failed_record(golden, policy, error)
            if until_cap:
                record["system"] = f"webrag/{UNTIL_CAP}"
            record["settings"] = recorded
            record["cpu_s"] = round(time.process_time() - cpu, 4)
            record["wall_s"] = round(time.perf_counter() - wall, 4)
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            out.flush()
            records.append(record)
            advance(golden.id)
    return records


def request_of(
    golden: GoldenQuery,
    *,
    policy: str | None = None,
    expansion_budget: int | None = None,
    scope: RunScope = "run",
) -> AnswerRequest:
    """The request that asks a golden, or a twin without the pages that answer it."""
    return AnswerRequest(
        urls=(golden.seed_url,),
        question=golden.query,
        policy=policy,
        expansion_budget=expansion_budget,
        scope=scope,
        excluded=golden.excluded if isinstance(golden, Twin) else (),
    )


def log_digest(records: Sequence[Mapping[str, Any]]) -> str:
    """sha256 of a run log without its timings: two runs of one suite on one site have the same."""
    digest = hashlib.sha256()
    for record in records:
        timeless = {name: value for name, value in record.items() if name not in _TIMINGS}
        digest.update(json.dumps(timeless, ensure_ascii=False, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


def failed_record(golden: GoldenQuery, policy: str, error: FetchError) -> dict[str, Any]:
    """The line of an item with a failed seed page."""
    return {
        "id": golden.id,
        "system": f"webrag/{policy}",
        "fetched": [],
        "failed": {golden.seed_url: error.reason.value},
        "stop": "gave_up",
        "claimed_found": False,
        "confidence": 0.0,
        "evidence": [],
        "rounds": [],
        "warnings": [error.message],
    }


def run_record(item_id: str, result: OrchestrationResult, dropped: Mapping[int, Passage]) -> dict[str, Any]:
    """One run-log line: what was fetched and when, how it ended, the evidence best first, every round.

    `dropped` are the passages by chunk id that some round ranked and the result does not hold; what is not among them
    (its page was indexed anew meanwhile) is left out of the rounds.
    """
    ranked = sorted(
        (chunk for chunk in result.chunks if not chunk.is_locality_expanded),
        key=lambda c: (-c.reranked_score, c.chunk.source_url, c.chunk.chunk_index),
    )
    place = {chunk_id: index for index, chunk_id in enumerate([*(c.chunk.chunk_id for c in ranked), *dropped])}
    return {
        "id": item_id,
        "system": f"webrag/{result.policy}",
        "query": result.query,
        "fetched": _fetched(result),
        "failed": {document.url: document.reason for document in result.documents if document.outcome == "failed"},
        "stop": stop_kind(result.final_decision.rule, result.probability_complete),
        "claimed_found": result.probability_complete >= COMPLETE_AT,
        "confidence": result.probability_complete,
        "evidence": [
            {
                "url": chunk.chunk.source_url,
                "text": chunk.chunk.text,
                "char_start": chunk.chunk.char_start,
                "char_end": chunk.chunk.char_end,
                "score": chunk.reranked_score,
            }
            for chunk in ranked
        ],
        "dropped": [{"url": passage.url, "text": passage.text} for passage in dropped.values()],
        "rounds": [
            {
                "signals": done.signals.model_dump(),
                "decision": done.decision.action,
                "rule": done.decision.rule,
                "reason": done.decision.reason,
                "confidence": done.decision.confidence,
                "probability_complete": done.decision.probability_complete,
                "pages": pages_tried(document for document in result.documents if document.round <= done.round),
                "previews": {preview.url: [preview.score, preview.reading] for preview in done.previews},
                "evidence": [
                    [place[ref.chunk_id], round(ref.score, 4)] for ref in done.top_chunks if ref.chunk_id in place
                ],
            }
            for done in result.rounds
        ],
        "warnings": result.warnings,
    }


def _fetched(result: OrchestrationResult) -> list[dict[str, Any]]:
    """Pages in the order of fetching, with the chosen link where the trace contains it."""
    links: dict[str, ScoredCandidate] = {}
    for done in result.rounds:
        for candidate in done.candidates:
            links.setdefault(page_key(candidate.url), candidate)
    pages: list[dict[str, Any]] = []
    for document in result.documents:
        if document.outcome == "failed":
            continue
        page: dict[str, Any] = {"url": document.url, "round": document.round}
        if document.preview or document.outcome == "duplicate":
            page["aux"] = "preview" if document.preview else document.outcome
        link = links.get(page_key(document.url))
        if link is not None and document.link_depth:
            page |= {"from": link.from_url, "anchor": link.anchor_text, "link_score": round(link.score, 4)}
        pages.append(page)
    pages[1:1] = [{"url": url, "round": 0, "aux": "map"} for url in result.map_files]  # the seed stays first
    return pages


async def _dropped(corpus: Corpus, result: OrchestrationResult) -> dict[int, Passage]:
    """Passages by chunk id that a round ranked and that the result no longer holds, by URL and place on the page."""
    chunk_ids = {chunk.chunk.chunk_id for chunk in result.chunks if not chunk.is_locality_expanded}
    urls = {ref.chunk_id: ref.url for done in result.rounds for ref in done.top_chunks if ref.chunk_id not in chunk_ids}
    async with corpus.database.connection() as connection:
        cursor = await connection.execute(
            "SELECT chunk_id, start_off, text FROM contract.v_chunk WHERE chunk_id = ANY(%s)", (list(urls),)
        )
        rows = await cursor.fetchall()
    rows.sort(key=lambda row: (urls[row[0]], row[1]))  # ids depend on which of two pages was stored first
    return {int(chunk_id): Passage(urls[chunk_id], text) for chunk_id, _, text in rows}


def recorded_settings(settings: Settings) -> dict[str, int | float | str]:
    """The numbers and choices among the settings that decisions can depend on: no secret, path or address."""
    chosen = settings.model_dump(include=set(Settings.model_fields) - {"webrag_home", "database_url"})
    chosen["expansion_min_candidate_score"] = settings.link_floor
    return {
        name: value
        for name, value in chosen.items()
        if isinstance(value, int | float) or name in ("reranker_provider", "webrag_link_scorer", "decomposition_mode")
    }


def stop_kind(rule: str, probability: float) -> str:
    """`cap` for the loop's own limits on pages and time, `exhausted` when nothing was left to do, else by claim."""
    if rule in _CAPS:
        return "cap"
    if rule in _EXHAUSTED:
        return "exhausted"
    return "confident" if probability >= COMPLETE_AT else "gave_up"
