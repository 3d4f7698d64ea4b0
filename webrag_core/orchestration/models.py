"""Data contracts of the loop. All of them appear in results, tables and the UI."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from webrag_core.judging.verdict import Verdict
from webrag_core.percentages import percent
from webrag_core.providers.prices import ProviderSpending
from webrag_core.readable import Readable, counted, shortened
from webrag_core.result_warnings import Caution
from webrag_core.retrieval.citations import relevant
from webrag_core.retrieval.models import CitationSpan, Contract, CorpusStats, RankedChunk

QueryType = Literal["factual", "comparison", "how_to", "exploratory"]
Action = Literal["stop", "expand_breadth", "expand_intent"]
Status = Literal["answered", "partial", "likely", "not_found"]
"""The evidence answers the question, or a part of it; a passage probably does, and no sentence is sure enough; nothing
does."""

_PHASES = {
    "stored": "searching what is stored",
    "seed": "fetching the requested pages",
    "previews": "looking at linked pages",
    "expand_breadth": "following links",
    "expand_intent": "rewriting the query",
    "citations": "verifying citations",
}


Complexity = Literal["simple", "moderate", "complex"]


class QueryAnalysis(Contract):
    """Analysis of the query. `sub_queries` holds 1 to 4 queries, the original always among them. `complexity` follows
    from the others (`query_analyzer.complexity_of`), for those who read results: nothing is decided by it."""

    original_query: str
    sub_queries: list[str] = Field(min_length=1, max_length=4)
    query_type: QueryType
    complexity: Complexity
    key_concepts: list[str]

    @property
    def parts(self) -> list[str]:
        """What the query consists of, when that is two things or more: each is judged by itself."""
        others = [query for query in self.sub_queries if query != self.original_query]
        return others if len(others) > 1 else []


class EvaluationSignals(Contract):
    """Numbers computed after a round, from the scored chunks only (locality chunks never enter)."""

    n_chunks: int
    top_score: float
    score_at_k: float
    score_cliff: float
    score_variance: float
    score_mean: float
    chunks_above_threshold: int
    token_fill_ratio: float
    redundancy_ratio: float
    source_document_count: int
    avg_confidence: float | None
    is_plateau: bool
    is_cliff: bool
    is_saturated: bool
    is_mediocre_plateau: bool
    has_high_redundancy: bool
    part: str | None = None  # the least covered part of the query, which the next numbers are about; None = all of it
    # of the best passage for it, each in [0, 1]; see `signals.PassageFeatures`
    best_raw_score: float = 0.0
    term_share: float = 0.0
    heading_share: float = 0.0
    joins_parts: bool = False  # the question joins several parts
    query_terms: int = 0  # different terms of the question
    # state of the loop, so that a policy needs nothing but the signal history
    round: int
    expansion_rounds_left: int
    can_rewrite: bool
    candidates_left: int
    best_candidate_score: float | None
    previews_left: int = 0  # previewed pages that are not read
    best_preview_score: float | None = None  # raw score of the best passage on them
    reading: float | None = None  # what the reader says of the best passage of the evidence
    provider_score: float | None = None  # what a provider's reranker says of it; a veto, see `Calibrated`
    preview_reading: float | None = None  # and of the best passage of the previews
    verdict: Verdict | None = None  # of the chat model that read the evidence; None where it was not asked


COMPLETE_AT = 0.65
"""`probability_complete` from which the evidence counts as complete: the default policy stops there, and the result
claims it. Chosen on the sites of the fit, each left out: at .60 utility is .44 and .32 of the unanswerable twins are
claimed, at .65 .42 and .24, at .70 .39 and .20."""


Sureness = Literal["high", "medium", "low"]


def sureness_of(probability: float) -> Sureness:
    """How sure a probability is of the likelier outcome: high from .8 on, medium from .6 on."""
    sure = max(probability, 1 - probability)
    return "high" if sure >= 0.8 else "medium" if sure >= 0.6 else "low"


class ExpansionDecision(Contract):
    """Recommendation of a stop policy, with the id of its rule. `pages` is the maximum number of pages of a breadth
    expansion; None = MAX_CANDIDATES_PER_ITERATION, which no policy can exceed."""

    action: Action
    rule: str
    reason: str
    confidence: Sureness
    probability_complete: float = Field(ge=0, le=1)
    pages: int | None = Field(default=None, ge=1)


class ScoredCandidate(Contract):
    """A link candidate with its expansion relevance in [0, 1] and the breakdown of that score."""

    url: str
    score: float
    score_breakdown: dict[str, float]
    anchor_text: str
    from_url: str
    link_depth: int


class Round(Contract):
    """One retrieve, rerank, evaluate pass: enough to replay the decision."""

    round: int
    action_taken: Action | None
    signals: EvaluationSignals
    decision: ExpansionDecision
    top_chunks: list[ScoredRef]
    candidates: list[ScoredCandidate]
    previews: list[PreviewScore] = Field(default_factory=list)
    documents_total: int
    elapsed_ms: float


class PreviewScore(Contract):
    """A previewed page that is not read, with the raw score in [0, 1] of its best passage."""

    url: str
    score: float
    reading: float | None = None


class ScoredRef(Contract):
    """A scored chunk by identity, for the trace."""

    chunk_id: int
    url: str
    heading: str | None
    score: float


class ExpansionStep(Contract):
    """Record of one expansion: decision, pages and gain."""

    iteration: int
    depth: int
    source_url: str
    candidates_scored: int
    candidates_expanded: list[str]
    candidates_failed: dict[str, str]
    chunks_added: int
    top_score_before: float
    top_score_after: float
    decision: Action
    rule: str
    reason: str


class RunDocument(Contract):
    """A page of this run, in the order of reading. A `duplicate` is a document already fetched by the run.

    `round` is the round that read it; a `stored` page is one that evidence came from without asking for it. A `preview`
    was fetched (or failed), indexed and scored by its best passage, and never became part of the evidence; its `round`
    is the one that looked at it.
    """

    url: str
    document_id: int | None
    round: int
    link_depth: int
    outcome: Literal["fetched", "reused", "stored", "failed", "duplicate"]
    reason: str | None = None
    preview: bool = False


class OrchestrationTiming(Contract):
    """Wall milliseconds per phase, summed over rounds."""

    query_analysis_ms: float = 0.0
    retrieval_ms: float = 0.0
    reranking_ms: float = 0.0
    expansion_ms: float = 0.0
    locality_ms: float = 0.0
    judging_ms: float = 0.0
    merge_ms: float = 0.0
    total_ms: float = 0.0


class OrchestrationResult(Readable, Contract):
    """The evidence for a query, as the CLI, Dagster and MCP receive it.

    `status` says first whether it answers the query (see `verdict`), `probability_note` how far
    `probability_complete` can be trusted. `look_next` are the URLs that the run would have read next, best first,
    `map_files` those it requested for what the site says about its pages (`Acquirer.site_map`).
    `spent` is what was asked of each endpoint that may charge for it. `confidence`, in [0,
    1], is that of the status: that the best sentences answer the question, or that the quote number `best_citation`
    does.
    """

    status: Status
    answer_id: int | None
    trace_id: str | None = None
    query: str
    url: str
    chunks: list[RankedChunk]
    citations: list[CitationSpan]
    query_analysis: QueryAnalysis
    expansion_steps: list[ExpansionStep]
    rounds: list[Round]
    corpus_stats: CorpusStats
    timing: OrchestrationTiming
    spent: list[ProviderSpending] = Field(default_factory=list)
    mode: Literal["full_context", "chunk"]
    policy: str
    final_decision: ExpansionDecision
    total_iterations: int
    total_urls_ingested: int
    documents: list[RunDocument]
    map_files: list[str] = Field(default_factory=list)
    look_next: list[str] = Field(default_factory=list)
    probability_complete: float
    probability_note: str
    confidence: float = 0.0
    best_citation: int | None = None
    warnings: list[Caution]

    @property
    def best_first(self) -> list[CitationSpan]:
        """The relevant citations, the best of all before them."""
        return sorted(relevant(self.citations), key=lambda item: item.number != self.best_citation)

    def read_documents(self) -> list[RunDocument]:
        """The pages that the evidence was taken from, and those that failed, without previews."""
        return [document for document in self.documents if not document.preview]

    def verdict_line(self) -> str:
        """Describe the verdict in one sentence, to be read before any quote."""
        pages = sum(document.outcome not in ("failed", "duplicate") for document in self.read_documents())
        read = f"{pages} page{'' if pages == 1 else 's'} read"
        if self.status == "not_found":
            return f"Not found: {read}, no passage answers the question"
        if self.status == "likely":
            quote = "" if self.best_citation is None else f", first quote [{self.best_citation}]"
            return f"Likely: a passage holds the answer with probability {percent(self.confidence)}{quote}, {read}"
        verdict = f"{self.status.capitalize()}: confidence {percent(self.confidence)}, {read}"
        if self.status == "answered":
            return verdict
        part = self.rounds[-1].signals.part if self.rounds else None
        least = "" if part is None else f'; least is known about "{part}"'
        return f"{verdict}{least}; the nearest passages follow"

    def summary(self) -> str:
        """Status, confidence and size."""
        size = f"{counted(len(self.citations), 'quote')}, {counted(len(self.rounds), 'round')}"
        number = "" if self.answer_id is None else f"{self.answer_id} "
        return f"{number}{self.status} ({percent(self.confidence)}): {size}, query {shortened(self.query)}"


def progress_line(phase: str, completed: Round | None) -> str:
    """Describe a phase that begins or a round that ended in one line, without words of a page."""
    if completed is None:
        return _PHASES.get(phase, phase)
    signals, decision = completed.signals, completed.decision
    return (
        f"round {completed.round}: {signals.n_chunks} passages of {completed.documents_total} pages, best score"
        f" {signals.best_raw_score:.2f}; {decision.action} ({decision.rule})"
    )


Round.model_rebuild()
