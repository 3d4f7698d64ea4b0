"""Retrieval quality: index documents through the real pipeline, ask every question, score what comes back.

`local` is what a user gets (search, local reranker, redundancy), then come the other retrieval patterns as
`webrag search --pattern …` has them; bm25, dense and rrf are the parts alone, over the same chunks in the same
database.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import TextIO

from evals.homes import own_home
from evals.retrieval.data import BenchDocument, DocumentAcquirer, RetrievalQuestion
from evals.retrieval.scoring import Unit, covers, score_question
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.chunks import chunker_key
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.terms import query_terms
from webrag_core.language.detection import detected
from webrag_core.orchestration.query_analyzer import key_concepts
from webrag_core.retrieval.bm25 import search_parents
from webrag_core.retrieval.dense import search_children
from webrag_core.retrieval.request import Fusion, Pattern, SearchRequest
from webrag_core.retrieval.scope import Scope, scope_size, source_scope
from webrag_core.retrieval.search import search
from webrag_core.retrieval.weights import weights_file

Advance = Callable[[str], None]
Ranker = Callable[[str], Awaitable[list[Unit]]]

KEPT = 20
"""Units per question that are scored and written."""

_CANDIDATES = 60
_RRF_K = 60


@dataclass(frozen=True, slots=True)
class _Parent:
    """Location of a parent chunk."""

    document: str
    start: int
    end: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Bench:
    """The indexed documents, open."""

    corpus: Corpus
    names: Mapping[str, str]
    parents: Mapping[int, _Parent]
    scope: Scope

    @property
    def systems(self) -> dict[str, Ranker]:
        """Rankers by name, the product first."""
        return {
            "local": self._product,
            "semantic_search": partial(self.by_pattern, Pattern.SEMANTIC),
            "hybrid_search": partial(self.by_pattern, Pattern.HYBRID),
            "hybrid_search, alpha 0.3": partial(self.by_pattern, Pattern.HYBRID, alpha=0.3),  # "keyword-heavy"
            "hybrid_search, rrf": partial(self.by_pattern, Pattern.HYBRID, fusion="rrf"),
            "multi_query_retrieval": self._multi_query,
            "bm25": self._bm25,
            "dense": self._dense,
            "rrf": self._rrf,
        }

    def relevant(self, question: RetrievalQuestion) -> int:
        """How many parents cover evidence of the question."""
        return sum(
            any(covers(parent.document, parent.start, parent.end, span) for span in question.evidence)
            for parent in self.parents.values()
        )

    async def _product(self, question: str) -> list[Unit]:
        return await self.by_pattern(Pattern.RERANKED, question)

    async def _multi_query(self, question: str) -> list[Unit]:
        """The second formulation is what a rule can make: the content words alone."""
        concepts = " ".join(key_concepts(question))
        if concepts in ("", question):
            return await self._product(question)
        return await self.by_pattern(Pattern.MULTI_QUERY, question, formulations=(concepts,))

    async def by_pattern(
        self,
        pattern: Pattern,
        question: str,
        *,
        fusion: Fusion = "weighted",
        alpha: float | None = None,
        formulations: Sequence[str] = (),
    ) -> list[Unit]:
        """Results of a search by this pattern, best first."""
        request = SearchRequest(
            query=question,
            pattern=pattern,
            fusion=fusion,
            alpha=alpha,
            formulations=formulations,
        )
        result = await search(self.corpus, request)
        return [
            Unit(
                self.names[ranked.chunk.source_url],
                ranked.chunk.char_start,
                ranked.chunk.char_end,
                ranked.chunk.token_count,
                ranked.reranked_score,
            )
            for ranked in result.chunks
        ]

    async def _lexical_order(self, question: str) -> dict[int, float]:
        async with self.corpus.database.snapshot() as connection:
            size = await scope_size(connection, self.scope)
            words = query_terms(question, size.rules, detected(question))
            matches = await search_parents(connection, words, self.scope, limit=_CANDIDATES)
        return {hit.parent_id: hit.score for hit in matches.hits}

    async def _dense_order(self, question: str) -> dict[int, float]:
        vector = (await self.corpus.embedder.embed([question], "query"))[0]
        model_id = await self.corpus.model_id()
        async with self.corpus.database.snapshot() as connection:
            size = await scope_size(connection, self.scope)
            hits = await search_children(
                connection,
                model_id,
                vector,
                self.scope,
                matching_rows=size.children,
                limit=min(_CANDIDATES * 3, size.children),
                ef_search=_CANDIDATES * 3,
            )
        best: dict[int, float] = {}
        for hit in hits:
            best.setdefault(hit.parent_id, hit.similarity)
        return best

    async def _bm25(self, question: str) -> list[Unit]:
        return self._units(await self._lexical_order(question))

    async def _dense(self, question: str) -> list[Unit]:
        return self._units(await self._dense_order(question))

    async def _rrf(self, question: str) -> list[Unit]:
        fused: dict[int, float] = {}
        for order in (await self._lexical_order(question), await self._dense_order(question)):
            for rank, parent_id in enumerate(list(order)[:_CANDIDATES], start=1):
                fused[parent_id] = fused.get(parent_id, 0.0) + 1 / (_RRF_K + rank)
        return self._units(fused)

    def _units(self, scores: Mapping[int, float]) -> list[Unit]:
        ranked = sorted(scores.items(), key=lambda item: -item[1])
        return [
            Unit(parent.document, parent.start, parent.end, parent.tokens, score)
            for parent, score in ((self.parents[parent_id], score) for parent_id, score in ranked)
        ]


def bench_settings(settings: Settings, documents: Sequence[BenchDocument]) -> Settings:
    """Settings with a database of the benchmark's own: one for these documents, cut this way, and this model."""
    digest = hashlib.sha256(chunker_key(settings.parent_max_tokens, settings.child_target_tokens).encode())
    for document in documents:
        digest.update(document.id.encode() + b"\0" + document.text.encode() + b"\0")
    home = own_home(settings, "retrieval", digest.hexdigest()[:12])
    return settings.model_copy(
        update={
            "webrag_home": home,
            "database_url": None,
            "webrag_max_age": None,
            "retrieval_weights_file": weights_file(settings),  # what is in force is what is measured
        }
    )


