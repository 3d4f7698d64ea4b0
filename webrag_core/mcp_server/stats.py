"""STATS: what was done, what was not, and why it ended."""

from __future__ import annotations

import re

from webrag_core.mcp_server.untrusted import label
from webrag_core.orchestration.models import OrchestrationResult
from webrag_core.retrieval.search import CorpusSearch

TIMEOUT = "timeout"
_ADDRESSED = re.compile(r"^https?://\S+: ")
_MOST_WARNINGS = 5


def of_answer(result: OrchestrationResult, shown: int, *, research: str, rounds: int) -> str:
    """The run in numbers, its stop rule, its warnings."""
    counts = {kind: sum(one.outcome == kind for one in result.documents) for kind in ("fetched", "reused", "failed")}
    pages = f"{counts['fetched']} fetched, {counts['reused']} stored already"
    if counts["failed"]:
        pages += f", {counts['failed']} failed"
    limit = f"at most {rounds} expansions" if rounds else "no link followed"
    lines = [
        f"Mode: {result.mode}, {research} ({limit})",
        f"Documents searched: {result.corpus_stats.total_documents} ({pages})",
        f"Chunks evaluated: {result.corpus_stats.total_parent_chunks}, shown: {shown}",
        f"Expansion iterations: {result.total_iterations}",
        f"Stopped: {result.final_decision.rule} — {label(result.final_decision.reason, 300)}",
        f"Total time: {result.timing.total_ms:.0f}ms",
    ]
    if result.final_decision.rule == TIMEOUT:
        lines.append("PARTIAL: the time was over before the work was done.")
    failed = {document.url for document in result.documents if document.outcome == "failed"}
    return "\n".join(lines + _warnings(result.warnings, failed))


def of_search(found: CorpusSearch, shown: int) -> str:
    """The same for a search."""
    stats = found.corpus_stats
    lines = [
        f"Mode: {found.mode}",
        f"Documents searched: {stats.total_documents}, matched: {len(stats.documents_matched)}",
        f"Chunks evaluated: {found.candidates}, shown: {shown}",
        f"Total time: {found.timing.total_ms:.0f}ms",
    ]
    return "\n".join(lines + _warnings(found.warnings, set()))


def _warnings(warnings: list[str], failed: set[str]) -> list[str]:
    told = []
    for warning in warnings:
        about = _ADDRESSED.match(warning)
        if about and about[0][:-2] in failed:
            continue  # the trace names it
        told.append(f"Warning: {label(warning[about.end() :] if about else warning, 200)}")
    if len(told) > _MOST_WARNINGS:
        told[_MOST_WARNINGS:] = [f"… and {len(told) - _MOST_WARNINGS} more warnings"]
    return told
