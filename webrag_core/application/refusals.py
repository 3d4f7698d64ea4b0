"""How every door over HTTP says that it did not do what was requested: a status, and a body of one shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webrag_core.application.failure_words import DEFECT, failure_words
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
from webrag_core.retrieval.models import Contract


class Problem(Contract):
    """`code` is stable, for programs; `message` is for people."""

    code: str
    message: str


class ErrorReply(Contract):
    """The body of every response that is no success, and the data of the event `error`."""

    error: Problem


@dataclass(frozen=True, slots=True)
class Refusal:
    """A response that is no success. `headers` are those beside the ones that its status always has."""

    status: int
    code: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, error: Exception) -> Refusal:
        """What an error means to whoever sent the request. The message holds no path of this machine; that of an error
        which nobody foresaw says nothing."""
        if isinstance(error, RefusedError):
            return error.refusal
        if isinstance(error, HTTPException):  # of the router
            code = _CODE_OF_STATUS.get(error.status_code, "http_error")
            return cls(error.status_code, code, error.detail, error.headers or {})
        if isinstance(error, WebragError):
            return cls(_status_of(error), _code_of(error), failure_words(error))
        return cls(500, "internal_error", DEFECT)

    @property
    def reply(self) -> ErrorReply:
        """The body."""
        return ErrorReply(error=Problem(code=self.code, message=self.message))

    @property
    def all_headers(self) -> dict[str, str]:
        """The headers of a response with this status."""
        return {**_HEADERS_OF_STATUS.get(self.status, {}), **self.headers}

    def response(self) -> Response:
        """The response to a program."""
        return Response(self.reply.model_dump_json(), self.status, self.all_headers, media_type="application/json")


class RefusedError(Exception):
    """A request is refused for what it is, not for what came of it. A handler of the application sends the refusal."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


UNAUTHORIZED = Refusal(401, "unauthorized", "send the server's token as Authorization: Bearer TOKEN")

MEANINGS: Mapping[int, str] = MappingProxyType(
    {
        400: "The request cannot be meant",
        401: "The token is missing or wrong",
        403: "Not allowed here",
        404: "Not stored, or no such path",
        405: "Another method is needed",
        413: "The body is too large",
        414: "The path is too long",
        415: "The body is of another type",
        421: "The server does not answer to this host name",
        422: "The question is not let through, or the page cannot be used",
        500: "An internal error",
        502: "A page could not be fetched",
        503: "Too many requests, or something that is needed is not there now; Retry-After says when to come again",
        504: "Not done in time",
    }
)
"""The statuses of refusals, described."""

_HEADERS_OF_STATUS: Mapping[int, Mapping[str, str]] = {
    401: {"WWW-Authenticate": 'Bearer realm="webrag"'},
    503: {"Retry-After": "30"},
}
_CODE_OF_STATUS: Mapping[int, str] = {400: "invalid_input", 404: "unknown_path", 405: "method_not_allowed"}
_STATUS_OF_CODE: Mapping[str, int] = {
    "busy": 503,
    "timeout": 504,
    "stopped": 503,
    "forbidden": 403,
    "out_of_reach": 403,
    Reason.INVALID_URL: 400,
    Reason.BLOCKED_ADDRESS: 403,
    Reason.ROBOTS_DISALLOWED: 403,
    Reason.RATE_LIMITED: 503,
    # the page is there or not, and cannot be used: asking again does not help
    **dict.fromkeys(
        (
            Reason.NOT_FOUND,
            Reason.NOT_ARCHIVED,
            Reason.SOFT_404,
            Reason.HTTP_STATUS,
            Reason.SESSION_ENDED,
            Reason.UNSUPPORTED_TYPE,
            Reason.TOO_LARGE,
            Reason.EMPTY_PAGE,
            Reason.WALL,
            Reason.NOTICE,
            Reason.NEAR_EMPTY,
            Reason.HELD_BACK,
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


def _status_of(error: WebragError) -> int:
    if error.code in _STATUS_OF_CODE:
        return _STATUS_OF_CODE[error.code]
    return next((status for kind, status in _STATUS_OF_CLASS if isinstance(error, kind)), 500)


def _code_of(error: WebragError) -> str:
    """The error's code; what is not stored has one of its own here."""
    return "not_stored" if isinstance(error, NotStoredError) else error.code
