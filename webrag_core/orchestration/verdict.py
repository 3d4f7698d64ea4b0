"""The verdict on a finished run: its status, and what its probability is worth."""

from __future__ import annotations

from webrag_core.orchestration.models import COMPLETE_AT, EvaluationSignals, Status
from webrag_core.orchestration.policies.calibrated import Calibrated, completeness_provenance, table_of
from webrag_core.providers.embedder import ModelIdentity
from webrag_core.retrieval.calibration import Provenance, model_name

RELEVANT_AT = 0.25
"""Score of the best passage from which it counts as relevant. Below it, one claim in ten is right (measured on
sites outside the fit)."""

LOCAL_RERANKERS = frozenset({"local", "none"})
"""Rerankers that choose the passages for which the completeness tables were fitted."""


def status_of(probability_complete: float, best_score: float, citations: int) -> Status:
    """`answered`: complete and relevant; `not_found`: neither, or no citation at all; `partial`: one of both."""
    complete, relevant = probability_complete >= COMPLETE_AT, best_score >= RELEVANT_AT
    if citations and complete and relevant:
        return "answered"
    return "partial" if citations and (complete or relevant) else "not_found"


def probability_note(policy: str, embedding: ModelIdentity, reranker: str, last: EvaluationSignals) -> str:
    """How far `probability_complete` can be trusted, for people. `reranker` is the one that judged, `last` the signals
    of the last round."""
    if policy != Calibrated.name:
        return "stated by the policy, uncalibrated"
    return calibration_note(completeness_provenance(table_of(last)), embedding, reranker)


def calibration_note(source: Provenance, embedding: ModelIdentity, reranker: str) -> str:
    """Whether a table that was fitted on `source` holds for these models, for people."""
    model = model_name(embedding)
    if model != source.embedding_model:
        return f"uncalibrated: fitted for {source.embedding_model}, not for {model}"
    if reranker not in LOCAL_RERANKERS:
        return f"uncalibrated: fitted for the local reranker, not for {reranker}"
    reader = "without the reading model" if source.reader == "none" else f"and reader {source.reader}"
    return f"calibrated on {len(source.data)} sites with {model} {reader}"
