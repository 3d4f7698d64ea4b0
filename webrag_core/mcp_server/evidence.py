"""The sections made of pages: SOURCES, EVIDENCE, IMAGES, EXPANSION TRACE, CITATIONS."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from os.path import commonpath

from webrag_core.mcp_server.page_tree import page_tree
from webrag_core.orchestration.models import OrchestrationResult, PreviewScore, RunDocument, ScoredCandidate
from webrag_core.page_text import visible
from webrag_core.providers.static_model import count_tokens
from webrag_core.readable import counted
from webrag_core.retrieval.models import CitationSpan, RankedChunk
from webrag_core.retrieval.quotes import best_sentences
from webrag_core.retrieval.search import CorpusSearch
from webrag_core.showing.reading import readable, slice_of, wants_links
from webrag_core.showing.untrusted import Fence, defused, label, shown_title
from webrag_core.showing.wording import also_on

MAX_CITED = 20
_FAINT = 0.01  # relevance below which a passage is shown only among the first few
_FIRST = 3
_WORTH_CONTEXT = 0.3  # relevance from which a passage is shown with the section around it


def tokens(text: str) -> int:
    """Count tokens; the small vocabulary makes this an upper estimate for other tokenizers."""
    return count_tokens([text])[0]


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its citation."""

    ranked: RankedChunk
    citation: CitationSpan


@dataclass(frozen=True, slots=True)
class Results:
    """`hits` best first, `nearby` the parents beside strong ones, `numbers` the source number of each document."""

    query: str
    hits: Sequence[Hit]
    nearby: Sequence[RankedChunk] = ()
    whole: bool = False  # full context: everything, in reading order
    left_out: int = 0
    numbers: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, query: str, hits: Sequence[Hit], nearby: Sequence[RankedChunk] = (), *, whole: bool = False) -> Results:
        """Select the best hits and number their pages in order of first use."""
        ordered = sorted(hits, key=lambda hit: (-hit.citation.relevance, hit.citation.number))
        selected = [
            hit
            for rank, hit in enumerate(ordered)
            if whole or rank < _FIRST or (rank < MAX_CITED and hit.ranked.reranked_score >= _FAINT)
        ]
        numbers: dict[int, int] = {}
        for hit in selected:
            numbers.setdefault(hit.citation.document_id, len(numbers) + 1)
        beside = [neighbour for neighbour in nearby if neighbour.chunk.document_id in numbers]
        return cls(query, selected, beside, whole, len(hits) - len(selected), numbers)

    def first(self, count: int) -> Results:
        """Return the results with at most `count` hits."""
        return Results.of(self.query, self.hits[:count], self.nearby, whole=self.whole)

    def number(self, document_id: int) -> int:
        """Return the source number, from 1."""
        return self.numbers[document_id]


def answer_results(result: OrchestrationResult) -> Results:
    """Build results; chunks without a citation are neighbours."""
    hits = _hits(result.chunks, result.citations)
    nearby = [chunk for chunk in result.chunks if chunk.is_locality_expanded]
    return Results.of(result.query, hits, nearby, whole=result.mode == "full_context")


def search_results(search: CorpusSearch) -> Results:
    """Build results with every citation; a chunk may be cited more than once."""
    hits = _hits(search.chunks, search.citations)
    return Results.of(search.searched_for, hits, whole=search.mode == "full_context")


def _hits(chunks: Sequence[RankedChunk], citations: Sequence[CitationSpan]) -> list[Hit]:
    by_id = {chunk.chunk.chunk_id: chunk for chunk in chunks}
    return [Hit(by_id[citation.chunk_id], citation) for citation in citations if citation.chunk_id in by_id]


_LEAST = 60  # tokens; shorter excerpts are useless


@dataclass(frozen=True, slots=True)
class Evidence:
    """The EVIDENCE section and its contents."""

    text: str
    shown: int
    raw: Sequence[tuple[int, str]]  # (source number, stored Markdown) of shown passages


@dataclass(frozen=True, slots=True)
class _Block:
    chunk: RankedChunk
    lines: str
    raw: str
    cost: int  # tokens


