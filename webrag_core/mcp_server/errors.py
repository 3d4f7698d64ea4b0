"""Format failures for a model: description, likely causes, next action, and no answer from memory."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_types import CallToolResult, TextContent

from webrag_core.errors import FetchError, InvalidInputError, OutOfReachError, Reason, StoreError, WebragError
from webrag_core.mcp_server.address_guard import SITE_NOT_ALLOWED
from webrag_core.mcp_server.consent import CONSENT_NEEDED, CONSENT_REFUSED
from webrag_core.page_text import one_line

NOT_FROM_MEMORY = "Do not answer the question from memory."
_TELL = "Tell the user that this failed. "
_LONGEST = 600

_UNREACHABLE = ("the address is misspelt", "the site is down or slow", "this machine cannot reach it")
_CAUSES: dict[str, Sequence[str]] = {
    Reason.INVALID_URL: ("the URL is incomplete or misspelt", "it is not an http or https address"),
    Reason.BLOCKED_ADDRESS: ("the address is not on the public internet", "it names a private or reserved network"),
    Reason.DNS_FAILURE: _UNREACHABLE,
    Reason.CONNECT_FAILURE: _UNREACHABLE,
    Reason.TLS_FAILURE: ("the site's certificate is not valid", "the certificate is for another name"),
    Reason.TIMEOUT: ("the site is slow", "the page is very large"),
    Reason.NOT_FOUND: ("the page was moved or deleted", "the URL is misspelt"),
    Reason.NOT_ARCHIVED: ("this server reads an archive of some sites alone", "the address is misspelt"),
    Reason.SOFT_404: ("the page was moved or deleted", "the site shows another page instead"),
    Reason.HTTP_STATUS: ("the site refuses or fails", "the page needs a login"),
    Reason.SESSION_ENDED: ("the log-in that the operator gave for the site has expired",),
    Reason.RATE_LIMITED: ("too many requests to the site",),
    Reason.ROBOTS_DISALLOWED: ("the site's robots.txt disallows this page",),
    Reason.EMPTY_PAGE: ("the page has no text",),
    Reason.NEEDS_SCRIPT: ("the page builds its text with scripts, which are not run",),
    Reason.WALL: (
        "the site asks visitors to log in, to consent or to prove that they are people",
        "it limits requests",
    ),
    Reason.NOTICE: ("the site is down for maintenance or broken", "the site was shut or is not open yet"),
    Reason.NEAR_EMPTY: ("the page builds its text with scripts", "it has hardly any text"),
    Reason.HELD_BACK: ("the page lost most of its text, or shows the same as other pages of its site",),
    Reason.UNSUPPORTED_TYPE: ("the URL is not a web page, PDF, office file or text", "the file needs a password"),
    Reason.TOO_LARGE: ("the page exceeds the size limit",),
    CONSENT_NEEDED: (),
    CONSENT_REFUSED: (),
    SITE_NOT_ALLOWED: ("the operator of this server allows only some sites",),
    OutOfReachError.code: ("the token of this session reads some sources alone",),
    StoreError.code: ("the database is down or starting", "DATABASE_URL is wrong or lacks rights"),
    "database_busy": ("another program holds a lock in the database", "the database is overloaded"),
    "disk_full": ("the disk of the database is full",),
}
_PERMANENT = (
    Reason.NOT_FOUND,
    Reason.NOT_ARCHIVED,
    Reason.SOFT_404,
    Reason.DNS_FAILURE,
    Reason.HTTP_STATUS,
    Reason.EMPTY_PAGE,
    Reason.NEEDS_SCRIPT,
    Reason.WALL,
    Reason.NEAR_EMPTY,
    Reason.HELD_BACK,
    Reason.UNSUPPORTED_TYPE,
    Reason.TOO_LARGE,
)
_ACTIONS: dict[str, str] = {
    Reason.INVALID_URL: "Call again with a complete URL, such as https://host/page.",
    Reason.BLOCKED_ADDRESS: "Ask the user for a public URL.",
    Reason.SESSION_ENDED: "Tell the user; only the operator can renew the log-in (WEBRAG_LOGINS).",
    Reason.ROBOTS_DISALLOWED: "Ask the user for another page.",
    Reason.RATE_LIMITED: "Wait a minute, then call again.",
    Reason.NOTICE: "Call again later, or call `search` on the stored pages.",
    Reason.TIMEOUT: "Call again once; if it fails again, ask the user for another page.",
    CONSENT_NEEDED: "Show the address to the user. If they want it, they can run `webrag ingest URL` for the page or"
    " `webrag source add URL` for its site, list the site in MCP_ADMITTED_SITES (MCP_ALLOWED_SITES refuses all others),"
    " or set MCP_CONSENT=new-sites.",
    CONSENT_REFUSED: "Do not ask for this address again; go on with what is stored.",
    SITE_NOT_ALLOWED: "Tell the user; only the operator can allow the site.",
    OutOfReachError.code: "Go on with `search` and with `history` of pages of those sources, or tell the user.",
    StoreError.code: "Call again in a moment; if it fails again, ask the user to check the database.",
    "database_busy": "Call again in a minute; if it fails again, ask the user what else uses the database.",
    "disk_full": "Ask the user to free space on the disk.",
    InvalidInputError.code: "Correct the argument and call again; if you cannot, tell the user.",
    **dict.fromkeys(_PERMANENT, "Ask the user for another URL, or call `search` on the stored pages."),
}
_OTHER_CAUSES = ("a page or service answered in an unexpected way", "an internal error; see WebRAG's log on stderr")
_OTHER_ACTION = "Call again once; if it fails again, try another URL or ask the user."


def failure(code: str, what: str, causes: Sequence[str] = (), action: str | None = None) -> CallToolResult:
    """Build an error result. `what` is one sentence without secrets."""
    likely = causes or _CAUSES.get(code, () if code == InvalidInputError.code else _OTHER_CAUSES)
    message = one_line(what)
    lines = [f"[ERROR] {code}", f"What happened: {message if len(message) <= _LONGEST else message[:_LONGEST] + '…'}"]
    if likely:
        lines.append(f"Likely causes: {'; '.join(likely)}.")
    correctable = code == InvalidInputError.code
    lines += [
        f"What to do: {action or _ACTIONS.get(code, _OTHER_ACTION)}",
        NOT_FROM_MEMORY if correctable else _TELL + NOT_FROM_MEMORY,
    ]
    return CallToolResult(content=[TextContent(type="text", text="\n".join(lines))], is_error=True)


def of_error(error: WebragError) -> CallToolResult:
    """Convert a typed error of the core."""
    if isinstance(error, FetchError):
        status = f" (HTTP {error.status})" if error.status else ""
        return failure(error.reason.value, f"The page could not be fetched{status}: {error.message}")
    return failure(error.code, error.message)


def with_way(error: WebragError) -> str:
    """What happened and what to do, for a result that goes on without."""
    return f"{one_line(error.message)} {_ACTIONS.get(error.code, _OTHER_ACTION)}"


def of_timeout(seconds: float) -> CallToolResult:
    """Report a call that exceeded MCP_TOOL_TIMEOUT without a result."""
    return failure(
        "timeout",
        f"The call timed out after {seconds:g} s. Pages fetched so far are stored.",
        ("the site is slow", "the question needed many pages"),
        'Call `search` on the stored pages, or `answer` again with research_mode="fast" or a narrower URL.',
    )


def of_defect() -> CallToolResult:
    """Report an internal error; details are in the log."""
    return failure("internal_error", "WebRAG failed while working on this call.")