@asynccontextmanager
async def open_bench(
    documents: Sequence[BenchDocument], settings: Settings, advance: Advance = lambda label: None
) -> AsyncIterator[Bench]:
    """Index the documents (those that are not indexed yet) and open them for questions.

    Raises InvalidInputError for a document whose text the pipeline does not store as it is: offsets would lie.
    """
    names = {document.url: document.id for document in documents}
    async with Corpus.open(settings, DocumentAcquirer(documents)) as corpus:
        for document in documents:
            added = await corpus.add(document.url)
            async with corpus.database.connection() as connection:
                cursor = await connection.execute(
                    "SELECT markdown FROM document_versions WHERE id = %s", (added.version_id,)
                )
                row = await cursor.fetchone()
            if row is None or row[0] != document.text:
                raise InvalidInputError(f"{document.id}: the stored text is not the given one")
            advance(document.id)
        await corpus.indexer.finish_bulk()
        async with corpus.database.connection() as connection:
            scope = await source_scope(connection, None)
            cursor = await connection.execute(
                "SELECT c.id, d.canonical_url, c.char_start, c.char_end, c.token_count FROM chunks c"
                " JOIN documents d ON d.current_version = c.version_id WHERE c.level = 'parent'"
            )
            parents = {row[0]: _Parent(names[row[1]], *row[2:]) for row in await cursor.fetchall()}
        yield Bench(corpus, names, parents, scope)


async def ask(
    bench: Bench,
    questions: Sequence[RetrievalQuestion],
    out: TextIO,
    advance: Advance = lambda label: None,
    systems: Collection[str] | None = None,
) -> dict[str, dict[str, dict[str, float]]]:
    """Ask every question of every system, or of those in `systems`; one JSON line each to `out`. Scores by system and
    question id."""
    rankers = {name: ranker for name, ranker in bench.systems.items() if systems is None or name in systems}
    scores: dict[str, dict[str, dict[str, float]]] = {name: {} for name in rankers}
    for question in questions:
        relevant = bench.relevant(question)
        for name, ranker in rankers.items():
            units = (await ranker(question.question))[:KEPT]
            scores[name][question.id] = metrics = score_question(question.evidence, units, relevant)
            line = {
                "id": question.id,
                "set": question.set,
                "system": name,
                "metrics": metrics,
                "units": [asdict(unit) for unit in units],
            }
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
        advance(question.id)
    return scores
