"""Counts, times and reasons as people read them on the pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from webrag_core.corpus.source_pages import PageState
from webrag_core.errors import Reason
from webrag_core.language.names import language_name
from webrag_core.retrieval.request import DocumentType

STATES: dict[PageState, str] = {
    "ready": "searchable",
    "failed": "failed",
    "gone": "gone",
    "skipped": "left out",
    "queued": "waiting",
    "running": "being read",
}
"""States of pages in words."""
TYPES: dict[DocumentType, str] = {
    "html": "web pages",
    "pdf": "PDF",
    "office": "office files",
    "text": "plain text",
}
"""Kinds of pages in words."""
FLAGS: dict[str, str] = {
    "code": "code",
    "table": "a table",
    "steps": "steps",
    "math": "formulas",
    "image": "an image",
    "definition_list": "definitions",
    "admonition": "a note or warning",
}
"""What passages may hold, in words."""
_REASONS: dict[str, str] = {
    Reason.INVALID_URL: "no valid web address",
    Reason.BLOCKED_ADDRESS: "an address that is not public",
    Reason.DNS_FAILURE: "the host's name is unknown",
    Reason.CONNECT_FAILURE: "the host could not be reached",
    Reason.TLS_FAILURE: "no safe connection to the host (TLS)",
    Reason.TIMEOUT: "the host took too long",
    Reason.TOO_LARGE: "larger than the limit",
    Reason.BAD_RESPONSE: "an answer that is no valid HTTP",
    Reason.TOO_MANY_REDIRECTS: "too many redirects",
    Reason.NOT_FOUND: "not found (404 or 410)",
    Reason.HTTP_STATUS: "the host refused it, or had an error",
    Reason.RATE_LIMITED: "too many requests for the host",
    Reason.ROBOTS_DISALLOWED: "robots.txt does not allow it",
    Reason.CRAWLER_TRAP: "looks like an endless row of pages",
    Reason.PROVIDER_FAILED: "the fetching service failed",
    Reason.UNSUPPORTED_TYPE: "not a web page, PDF, office file or text",
    Reason.EMPTY_PAGE: "no text on it",
    Reason.NEEDS_SCRIPT: "its text is built by scripts, which are not run",
    Reason.SOFT_404: "says that there is no such page",
    Reason.NEAR_EMPTY: "hardly any text on it",
    Reason.PAGE_LIMIT: "beyond the page limit",
    Reason.PARSE_FAILURE: "its text could not be read",
    Reason.FORGOTTEN: "removed on request",
}
_UNITS = (
    ("year", timedelta(days=365)),
    ("month", timedelta(days=30)),
    ("day", timedelta(days=1)),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
)


def reason_text(code: str) -> str:
    """Why a page has no (new) text, in words."""
    return _REASONS.get(code, code.replace("_", " "))


def language_text(tag: str) -> str:
    """A language by its English name, with the tag where it is more than a language: English (en-gb)."""
    if not tag:
        return "not clear"
    name = language_name(tag.partition("-")[0])
    return f"{name} ({tag})" if "-" in tag else name


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    """`1 page`, `1,200 pages`; `nouns` where the plural has more than an s."""
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def ago(moment: datetime, now: datetime | None = None) -> str:
    """How long ago, in its largest unit: `3 days ago`; of what lies ahead `in 3 days`."""
    distance = (now or datetime.now(UTC)) - moment
    for unit, length in _UNITS:
        number = abs(distance) // length
        if number:
            return f"{counted(number, unit)} ago" if distance > timedelta(0) else f"in {counted(number, unit)}"
    return "just now" if distance >= timedelta(0) else "in a moment"
