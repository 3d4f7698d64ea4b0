"""How well the best passage found so far supports an answer to the question: three numbers for the stop policies."""

from __future__ import annotations

from dataclasses import dataclass

from webrag_core.indexing.markdown import plain_text
from webrag_core.indexing.terms import terms
from webrag_core.retrieval.models import RetrievalResult


@dataclass(frozen=True, slots=True)
class Support:
    """Of the passage that retrieval ranks first, each in [0, 1]; all 0 without a passage.

    `raw_score` is retrieval's own score, whatever reranker runs. `coverage` is the share of the query's terms that the
    passage holds with its title and headings, weighted by their rarity in the scope, `term_share` the plain share.
    The first falls when the scope is small, for what a small scope does not hold weighs most; the second does not.
    """

    raw_score: float = 0.0
    coverage: float = 0.0
    term_share: float = 0.0


def support(found: RetrievalResult) -> Support:
    """The support that `found`, the result for the user's own query, gives. Pure; raises nothing."""
    if not found.chunks:
        return Support()
    best = found.chunks[0]
    held = set(terms(f"{best.title or ''} {' '.join(best.match_heading_path)} {plain_text(best.match_text)}"))
    weights = found.term_idf
    total = sum(weights.values())
    met = [term for term in weights if term in held]
    return Support(
        raw_score=best.raw_score,
        coverage=sum(weights[term] for term in met) / total if total else 0.0,
        term_share=len(met) / len(weights) if weights else 0.0,
    )
