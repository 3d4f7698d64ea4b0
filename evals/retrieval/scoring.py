"""Scores of a ranking against exact evidence spans, with bootstrap intervals over questions.

A returned unit counts for an evidence span when it covers at least half of it. hits@k: one of the first k units
counts; mrr@10: 1 / rank of the first that does; map@10: average precision of the first ten, over the units of the
corpus that count (ten at most); evrec@4k: share of the spans covered by the units that fit the first 4,000 tokens, up
to the first that does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evals.intervals import Interval, interval
from evals.retrieval.data import BenchDocument, EvidenceSpan, RetrievalQuestion
from webrag_core.indexing.terms import terms

METRICS = ("hits@4", "hits@10", "mrr@10", "map@10", "evrec@4k")
TOKENS = 4_000


@dataclass(frozen=True, slots=True)
class Unit:
    """One returned piece of text: the span [start, end) of a document, its tokens and its score."""

    document: str
    start: int
    end: int
    tokens: int
    score: float


def covers(document: str, start: int, end: int, span: EvidenceSpan) -> bool:
    """True when [start, end) of `document` holds at least half of the span."""
    shared = min(end, span.end) - max(start, span.start)
    return document == span.document and 2 * shared >= span.end - span.start


def score_question(evidence: Sequence[EvidenceSpan], units: Sequence[Unit], relevant: int) -> dict[str, float]:
    """Metrics of one ranking, best unit first. `relevant` is the number of units in the corpus that count."""
    coverage = [[covers(unit.document, unit.start, unit.end, span) for span in evidence] for unit in units]
    hits = [any(row) for row in coverage]
    first = next((rank for rank, hit in enumerate(hits[:10], start=1) if hit), None)
    precisions = [sum(hits[:rank]) / rank for rank in range(1, min(10, len(hits)) + 1) if hits[rank - 1]]
    covered = [False] * len(evidence)
    used = 0
    for unit, row in zip(units, coverage, strict=True):
        used += unit.tokens
        if used > TOKENS:
            break
        covered = [have or new for have, new in zip(covered, row, strict=True)]
    return {
        "hits@4": float(first is not None and first <= 4),
        "hits@10": float(first is not None),
        "mrr@10": 1 / first if first else 0.0,
        "map@10": sum(precisions) / max(1, min(10, relevant)),
        "evrec@4k": sum(covered) / len(evidence),
    }


def lexical_overlap(question: RetrievalQuestion, documents: Mapping[str, BenchDocument]) -> float:
    """Share of the question's distinct terms that its evidence holds, in [0, 1]."""
    query_terms = set(terms(question.question))
    spans = question.evidence
    evidence_terms = {term for span in spans for term in terms(documents[span.document].text[span.start : span.end])}
    return len(query_terms & evidence_terms) / len(query_terms) if query_terms else 0.0


def lowest_third(questions: Sequence[RetrievalQuestion], documents: Mapping[str, BenchDocument]) -> set[str]:
    """Ids of the third of the questions that share the fewest of their words with their evidence."""
    ranked = sorted(questions, key=lambda question: (lexical_overlap(question, documents), question.id))
    return {question.id for question in ranked[: len(ranked) // 3]}


def aggregate(
    questions: Sequence[RetrievalQuestion], scores: Mapping[str, Mapping[str, float]], low_overlap: set[str]
) -> dict[str, dict[str, Interval]]:
    """Intervals by group (all, each set when there are several, low overlap) and metric; `scores` by question id."""
    groups = {"all": [question.id for question in questions]}
    sets = list(dict.fromkeys(question.set for question in questions))
    if len(sets) > 1:
        groups |= {name: [question.id for question in questions if question.set == name] for name in sets}
    groups["low overlap"] = [question.id for question in questions if question.id in low_overlap]
    return {
        group: {metric: interval([scores[number][metric] for number in ids]) for metric in METRICS}
        for group, ids in groups.items()
        if ids
    }
