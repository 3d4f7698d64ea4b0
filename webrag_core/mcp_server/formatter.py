"""A response: headed sections within a token budget. The five guaranteed ones are built first and never dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from webrag_core.mcp_server import sections
from webrag_core.mcp_server.evidence import Evidence, gather
from webrag_core.mcp_server.findings import Findings, tokens
from webrag_core.mcp_server.untrusted import Fence

_GUARANTEED_SHARE = 0.6  # of the budget; beyond it the weakest citations go
_IMAGE_TOKENS = 300
_TRACE_TOKENS = 600


@dataclass(frozen=True, slots=True)
class Formatted:
    """The response and what it shows of pages."""

    text: str
    found: Findings
    evidence: Evidence
    words: Sequence[str]  # what it says that pages wrote


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the evidence. `guide` gets the fence's word; `stats` the number of passages shown."""

    guide: Callable[[str], str]
    stats: Callable[[int], str]
    follow_ups: str
    trace: str = ""
    trace_summary: str = ""


def compose(found: Findings, frame: Frame, budget: int, fence: Fence | None = None) -> Formatted:
    """All sections in their order, at most `budget` tokens (a budget too small for the guaranteed ones is exceeded by
    no more than one citation)."""
    fence = fence or Fence()
    guide = frame.guide(fence.word)
    fixed = [("PRESENTATION GUIDE", guide), ("STATS", frame.stats(99)), ("FOLLOW-UP OPTIONS", frame.follow_ups)]
    base = tokens(sections.joined(fixed))
    while len(found.hits) > 1 and base + _cited(found) > budget * _GUARANTEED_SHARE:
        found = found.first(len(found.hits) - max(1, len(found.hits) // 8))
    left = budget - base - _cited(found) - 60  # headers, separators
    trace = frame.trace
    if trace and tokens(trace) > min(_TRACE_TOKENS, max(0, left) // 4):
        trace = frame.trace_summary
    left -= tokens(trace)
    evidence = gather(found, max(0, left - _image_reserve(found)), fence)
    images = sections.images(evidence)
    if tokens(images) > _IMAGE_TOKENS:
        images = ""
    citations = sections.citations(found)
    titles = [sections.shown_title(hit.citation.title) for hit in found.hits]
    parts: Sequence[tuple[str, str]] = (
        ("PRESENTATION GUIDE", guide),
        ("SOURCES", sections.sources(found)),
        ("EVIDENCE", evidence.text),
        ("IMAGES", images),
        ("EXPANSION TRACE", trace),
        ("CITATIONS", citations),
        ("STATS", frame.stats(evidence.shown)),
        ("FOLLOW-UP OPTIONS", frame.follow_ups),
    )
    return Formatted(sections.joined(parts), found, evidence, [evidence.text, images, citations, *titles])


def _cited(found: Findings) -> int:
    return tokens(sections.sources(found)) + tokens(sections.citations(found))


def _image_reserve(found: Findings) -> int:
    return _IMAGE_TOKENS if any("![" in hit.ranked.chunk.text for hit in found.hits) else 0
