"""Evidence for a question: from given pages, from everything stored, or from what was stored at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from webrag_core.acquisition.urls import site_roots
from webrag_core.answering.models import Form, WalkStep
from webrag_core.answering.nothing_found import nothing_found
from webrag_core.errors import InvalidInputError
from webrag_core.history.as_of import AsOf
from webrag_core.history.models import TimeAxis
from webrag_core.history.past_search import search_at
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine, Progress
from webrag_core.orchestration.models import OrchestrationResult, QueryType
from webrag_core.orchestration.query_analyzer import analyze_query
from webrag_core.retrieval.models import RankedChunk
from webrag_core.retrieval.request import ScopeFilter, SearchRequest
from webrag_core.retrieval.search import search


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. Without `urls` the stored pages are asked (of `sources`, if any); with `at` (a date, see
    `history.as_of`) what they said then, or with `time` valid their texts that hold then. Neither fetches anything.
    `expansion_budget` as of `AnswerRequest`. `form` of the answer: unset = as the question wants it."""

    text: str
    urls: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    at: str | None = None
    time: TimeAxis = "seen"
    expansion_budget: int | None = None
    form: Form | None = None

    @property
    def evidence_from(self) -> Literal["pages", "stored", "past"]:
        """Where the evidence comes from: the given pages and what they link to, or the corpus, now or then."""
        if self.at is not None:
            return "past"
        return "pages" if self.urls else "stored"


@dataclass(slots=True)
class Gathered:
    """Evidence, best first, with what is known of it. `complete` is the probability in [0, 1] that it is complete,
    `note` how far that can be trusted."""

    ranked: list[RankedChunk] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    kind: QueryType = "factual"
    complete: float = 0.0
    note: str = ""
    look_next: list[str] = field(default_factory=list)
    pages: int = 0
    walk: list[WalkStep] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    evidence_ids: list[int] = field(default_factory=list)

    def add(self, result: OrchestrationResult) -> None:
        """Take in another run's evidence; what both found counts by its better score."""
        ranked = {one.chunk.chunk_id: one for one in self.ranked}
        for one in result.chunks:
            other = ranked.get(one.chunk.chunk_id)
            if other is None or other.reranked_score < one.reranked_score:
                ranked[one.chunk.chunk_id] = one
        self.ranked = list(ranked.values())
        self.look_next = result.look_next
        self.pages += result.total_urls_ingested
        self.walk += [
            WalkStep(
                round=len(self.walk) + place,
                pages=[page.url for page in result.read_documents() if page.round == one.round],
                decision=one.decision.action,
                reason=one.decision.reason,
            )
            for place, one in enumerate(result.rounds)
        ]
        self.warnings += [warning for warning in result.warnings if warning not in self.warnings]
        self.evidence_ids += [] if result.answer_id is None else [result.answer_id]


async def gather(
    corpus: Corpus, engine: OrchestratorEngine, question: Question, progress: Progress | None = None
) -> Gathered:
    """Raises what the loop and the search raise (`OrchestratorEngine.run`, `search`)."""
    if question.evidence_from == "pages":
        return gathered_of(await _run(engine, question, question.text, progress))
    return await _stored(corpus, question)


async def gather_part(engine: OrchestratorEngine, question: Question, part: str, gathered: Gathered) -> bool:
    """Look once more, for one part of the question. False when there is nowhere to look."""
    if question.evidence_from != "pages":
        return False
    gathered.add(await _run(engine, question, part, None))
    return True


async def _run(
    engine: OrchestratorEngine, question: Question, text: str, progress: Progress | None
) -> OrchestrationResult:
    request = AnswerRequest(
        urls=question.urls,
        query=text,
        mode="chunk",
        expansion_budget=question.expansion_budget,
        scope=question.sources or None,
    )
    return await engine.run(request, progress)


def gathered_of(result: OrchestrationResult) -> Gathered:
    """The evidence of a finished run."""
    analysis = result.query_analysis
    gathered = Gathered(
        parts=analysis.parts,
        kind=analysis.query_type,
        complete=result.probability_complete,
        note=result.probability_note,
    )
    gathered.add(result)
    return gathered


async def _stored(corpus: Corpus, question: Question) -> Gathered:
    """What is stored, today or at a time: nothing is fetched."""
    if question.urls and question.sources:
        raise InvalidInputError("with a date, ask pages by URL or sources by name, not both")
    filters = ScopeFilter(sources=list(question.sources) or None, url_prefixes=site_roots(question.urls) or None)
    request = SearchRequest(query=question.text, filters=filters)
    if question.at is None:
        results = await search(corpus, request)
        note = "calibrated"
    else:
        results = await search_at(corpus, request, AsOf.parse(question.at), time=question.time)
        note = "uncalibrated: fitted for what is stored today"
    analysis = analyze_query(question.text)
    return Gathered(
        ranked=results.chunks,
        parts=analysis.parts,
        kind=analysis.query_type,
        complete=results.top_score,
        note=note if results.chunks else await nothing_found(corpus.database, filters, question.at),
        warnings=results.warnings,
    )
