"""The short sections about pages: SOURCES, CITATIONS, IMAGES, EXPANSION TRACE."""

from __future__ import annotations

import re
from collections.abc import Iterable
from os.path import commonpath

from webrag_core.mcp_server.evidence import Evidence, matched
from webrag_core.mcp_server.findings import MOST_CITED, Findings
from webrag_core.mcp_server.quotes import best_quote
from webrag_core.mcp_server.untrusted import label, quoted, visible
from webrag_core.orchestration.models import OrchestrationResult, RunDocument
from webrag_core.retrieval.models import CitationSpan

_QUOTE = 300
_IMAGE = re.compile(r"!\[((?:[^\[\]\\\n]|\\.){1,300})\]\(")
_MOST_IMAGES = 8
_MOST_TRACED = 24
_SCHEME = re.compile(r"^https?://")
_TITLE = 90


def shown_title(title: str | None) -> str:
    """A page's title in a line of ours."""
    return label(title, _TITLE) or "Untitled"


def sources(found: Findings) -> str:
    """One line for each page: number, title, URL."""
    pages: dict[int, CitationSpan] = {}
    for hit in found.hits:
        pages.setdefault(hit.citation.document_id, hit.citation)
    return (
        "\n".join(
            f"[{found.number(document_id)}] {shown_title(page.title)} — {page.source_url}"
            for document_id, page in pages.items()
        )
        or "(none)"
    )


def citations(found: Findings) -> str:
    """Verbatim sentences of each passage that matched, under the number of their source; equal ones once."""
    lines: dict[str, None] = {}
    for hit in found.hits[:MOST_CITED]:
        words = quoted(best_quote(matched(hit), found.query, _QUOTE))
        heading = label(hit.citation.section_heading, 80)
        lines[f'[{found.number(hit.citation.document_id)}] "{words}"{f" — § {heading}" if heading else ""}'] = None
    return "\n".join(lines) or "(none)"


def images(evidence: Evidence) -> str:
    """What the images beside the shown text show, by source; their addresses stay with the pages."""
    told: dict[tuple[int, str], None] = {}
    for number, raw in evidence.raw:
        for match in _IMAGE.finditer(raw):
            words = label(match[1], 80)
            if words:
                told[number, words] = None
    return "\n".join(f"- {words} (from Source [{number}])" for number, words in list(told)[:_MOST_IMAGES])


def trace(result: OrchestrationResult) -> str:
    """Which pages the run took, in order; empty where it is the one page that was asked for."""
    documents = result.documents
    if len(documents) < 2 and all(document.outcome != "failed" for document in documents):
        return ""
    addresses = [_SCHEME.sub("", document.url) for document in documents]
    base = f"{commonpath(addresses)}/" if len(addresses) > 1 else ""
    if not all(f"{address}/".startswith(base) for address in addresses):
        base = ""
    gained = {step.iteration: step.chunks_added for step in result.expansion_steps}
    lines = [f"Base: {_address(base)}"] if base else []
    shown = documents[:_MOST_TRACED]
    counted: set[int] = set()
    for position, (document, address) in enumerate(zip(shown, addresses, strict=False)):
        last = position == len(shown) - 1
        note = _note(document, gained if document.round not in counted else {})
        counted.add(document.round)
        branch = "" if document.link_depth == 0 else "└── " if last else "├── "
        lines.append(f"{branch}{_address(address[len(base) :]) or '/'} ({note})")
    if len(documents) > len(shown):
        lines.append(f"… and {len(documents) - len(shown)} more pages")
    lines[-1] += f" [stopped: {result.final_decision.rule}]"
    return "\n".join(lines)


def trace_summary(result: OrchestrationResult) -> str:
    """The trace in one line."""
    depth = max(document.link_depth for document in result.documents)
    failed = sum(document.outcome == "failed" for document in result.documents)
    lost = f", {failed} failed" if failed else ""
    return f"{len(result.documents)} pages{lost}, depth {depth} [stopped: {result.final_decision.rule}]"


def _note(document: RunDocument, gained: dict[int, int]) -> str:
    if document.outcome == "failed":
        return f"failed: {document.reason}"
    place = "seed" if document.link_depth == 0 else f"depth {document.link_depth}"
    chunks = gained.get(document.round)
    return f"{place}, +{chunks} chunks" if chunks and document.link_depth else place


def _address(text: str) -> str:
    """Part of a URL of the run's own site, not as a link."""
    shown = visible(text)
    return shown if len(shown) <= 90 else shown[:89] + "…"


def joined(parts: Iterable[tuple[str, str]]) -> str:
    """Headers and their sections."""
    return "\n\n".join(f"[{name}]\n{text}" for name, text in parts if text)
