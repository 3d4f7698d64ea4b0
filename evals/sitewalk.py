"""Site walks: run the loop over golden queries on a frozen site and write one line per item.

Each item searches only the pages that its own run took in. Pages parsed and embedded for earlier items are reused
from a database of the suite's own; that saves time and tells an item nothing about pages it has not fetched.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

from evals.goldens import GoldenQuery
from webrag_core.config import Settings
from webrag_core.errors import FetchError, InvalidInputError
from webrag_core.indexing.corpus import Corpus
from webrag_core.ingestion.warc import WarcAcquirer
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.models import OrchestrationResult

CLAIMED_AT = 0.5
"""probability_complete from which a run is taken to claim that the answer was found."""

_CAPS = {"page-limit", "timeout"}
_EXHAUSTED = {"no-candidates", "no-rewrite"}


def suite_settings(settings: Settings, warc: Path) -> Settings:
    """Settings of a suite: its own embedded database per frozen site, no live page, no ageing.

    Raises InvalidInputError when the site cannot be read.
    """
    try:
        digest = hashlib.sha256(warc.read_bytes()).hexdigest()[:12]
    except OSError as error:
        raise InvalidInputError(f"{warc} cannot be read: {error.strerror}") from error
    return settings.model_copy(
        update={
            "webrag_home": settings.webrag_home / f"eval-{digest}",
            "database_url": None,
            "webrag_warc": warc,
            "webrag_max_age": None,
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
) -> list[dict[str, Any]]:
    """Run every golden, write its run-log line to `out` as it ends, return the lines. `settings` as of
    `suite_settings`."""
    records = []
    async with Corpus.open(settings, WarcAcquirer(warc)) as corpus:
        engine = OrchestratorEngine(corpus)
        for golden in goldens:
            wall, cpu = time.perf_counter(), time.process_time()
            request = AnswerRequest(urls=(golden.seed_url,), query=golden.query, policy=policy)
            try:
                record = run_record(golden.id, await engine.run(request))
            except FetchError as error:  # a seed that the site does not hold fails its item, not the suite
                record = failed_record(golden, policy, error)
            record["cpu_s"] = round(time.process_time() - cpu, 4)
            record["wall_s"] = round(time.perf_counter() - wall, 4)
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            out.flush()
            records.append(record)
            advance(golden.id)
    return records


def failed_record(golden: GoldenQuery, policy: str, error: FetchError) -> dict[str, Any]:
    """The line of an item whose seed page could not be had."""
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


def run_record(item_id: str, result: OrchestrationResult) -> dict[str, Any]:
    """One run-log line: what was fetched and when, how it ended, the evidence best first, every round."""
    ranked = sorted(
        (chunk for chunk in result.chunks if not chunk.is_locality_expanded),
        key=lambda c: (-c.reranked_score, c.chunk.source_url, c.chunk.chunk_index),
    )
    return {
        "id": item_id,
        "system": f"webrag/{result.policy}",
        "fetched": [
            {"url": document.url, "round": document.round}
            for document in result.documents
            if document.outcome != "failed"
        ],
        "failed": {document.url: document.reason for document in result.documents if document.outcome == "failed"},
        "stop": stop_kind(result),
        "claimed_found": result.probability_complete >= CLAIMED_AT,
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
        "rounds": [
            {
                "signals": done.signals.model_dump(),
                "decision": done.decision.action,
                "rule": done.decision.rule,
                "reason": done.decision.reason,
            }
            for done in result.rounds
        ],
        "warnings": result.warnings,
    }


def stop_kind(result: OrchestrationResult) -> str:
    """`cap` for the loop's own limits on pages and time, `exhausted` when nothing was left to do, else by claim."""
    rule = result.final_decision.rule
    if rule in _CAPS:
        return "cap"
    if rule in _EXHAUSTED:
        return "exhausted"
    return "confident" if result.probability_complete >= CLAIMED_AT else "gave_up"
