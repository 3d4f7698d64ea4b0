"""The signals of every candidate of every question, computed once: any weights can then be tried in milliseconds.

The candidates of a question do not depend on the weights (`ranking.select_candidates`), only their order does. What is
left out of a search as a user sees it: redundant passages are not dropped, and the budget cuts nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evals.retrieval.data import BenchDocument, RetrievalQuestion
from evals.retrieval.quality import Advance, Bench, bench_settings, open_bench
from evals.retrieval.scoring import covers
from webrag_core.config import Settings
from webrag_core.retrieval.chunk_store import load_children, load_parents
from webrag_core.retrieval.patterns import lexical_hits, nearest_children
from webrag_core.retrieval.ranking import select_candidates, signals_of_parents
from webrag_core.retrieval.scope import scope_size
from webrag_core.retrieval.searcher import Searcher
from webrag_core.retrieval.weights import ScoreWeights

Array = NDArray[np.float64]

METRICS = ("hits@4", "hits@10", "mrr@10", "evrec@4k")
"""Of `evals.retrieval.scoring`; all that a change of order can move."""

_TOKENS = 4_000
_VERSION = 1  # of the cached file


@dataclass(frozen=True, slots=True)
class Candidates:
    """The passages of one question. `signals` has shape (n, 6), columns as `weights.NAMES`; `covered` (n, spans) says
    which evidence each holds, `tokens` (n,) how long it is. In the order of URL and reading, which breaks ties."""

    question: str
    documents: tuple[str, ...]
    signals: Array
    covered: NDArray[np.bool_]
    tokens: NDArray[np.int64]

    @property
    def gold(self) -> NDArray[np.bool_]:
        """Which passages hold evidence."""
        return np.asarray(self.covered.any(axis=1))

    @property
    def cluster(self) -> str:
        """The document of its evidence; questions without a passage that holds any stand alone."""
        return self.documents[int(self.gold.argmax())] if self.gold.any() else self.question

    def order(self, weights: ScoreWeights) -> NDArray[np.intp]:
        """Indexes of the passages, best first."""
        return np.argsort(-(self.signals @ weights.vector()), kind="stable")

    def metrics(self, weights: ScoreWeights) -> dict[str, float]:
        """Those of `METRICS`, as `evals.retrieval.scoring.score_question` defines them."""
        order = self.order(weights)
        hits = np.flatnonzero(self.gold[order][:10])
        first = int(hits[0]) + 1 if len(hits) else None
        within = np.cumsum(self.tokens[order]) <= _TOKENS
        seen = self.covered[order][within].any(axis=0) if within.any() else np.zeros(self.covered.shape[1])
        return {
            "hits@4": float(first is not None and first <= 4),
            "hits@10": float(first is not None),
            "mrr@10": 1 / first if first else 0.0,
            "evrec@4k": float(np.mean(seen)),
        }


def score(candidates: Sequence[Candidates], weights: ScoreWeights) -> dict[str, dict[str, float]]:
    """Metrics by question."""
    return {candidate.question: candidate.metrics(weights) for candidate in candidates}


async def candidates_of(
    documents: Sequence[BenchDocument],
    questions: Sequence[RetrievalQuestion],
    settings: Settings,
    advance: Advance = lambda label: None,
) -> list[Candidates]:
    """The candidates of every question, read from a cache beside the benchmark's own database where they were computed
    before. Raises InvalidInputError as `open_bench`."""
    settings_of_bench = bench_settings(settings, documents)
    cache = settings_of_bench.webrag_home / f"signals-{_key(questions)}.npz"
    if cache.is_file():
        return _load(cache)
    async with open_bench(documents, settings_of_bench) as bench:
        results = []
        for question in questions:
            results.append(await _candidates(bench, question))
            advance(question.id)
    _save(cache, results)
    return results


async def _candidates(bench: Bench, question: RetrievalQuestion) -> Candidates:
    """As `Searcher.retrieve` finds them in chunk mode."""
    corpus = bench.corpus
    vector = (await corpus.embedder.embed([question.question], "query"))[0]
    searcher = Searcher(corpus.database, corpus.embedder, await corpus.model_id(), corpus.settings)
    async with corpus.database.snapshot() as connection:
        size = await scope_size(connection, bench.scope)
        context = searcher.context(question.question, vector, bench.scope, size)
        nearest = await nearest_children(connection, context, context.floor)
        lexical = await lexical_hits(connection, context, also=nearest)
        cosines = {parent_id: hit.similarity for parent_id, hit in nearest.items()}
        chosen = select_candidates(cosines, lexical, context.to_read)
        children = await load_children(connection, context.model_id, vector, chosen)
        rows = sorted(await load_parents(connection, chosen), key=lambda row: (row.canonical_url, row.ordinal))
    signals = signals_of_parents(question.question, rows, children, lexical)
    places = [bench.parents[row.id] for row in rows]
    covered = [[covers(place.document, place.start, place.end, span) for span in question.evidence] for place in places]
    return Candidates(
        question.id,
        tuple(place.document for place in places),
        signals,
        np.array(covered, dtype=bool).reshape(len(rows), len(question.evidence)),
        np.array([place.tokens for place in places], dtype=np.int64),
    )


def _key(questions: Sequence[RetrievalQuestion]) -> str:
    digest = hashlib.sha256(str(_VERSION).encode())
    for question in questions:
        digest.update(question.model_dump_json().encode() + b"\0")
    return digest.hexdigest()[:12]


def _save(path: Path, results: Sequence[Candidates]) -> None:
    arrays: dict[str, NDArray[np.generic]] = {"questions": np.array([finding.question for finding in results])}
    for place, finding in enumerate(results):
        arrays[f"documents_{place}"] = np.array(finding.documents)
        arrays[f"signals_{place}"] = finding.signals
        arrays[f"covered_{place}"] = finding.covered
        arrays[f"tokens_{place}"] = finding.tokens
    partial = path.with_suffix(".partial.npz")
    with partial.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)
    partial.replace(path)


def _load(path: Path) -> list[Candidates]:
    with np.load(path, allow_pickle=False) as stored:
        arrays: Mapping[str, NDArray[np.generic]] = dict(stored)
    return [
        Candidates(
            str(question),
            tuple(str(name) for name in arrays[f"documents_{place}"]),
            arrays[f"signals_{place}"].astype(np.float64),
            arrays[f"covered_{place}"].astype(bool),
            arrays[f"tokens_{place}"].astype(np.int64),
        )
        for place, question in enumerate(arrays["questions"])
    ]
