"""What an error means to whoever asks over HTTP: a status, and a message that holds no path of this machine."""

from __future__ import annotations

from collections.abc import Mapping

from webrag_core.errors import (
    AgentsFailedError,
    ChatError,
    EmbeddingError,
    FetchError,
    GuardrailsViolationError,
    InvalidInputError,
    NotStoredError,
    ReadingModelError,
    Reason,
    RerankError,
    StoreError,
    WebragError,
)
from webrag_core.page_text import one_line

LONGEST_MESSAGE = 600
DEFECT = "an internal error; the server's log says more"

_STATUS_OF_CODE: Mapping[str, int] = {
    "busy": 503,
    "timeout": 504,
    "stopped": 503,
    "forbidden": 403,
    Reason.INVALID_URL: 400,
    Reason.BLOCKED_ADDRESS: 403,
    Reason.ROBOTS_DISALLOWED: 403,
    Reason.RATE_LIMITED: 503,
    # the page is there or not, and cannot be used: asking again does not help
    **dict.fromkeys(
        (
            Reason.NOT_FOUND,
            Reason.SOFT_404,
            Reason.HTTP_STATUS,
            Reason.UNSUPPORTED_TYPE,
            Reason.TOO_LARGE,
            Reason.EMPTY_PAGE,
            Reason.NEAR_EMPTY,
            Reason.NEEDS_SCRIPT,
            Reason.PARSE_FAILURE,
            Reason.PAGE_LIMIT,
            Reason.CRAWLER_TRAP,
            Reason.FORGOTTEN,
        ),
        422,
    ),
}
_STATUS_OF_CLASS: tuple[tuple[type[WebragError], int], ...] = (
    (NotStoredError, 404),
    (InvalidInputError, 400),
    (GuardrailsViolationError, 422),
    (FetchError, 502),
    (AgentsFailedError, 502),
    (StoreError, 503),
    (EmbeddingError, 503),
    (RerankError, 503),
    (ChatError, 503),
    (ReadingModelError, 503),
)
"""For errors whose code is not in the table; 500 for all others."""

_STORE = "the database cannot be used now; the server's log says why"
_STORE_MESSAGES: Mapping[str, str] = {
    "database_busy": "the database is busy; ask again in a minute",
    "disk_full": "the disk of the database is full",
    "database_read_only": "the database is read-only now",
}


def status_of(error: WebragError) -> int:
    """The HTTP status of an error of the core."""
    if error.code in _STATUS_OF_CODE:
        return _STATUS_OF_CODE[error.code]
    return next((status for kind, status in _STATUS_OF_CLASS if isinstance(error, kind)), 500)


def code_of(error: WebragError) -> str:
    """The error's code; what is not stored has one of its own here."""
    return "not_stored" if isinstance(error, NotStoredError) else error.code


def message_of(error: WebragError) -> str:
    """The message in one line of visible characters. What the database says stays in the log: it names folders."""
    if isinstance(error, StoreError):
        return _STORE_MESSAGES.get(error.code, _STORE)
    message = one_line(error.message)
    if isinstance(error, NotStoredError):
        message = message.partition("; `webrag ")[0]  # the way out on the command line
    return message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 1]}…"
