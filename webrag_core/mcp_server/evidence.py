"""EVIDENCE: as many of the passages as the budget holds, the best first; each text once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webrag_core.mcp_server.findings import Findings, Hit, tokens
from webrag_core.mcp_server.reading import readable, slice_of, wants_links
from webrag_core.mcp_server.untrusted import Fence, label
from webrag_core.retrieval.models import RankedChunk

_WORTH_CONTEXT = 0.3  # relevance from which a passage is shown with the section around it
_LEAST = 60  # tokens; less of a passage is no use


@dataclass(frozen=True, slots=True)
class Evidence:
    """The section, and what is in it."""

    text: str
    shown: int
    raw: Sequence[tuple[int, str]]  # (source number, stored Markdown) of what is shown


@dataclass(slots=True)
class _Block:
    chunk: RankedChunk
    header: str
    text: str
    raw: str


def gather(found: Findings, budget: int, fence: Fence) -> Evidence:
    """The section within `budget` tokens. Every hit gets its matching passage first, then the best ones the section
    around it, then what stands beside them."""
    links = wants_links(found.query)
    shown: dict[int, _Block] = {}
    left = budget

    def put(ranked: RankedChunk, header: str, raw: str, *, cut: bool = False) -> None:
        nonlocal left
        text = readable(raw, links=links)
        old = shown.get(ranked.chunk.chunk_id)
        spare = left + (_cost(old, fence) if old else 0)
        block = _Block(ranked, header, text, raw)
        if cut and _cost(block, fence) > spare >= _LEAST:
            block.text = _first_tokens(text, spare - _cost(_Block(ranked, header, "", ""), fence) - 10)
        cost = _cost(block, fence)
        if text and cost <= spare:
            shown[ranked.chunk.chunk_id] = block
            left = spare - cost

    for position, hit in enumerate(found.hits):
        raw = hit.ranked.chunk.text if found.whole else matched(hit)
        put(hit.ranked, _header(found, hit), raw, cut=position == 0)
    for hit in found.hits:
        if not found.whole and hit.ranked.reranked_score >= _WORTH_CONTEXT:
            put(hit.ranked, _header(found, hit), hit.ranked.chunk.text)
    for ranked in found.nearby:
        put(ranked, f"Source [{found.number(ranked.chunk.document_id)}] (adjacent context):", ranked.chunk.text)
    blocks = _ordered(found, shown)
    lines = [f"{block.header}\n{fence.around(block.text)}" for block in blocks]
    hits = sum(hit.ranked.chunk.chunk_id in shown for hit in found.hits)
    missing = len(found.hits) - hits
    if missing:
        lines.append(f"({missing} more passages did not fit; CITATIONS quotes them.)")
    if found.left_out:
        lines.append(f"({found.left_out} weaker passages left out.)")
    return Evidence(
        "\n".join(lines) or "(none)",
        hits,
        [(found.number(block.chunk.chunk.document_id), block.raw) for block in blocks],
    )


def matched(hit: Hit) -> str:
    """The Markdown of the passage that matched."""
    chunk = hit.ranked.chunk
    return slice_of(chunk.text, chunk.match_start - chunk.char_start, chunk.match_end - chunk.char_start)


def _header(found: Findings, hit: Hit) -> str:
    heading = hit.ranked.chunk.section_heading
    where = f" § {label(heading, 120)}" if heading else ""
    sure = "" if hit.ranked.confidence is None else f", confidence: {hit.ranked.confidence:.2f}"
    asked = hit.ranked.source_sub_query
    part = f' [sub-query: "{label(asked, 120)}"]' if asked and asked != found.query else ""
    number = found.number(hit.citation.document_id)
    return f"Source [{number}]{where} (relevance: {hit.ranked.reranked_score:.2f}{sure}){part}:"


def _ordered(found: Findings, shown: dict[int, _Block]) -> list[_Block]:
    """Best first, each with its neighbours around it in reading order; whole pages in reading order."""
    rank = {hit.ranked.chunk.chunk_id: position for position, hit in enumerate(found.hits)}
    first = {number: position for position, number in enumerate(found.numbers)}

    def key(block: _Block) -> tuple[int, int]:
        chunk = block.chunk.chunk
        if found.whole:
            return first[chunk.document_id], chunk.chunk_index
        if chunk.chunk_id in rank:
            return rank[chunk.chunk_id], chunk.chunk_index
        beside = [
            rank[hit.ranked.chunk.chunk_id]
            for hit in found.hits
            if hit.ranked.chunk.version_id == chunk.version_id
            and abs(hit.ranked.chunk.chunk_index - chunk.chunk_index) <= 1
        ]
        return min(beside, default=len(rank)), chunk.chunk_index

    return sorted(shown.values(), key=key)


def _cost(block: _Block, fence: Fence) -> int:
    return tokens(f"{block.header}\n{fence.around(block.text)}\n")


def _first_tokens(text: str, budget: int) -> str:
    """Whole lines or words from the beginning, as far as `budget` tokens go."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(text[:middle]) <= budget else (low, middle - 1)
    return text[:low].rsplit(None, 1)[0] + " …" if low else ""