def gather(results: Results, budget: int, fence: Fence) -> Evidence:
    """Build the section within `budget` tokens: first the matching passage of every hit, then the whole chunk of strong
    hits, then adjacent chunks."""
    links = wants_links(results.query)
    shown: dict[int, _Block] = {}
    left = budget

    def put(ranked: RankedChunk, header: str, raw: str, *, cut: bool = False) -> None:
        nonlocal left
        text = readable(raw, links=links)
        old = shown.get(ranked.chunk.chunk_id)
        spare = left + (old.cost if old else 0)
        block = _block(ranked, header, text, raw, fence)
        if cut and block.cost > spare >= _LEAST:
            empty = _block(ranked, header, "", "", fence)
            block = _block(ranked, header, _first_tokens(text, spare - empty.cost - 10), raw, fence)
        if text and block.cost <= spare:
            shown[ranked.chunk.chunk_id] = block
            left = spare - block.cost

    cited = {hit.citation.chunk_id for hit in results.hits}
    for position, hit in enumerate(results.hits):
        if hit.citation.chunk_id not in shown:
            raw = hit.ranked.chunk.text if results.whole else matched(hit)
            put(hit.ranked, _header(results, hit), raw, cut=position == 0)
    for hit in results.hits:
        if not results.whole and hit.ranked.reranked_score >= _WORTH_CONTEXT:
            put(hit.ranked, _header(results, hit), hit.ranked.chunk.text)
    for ranked in results.nearby:
        put(ranked, f"Source [{results.number(ranked.chunk.document_id)}] (adjacent context):", ranked.chunk.text)
    blocks = _ordered(results, shown)
    lines = [block.lines for block in blocks]
    hits = len(cited & shown.keys())
    missing = len(cited) - hits
    if missing:
        lines.append(f"({missing} more passages did not fit; CITATIONS quotes them.)")
    if results.left_out:
        lines.append(f"({results.left_out} weaker passages left out.)")
    return Evidence(
        "\n".join(lines) or "(none)",
        hits,
        [(results.number(block.chunk.chunk.document_id), block.raw) for block in blocks],
    )


def matched(hit: Hit) -> str:
    """Return the Markdown of the cited passage."""
    chunk, citation = hit.ranked.chunk, hit.citation
    return slice_of(chunk.text, citation.char_start - chunk.char_start, citation.char_end - chunk.char_start)


def _header(results: Results, hit: Hit) -> str:
    heading = hit.ranked.chunk.section_heading
    where = f" § {label(heading, 120)}" if heading else ""
    sure = "" if hit.ranked.confidence is None else f", confidence: {hit.ranked.confidence:.2f}"
    sub_query = hit.ranked.source_sub_query
    origin = f' [sub-query: "{label(sub_query, 120)}"]' if sub_query and sub_query != results.query else ""
    number = results.number(hit.citation.document_id)
    also = f", {also_on(len(hit.citation.also_on))}" if hit.citation.also_on else ""
    return f"Source [{number}]{where} (relevance: {hit.ranked.reranked_score:.2f}{sure}{also}){origin}:"


def _ordered(results: Results, shown: dict[int, _Block]) -> list[_Block]:
    """Order blocks best first, each with its neighbours; whole pages in reading order."""
    rank: dict[int, int] = {}
    for position, hit in enumerate(results.hits):
        rank.setdefault(hit.ranked.chunk.chunk_id, position)
    first = {number: position for position, number in enumerate(results.numbers)}

    def key(block: _Block) -> tuple[int, int]:
        chunk = block.chunk.chunk
        if results.whole:
            return first[chunk.document_id], chunk.chunk_index
        if chunk.chunk_id in rank:
            return rank[chunk.chunk_id], chunk.chunk_index
        beside = [
            rank[hit.ranked.chunk.chunk_id]
            for hit in results.hits
            if hit.ranked.chunk.version_id == chunk.version_id
            and abs(hit.ranked.chunk.chunk_index - chunk.chunk_index) <= 1
        ]
        return min(beside, default=len(rank)), chunk.chunk_index

    return sorted(shown.values(), key=key)


def _block(ranked: RankedChunk, header: str, text: str, raw: str, fence: Fence) -> _Block:
    lines = f"{header}\n{fence.around(text)}"
    return _Block(ranked, lines, raw, tokens(lines + "\n"))


