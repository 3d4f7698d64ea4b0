"""Typed errors. Every failure a user can meet is one of these, with a reason code from a closed list."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum


class Reason(StrEnum):
    """Why a URL has no (new) content. Stored in the coverage ledger and on documents."""

    INVALID_URL = "invalid_url"
    BLOCKED_ADDRESS = "blocked_address"
    DNS_FAILURE = "dns_failure"
    CONNECT_FAILURE = "connect_failure"
    TLS_FAILURE = "tls_failure"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    BAD_RESPONSE = "bad_response"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    NOT_FOUND = "not_found"
    NOT_ARCHIVED = "not_archived"
    HTTP_STATUS = "http_status"
    RATE_LIMITED = "rate_limited"
    SESSION_ENDED = "session_ended"
    ROBOTS_DISALLOWED = "robots_disallowed"
    CRAWLER_TRAP = "crawler_trap"
    PROVIDER_FAILED = "provider_failed"
    UNSUPPORTED_TYPE = "unsupported_type"
    EMPTY_PAGE = "empty_page"
    NEEDS_SCRIPT = "needs_script"
    SOFT_404 = "soft_404"
    WALL = "wall"
    NOTICE = "notice"
    NEAR_EMPTY = "near_empty"
    HELD_BACK = "held_back"
    PAGE_LIMIT = "page_limit"
    PARSE_FAILURE = "parse_failure"
    INTERNAL_ERROR = "internal_error"
    FORGOTTEN = "forgotten"

    @property
    def words(self) -> str:
        """The reason for people, to stand after "failed:"."""
        return _REASON_WORDS[self]


_REASON_WORDS = {
    Reason.INVALID_URL: "no usable address",
    Reason.BLOCKED_ADDRESS: "not a public address",
    Reason.DNS_FAILURE: "the host name has no address",
    Reason.CONNECT_FAILURE: "the host could not be reached",
    Reason.TLS_FAILURE: "no trusted connection to the host",
    Reason.TIMEOUT: "no answer in time",
    Reason.TOO_LARGE: "too large",
    Reason.BAD_RESPONSE: "a broken response",
    Reason.TOO_MANY_REDIRECTS: "too many redirects",
    Reason.NOT_FOUND: "not there",
    Reason.NOT_ARCHIVED: "its site is not in the archive that is read",
    Reason.HTTP_STATUS: "the site answered with an error",
    Reason.RATE_LIMITED: "too many requests for the site",
    Reason.SESSION_ENDED: "its log-in is not accepted any more",
    Reason.ROBOTS_DISALLOWED: "forbidden by robots.txt",
    Reason.CRAWLER_TRAP: "one of endlessly many addresses",
    Reason.PROVIDER_FAILED: "a provider failed",
    Reason.UNSUPPORTED_TYPE: "a kind of file that is not read",
    Reason.EMPTY_PAGE: "without text",
    Reason.NEEDS_SCRIPT: "without text unless scripts run",
    Reason.SOFT_404: "an error page",
    Reason.WALL: "a wall before the page",
    Reason.NOTICE: "a notice in place of the page",
    Reason.NEAR_EMPTY: "hardly any text",
    Reason.HELD_BACK: "a new text that is held back",
    Reason.PAGE_LIMIT: "beyond the page limit",
    Reason.PARSE_FAILURE: "could not be converted",
    Reason.INTERNAL_ERROR: "an error of this program, which its log has",
    Reason.FORGOTTEN: "forgotten on request",
}


class WebragError(Exception):
    """Base of all errors of this package.

    `code` is stable and machine readable; the message is for people and holds no secrets. `retry_at` is set where a
    dependency was not asked, because it failed again and again: the next time that it is.
    """

    code: str = "error"
    exit_code: int = 1
    retry_at: datetime | None = None

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class InvalidInputError(WebragError):
    """The caller asked for something that cannot be meant: empty query, negative budget, malformed URL."""

    code = "invalid_input"
    exit_code = 2


class BusyError(WebragError):
    """Too many others are at work or waiting."""

    code = "busy"


class AddressInUseError(InvalidInputError):
    """Another program listens where a server is to listen. The message says what to do."""

    code = "address_in_use"


class NotStoredError(InvalidInputError):
    """The caller names something that is not stored: an answer, a page, a source."""


class OutOfReachError(WebragError):
    """The token of a request reads some sources alone, and this is of another one, or of none."""

    code = "out_of_reach"


class MissingExtraError(InvalidInputError):
    """A command or setting needs an extra of the package that is not installed. The message says how to install it."""

    code = "missing_extra"


class PluginError(InvalidInputError):
    """A plugin cannot be used: it is broken, or two packages have its name. The message names the entry point."""

    code = "bad_plugin"


class UnsupportedPlatformError(WebragError, ImportError):
    """This system is not one that WebRAG runs on. Raised by the import of the package."""

    code = "unsupported_platform"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.name = "webrag_core"


class FetchError(WebragError):
    """Fetching a URL failed. `status` is the HTTP status when there was one.

    `earlier`: it was not asked now, because it failed a short time ago.
    """

    def __init__(self, reason: Reason, message: str, *, status: int | None = None, earlier: bool = False) -> None:
        super().__init__(message, code=reason.value)
        self.reason = reason
        if reason is Reason.INVALID_URL:
            self.exit_code = 2
        self.status = status
        self.earlier = earlier

    @property
    def with_status(self) -> str:
        """The message, with the HTTP status unless it is part of it."""
        status = "" if self.status is None or str(self.status) in self.message else f" (HTTP {self.status})"
        return f"{self.message}{status}"

    @property
    def transient(self) -> bool:
        """True when asking again soon may help: the way to the page failed, or the server says that it is its own
        trouble. False for what the page or its site said about the page.
        """
        if self.reason in (Reason.HTTP_STATUS, Reason.WALL, Reason.NOTICE):
            return self.status is not None and (self.status >= 500 or self.status in (408, 425, 429))
        return self.reason in _TRANSIENT


_TRANSIENT = frozenset(
    {
        Reason.DNS_FAILURE,
        Reason.CONNECT_FAILURE,
        Reason.TIMEOUT,
        Reason.BAD_RESPONSE,
        Reason.RATE_LIMITED,
        Reason.PROVIDER_FAILED,
    }
)


class StoreError(WebragError):
    """The database cannot be reached or is not what it should be."""

    code = "database_unavailable"


class IntegrityError(WebragError):
    """An invariant of the stored corpus does not hold. Nothing was written."""

    code = "integrity"


class EmbeddingError(WebragError):
    """The embedding model failed or gave vectors of the wrong number, length or value.

    `transient`: the endpoint may be down or overloaded, and give the vectors later.
    """

    code = "embedding_failed"
    transient: bool = False


class RerankError(WebragError):
    """A reranking provider failed or answered something that is no ranking. The caller can rank without it.

    `refused`: it does not serve who asks (key, credits, rights), so that asking again is of no use.
    """

    code = "rerank_failed"
    refused: bool = False

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(f"{provider}: {reason}")
        self.provider = provider
        self.reason = reason


class ReadingModelError(WebragError):
    """The reading model is not installed, or its file is not the expected one. The caller can judge without it."""

    code = "reading_model_unavailable"


class ChatError(WebragError):
    """A chat model failed, refused or answered something else than was asked for. The caller can do without it."""

    code = "chat_failed"

    def __init__(self, model: str, reason: str) -> None:
        super().__init__(f"{model}: {reason}")
        self.model = model
        self.reason = reason


class AgentsFailedError(WebragError):
    """Every task of a plan was lost. The message names each reason."""

    code = "agents_failed"


class GuardrailsViolationError(WebragError):
    """A question or an answer is not let through. `stage` is where (input, output), `reason` why, `safe_reply` what a
    person can be told instead."""

    code = "blocked"
    exit_code = 2

    def __init__(self, stage: str, reason: str, safe_reply: str) -> None:
        super().__init__(f"{reason}. {safe_reply}")
        self.stage = stage
        self.reason = reason
        self.safe_reply = safe_reply
