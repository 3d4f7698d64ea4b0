"""What evidence shows, searched for or gathered: the verdict, quotes, where to look next, pages, why it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webrag_core.answering.models import Band
from webrag_core.orchestration.models import OrchestrationResult
from webrag_core.percentages import percent
from webrag_core.readable import counted
from webrag_core.retrieval.citations import relevant
from webrag_core.retrieval.models import CitationSpan, RetrievedChunk
from webrag_core.retrieval.quotes import quote_window
from webrag_core.retrieval.search import CorpusSearch
from webrag_core.showing.elements import Element, Note, Page, Place, Quotation, Row, Section, Verdict
from webrag_core.showing.warning_notes import warning_notes
from webrag_core.showing.wording import also_on, sections

QUOTES = 5
"""Quotes that are enough at first sight."""
_QUOTE_CHARS = 700
_BANDS: dict[str, Band] = {"answered": "high", "partial": "low", "likely": "likely", "not_found": "insufficient"}


def evidence_view(result: OrchestrationResult, quotes: int = QUOTES) -> list[Element]:
    """The verdict; `quotes`, of what was not found the nearest one; where to look next; the pages; why it stopped, how
    sure that is, and what it cost; warnings. All other quotes are weak."""
    heading = "The nearest passage" if result.status == "not_found" else ""
    places = result.look_next if result.status != "answered" else []
    parts = [
        Section("quotes", heading, tuple(quotations(result)), quotes),
        Section("next", "Where to look next", tuple(map(Place, places))),
        Section("pages", "Pages read", tuple(_pages(result))),
        Section("stop", "Why it stopped", tuple(map(Row, _stop(result)))),
    ]
    return [
        Verdict(result.query, result.verdict_line(), _BANDS[result.status], ""),
        *(section for section in parts if section.elements),
        *warning_notes(result.warnings),
        Note(_cost(result), "cost"),
    ]


def quotations(result: OrchestrationResult) -> list[Quotation]:
    """The quotes of an answer, the best ones first; those beyond them are weak."""
    best = result.best_first[: 1 if result.status == "not_found" else None]
    strong = {citation.number for citation in best}
    ordered = [*best, *(citation for citation in result.citations if citation.number not in strong)]
    return [_quotation(citation, result.query, weak=citation.number not in strong) for citation in ordered]


def search_view(search: CorpusSearch, quotes: int = QUOTES) -> list[Element]:
    """The verdict, which judges no answer; `quotes`; what was searched, and other words that it was searched for;
    warnings. Quotes of low relevance are weak."""
    strong = {citation.number for citation in relevant(search.citations)}
    chunks = {ranked.chunk.chunk_id: ranked.chunk for ranked in search.chunks}
    listed = [
        _quotation(citation, search.searched_for, chunks.get(citation.chunk_id), weak=citation.number not in strong)
        for citation in search.citations
    ]
    stats = search.corpus_stats
    searched = f"Searched {counted(stats.total_documents, 'page')}, {counted(stats.total_parent_chunks, 'passage')}"
    return [
        Verdict(search.query, search.verdict_line(), _BANDS[search.status], ""),
        *([Note(f"Note: {search.spelling_note}")] if search.spellings else []),
        *([Section("quotes", "", tuple(listed), quotes)] if listed else [Note("No results.", "problem")]),
        *(Note(f"Also searched for: {query}") for query in search.queries[1:]),
        *warning_notes(search.warnings),
        Note(
            f"{searched}; {counted(search.candidates, 'candidate')} ({search.pattern.value}),"
            f" {search.timing.total_ms:.0f} ms",
            "cost",
        ),
    ]


def without_verdict(parts: Sequence[Element]) -> list[Element]:
    """The elements below the verdict, for who has just typed the question and wants no judgement."""
    return [part for part in parts if not isinstance(part, Verdict)]


def _quotation(
    citation: CitationSpan, query: str, chunk: RetrievedChunk | None = None, *, weak: bool = False
) -> Quotation:
    passage = citation.verbatim_text
    window = quote_window(passage, query, _QUOTE_CHARS)
    shown, best = window.shown, window.highlight
    marked = (0, 0)
    if best is not None:
        marked = (max(0, best.start - shown.start), max(0, min(best.end, shown.end) - shown.start))
    title = citation.title or citation.source_url
    return Quotation(
        number=citation.number,
        url=citation.source_url,
        title=title,
        headings=tuple(sections(title, citation.section_heading)),
        text=shown.of(passage),
        marked=marked,
        quoted=passage if best is None else best.of(passage),
        notes=tuple(_worth(citation, chunk)),
        stamp=_stamp(citation),
        page=citation.page,
        before=shown.start,
        after=len(passage) - shown.end,
        weak=weak,
    )


def _worth(citation: CitationSpan, chunk: RetrievedChunk | None) -> Iterator[str]:
    yield f"relevance {percent(citation.relevance)}"
    if chunk is not None and chunk.dated is not None:
        yield f"dated {chunk.dated:%Y-%m-%d}"
    elif chunk is not None:
        yield f"fetched {chunk.fetched_at:%Y-%m-%d}"
    if citation.also_on:
        yield also_on(len(citation.also_on))


def _stamp(citation: CitationSpan) -> str:
    page = "" if citation.page is None else f"page {citation.page}, "
    return (
        f"{page}version {citation.version_sha256[:12]}, characters {citation.char_start} to {citation.char_end},"
        f" sha256 {citation.quote_sha256[:12]}"
    )


def _pages(result: OrchestrationResult) -> Iterator[Page | Row]:
    documents = result.read_documents()
    for document in documents:
        note = f" ({document.reason})" if document.reason else ""
        yield Page(document.url, f"round {document.round}, depth {document.link_depth}, {document.outcome}{note}")
    if looked := len(result.documents) - len(documents):
        yield Row(f"Linked pages looked at and not read: {looked}")
    if result.map_files:
        yield Row(f"Files that list the site's pages, read or missing: {len(result.map_files)}")


def _stop(result: OrchestrationResult) -> Iterator[str]:
    decision = result.final_decision
    yield f"Link-following rounds: {result.total_iterations}"
    for step in result.expansion_steps:
        yield f"round {step.iteration - 1}: {step.decision} [{step.rule}] {step.reason}"
    yield f"Stopped: {decision.rule} ({result.policy}): {decision.reason}"
    yield f"Confidence: {percent(result.confidence)}"
    yield f"Estimated completeness: {result.probability_complete:.0%} ({result.probability_note})"
    yield from (f"Asked of an endpoint: {spending.text}" for spending in result.spent)


def _cost(result: OrchestrationResult) -> str:
    number = "" if result.answer_id is None else f"Answer {result.answer_id}: "
    return f"{number}mode {result.mode}, {result.timing.total_ms / 1000:.2f} s"