def _first_tokens(text: str, budget: int) -> str:
    """Truncate at a word boundary to `budget` tokens."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(text[:middle]) <= budget else (low, middle - 1)
    return text[:low].rsplit(None, 1)[0] + " …" if low else ""


_QUOTE_CHARS = 300
_HASH = 12  # hexadecimal digits of a hash that are shown
_IMAGE = re.compile(r"!\[((?:[^\[\]\\\n]|\\.){1,300})\]\(")
_MOST_IMAGES = 8
_MOST_TRACED = 24
_MOST_SKIPPED = 3  # of each kind
_SCHEME = re.compile(r"^https?://")


def source_lines(results: Results) -> dict[int, str]:
    """Source number -> number, title, URL, version and age of a page."""
    lines: dict[int, str] = {}
    for hit in results.hits:
        citation, number = hit.citation, results.number(hit.citation.document_id)
        if number not in lines:
            lines[number] = (
                f"[{number}] {shown_title(citation.title)} — {citation.source_url}"
                f" (version {citation.version_sha256[:_HASH]}, fetched"
                f" {hit.ranked.chunk.fetched_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC)"
            )
    return lines


def quotes(results: Results, fence: Fence) -> list[str]:
    """The best sentences of each hit, in order, as exact slices of the stored page, with offsets and hash.

    Empty for a hit without words, a duplicate, and hits beyond the first `MAX_CITED`. A quote that is unsafe without
    changes is located, not shown.
    """
    entries: dict[str, int] = {}
    for position, hit in enumerate(results.hits[:MAX_CITED]):
        citation = hit.citation
        span = best_sentences(citation.verbatim_text, results.query, _QUOTE_CHARS)
        if span is None:
            continue
        quote = span.of(citation.verbatim_text)
        cited = citation.part(span.start, span.end)
        heading = label(citation.section_heading, 80)
        head = f"[{results.number(citation.document_id)}]{f' § {heading}' if heading else ''}"
        place = f"characters {cited.start}–{cited.end}, sha256 {cited.sha256[:_HASH]}"
        if defused(quote) == quote:
            entries.setdefault(f"{head} ({place}):\n{fence.around(quote)}", position)
        else:
            entries.setdefault(f"{head} ({place}): not shown, it imitates marks of this response", position)
    by_position = {position: entry for entry, position in entries.items()}
    return [by_position.get(position, "") for position in range(len(results.hits))]


def images_section(evidence: Evidence) -> str:
    """List descriptions of images in the shown text, by source, without their addresses."""
    lines: dict[tuple[int, str], None] = {}
    for number, raw in evidence.raw:
        for match in _IMAGE.finditer(raw):
            words = label(match[1], 80)
            if words:
                lines[number, words] = None
    return "\n".join(f"- {words} (from Source [{number}])" for number, words in list(lines)[:_MOST_IMAGES])


def trace(result: OrchestrationResult) -> str:
    """Draw the pages read or failed as a tree, each below the page that its link stands on, with the score that it was
    chosen by; then the best of what was not read. Empty for a single successful page."""
    documents = result.read_documents()
    if len(documents) < 2 and all(document.outcome != "failed" for document in documents):
        return ""
    addresses = [_SCHEME.sub("", document.url) for document in documents]
    base = f"{commonpath(addresses)}/" if len(addresses) > 1 else ""
    if not all(f"{address}/".startswith(base) for address in addresses):
        base = ""

    def name(url: str) -> str:
        return _address(_SCHEME.sub("", url).removeprefix(base)) or "/"

    shown = documents[:_MOST_TRACED]
    notes, gained = {}, {step.iteration: step.chunks_added for step in result.expansion_steps}
    scores = _scores(result)
    for document in shown:
        notes[document.url] = f"{name(document.url)} ({_note(document, gained, scores.get(document.url))})"
        gained.pop(document.round, None)  # counted once, with the first page of the round
    lines = [f"Base: {_address(base)}"] if base else []
    lines += page_tree(shown, _parents(result), notes)
    if len(documents) > len(shown):
        lines.append(f"… and {len(documents) - len(shown)} more pages")
    lines += _skipped(result, name)
    lines[-1] += f" [stopped: {result.final_decision.rule}]"
    return "\n".join(lines)


def _scores(result: OrchestrationResult) -> dict[str, float]:
    """By URL the score of the best passage on a page before it was read, else that of the link to it; the last one."""
    links = {candidate.url: candidate.score for done in result.rounds for candidate in done.candidates}
    return links | {preview.url: preview.score for done in result.rounds for preview in done.previews}


def _parents(result: OrchestrationResult) -> dict[str, str]:
    """By URL the page that the link to it was first found on."""
    parents: dict[str, str] = {}
    for done in result.rounds:
        for candidate in done.candidates:
            parents.setdefault(candidate.url, candidate.from_url)
    return parents


def _skipped(result: OrchestrationResult, name: Callable[[str], str]) -> list[str]:
    """The best pages that were looked at and not used, and the best links that were not followed."""
    looked = sum(document.preview for document in result.documents)
    last = result.rounds[-1]
    lines = []
    if looked:
        lines.append(f"Looked at {looked} linked pages and did not use them{_best(last.previews, name)}")
    tried = {document.url for document in result.documents} | {preview.url for preview in last.previews}
    links = [candidate for candidate in last.candidates if candidate.url not in tried]
    if links:
        left = max(last.signals.candidates_left, len(links))
        lines.append(f"Did not follow {counted(left, 'link')}{_best(links, name)}")
    return lines


def _best(skipped: Sequence[PreviewScore | ScoredCandidate], name: Callable[[str], str]) -> str:
    best = [f"{name(page.url)} ({page.score:.2f})" for page in skipped[:_MOST_SKIPPED]]
    return f", the best: {', '.join(best)}" if best else ""


def trace_summary(result: OrchestrationResult) -> str:
    """Summarise the trace in one line."""
    documents = result.read_documents()
    depth = max(document.link_depth for document in documents)
    failed = sum(document.outcome == "failed" for document in documents)
    lost = f", {failed} failed" if failed else ""
    return f"{len(documents)} pages{lost}, depth {depth} [stopped: {result.final_decision.rule}]"


def _note(document: RunDocument, gained: Mapping[int, int], score: float | None) -> str:
    if document.outcome == "failed":
        return f"failed: {document.reason}"
    if document.link_depth == 0:
        return "seed"
    chunks = gained.get(document.round)
    parts = [f"depth {document.link_depth}"]
    parts += [] if score is None else [f"score {score:.2f}"]
    parts += [f"+{chunks} chunks"] if chunks else []
    return ", ".join(parts)


def _address(text: str) -> str:
    """Show part of a URL as plain text."""
    shown = visible(text)
    return shown if len(shown) <= 90 else shown[:89] + "…"
