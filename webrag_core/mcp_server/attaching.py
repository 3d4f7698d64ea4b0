"""What tool `attach` answers: what a site holds, and how far the reading of it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from webrag_core.application.site_preview import SitePreview, WhyLeftOut
from webrag_core.application.site_runs import SiteReading
from webrag_core.readable import counted
from webrag_core.showing.untrusted import joined, label, shown_title

_MOST_FAILURES = 10
_STATES: Mapping[str, str] = {
    "waiting": "attached; its pages are read when others are done",
    "reading": "attached; its pages are being read",
    "done": "attached and read",
    "stopped": "attached; the reading was stopped, and what was read is stored",
    "failed": "attached, and not read",
}
_LEFT_OUT: Mapping[WhyLeftOut, str] = {
    "robots_disallowed": "forbidden by robots.txt",
    "unsupported_type": "of a kind that is not read",
    "crawler_trap": "of endlessly many addresses",
    "page_limit": "beyond the page limit",
    "outside": "outside of the section",
}


def preview_text(preview: SitePreview) -> str:
    """What is there."""
    least = "" if preview.is_complete else "at least "
    by = "the site's own map" if preview.counted_by == "map" else "its first links"
    lines = [
        f"{shown_title(preview.name)} — {preview.source}",
        f"Pages: {least}{preview.pages:,}, by {by}; language: {label(preview.language) or 'not clear'}",
        *(f"Left out: {counted(left.pages, 'page')} {_LEFT_OUT[left.reason]}" for left in preview.left_out),
        *(f"Note: {label(warning, 200)}" for warning in preview.warnings),
        *(["It is attached already."] if preview.attached else []),
    ]
    return joined(
        (
            ("PRESENTATION GUIDE", "Tell the user what is there, and ask whether to attach it. Nothing is stored yet."),
            ("SOURCES", "\n".join(lines)),
            ("FOLLOW-UP OPTIONS", "- ATTACH: `attach` without `look`, once the user agrees."),
        )
    )


def reading_text(reading: SiteReading) -> str:
    """How far it is."""
    listed = "" if reading.listed is None else f" of {reading.listed:,} in its map"
    failed = [f"- {failure.url}: {failure.words}" for failure in reading.failures[:_MOST_FAILURES]]
    return joined(
        (
            ("PRESENTATION GUIDE", "Tell the user how far it is, and what failed why."),
            ("SOURCES", f"{reading.source}: {_STATES[reading.state]}"),
            ("FAILED", "\n".join(failed)),
            ("STATS", f"Read: {reading.read:,}{listed}, failed: {reading.failed:,}, left out: {reading.left_out:,}"),
            ("FOLLOW-UP OPTIONS", "\n".join(_options(reading))),
        )
    )


def _options(reading: SiteReading) -> Iterator[str]:
    if reading.read:
        yield "- SEARCH: `search` reads the stored pages at once."
    if not reading.is_over:
        yield "- LATER: the reading goes on; `attach` with the same URL says how far it is then."
    if reading.problem is not None:
        yield f"- PROBLEM: {label(reading.problem, 200)}"
