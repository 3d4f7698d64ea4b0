"""Whether a site behind a log-in still takes it: a page to log in on is a failure of the session, and no page."""

from __future__ import annotations

import re

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.logins import leads_to_a_log_in
from webrag_core.acquisition.urls import source_key
from webrag_core.errors import FetchError, Reason

_PASSWORD = re.compile(rb"<input\b[^<>]{0,2000}?\btype\s*=\s*[\"']?password\b", re.IGNORECASE)
_HIDDEN = re.compile(rb"<(script|style)\b[^<>]*>[^<]*(?:<(?!/\1)[^<]*)*", re.IGNORECASE)
_TAG = re.compile(rb"<[^<>]*>")
_READ_BYTES = 256 * 1024
_MAX_WORDS = 200
"""A page with more of them beside a field for a password shows its content."""


def check_session(page: AcquiredPage) -> None:
    """For a page of a site whose log-in was sent. Raises FetchError(SESSION_ENDED) where it leads to a log-in."""
    if leads_to_a_log_in(page.final_url) and not leads_to_a_log_in(page.url):
        raise session_ended(page.url, "it redirects to a page to log in on", page.status)
    head = page.body[:_READ_BYTES]
    if "html" in page.media_type and _PASSWORD.search(head) and len(page.body) <= _READ_BYTES:
        words = _TAG.sub(b" ", _HIDDEN.sub(b" ", head)).split()
        if len(words) < _MAX_WORDS:
            raise session_ended(page.url, "it shows a form to log in on", page.status)


def session_ended(url: str, seen: str, status: int | None) -> FetchError:
    """The failure of a site whose log-in is not accepted; `seen` says how that shows."""
    message = f"the log-in for {source_key(url)} is not accepted any more: {seen}; renew it in WEBRAG_LOGINS"
    return FetchError(Reason.SESSION_ENDED, message, status=status)
