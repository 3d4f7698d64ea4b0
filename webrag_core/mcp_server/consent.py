"""Ask the person behind the client whether addresses may be fetched, through the client's elicitation.

Up to protocol 2025-11-25 the server sends a request of its own and waits; from 2026-07-28 the question is the result of
the call, and the client calls again with the answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import anyio
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from webrag_core.errors import InvalidInputError
from webrag_core.mcp_server.address_guard import Doubt
from webrag_core.mcp_server.session_memory import SessionMemory
from webrag_core.showing.untrusted import defused

CONSENT_NEEDED = "consent_needed"
CONSENT_REFUSED = "consent_refused"

_ANSWER_SECONDS = 600.0
_KEY = "consent"
_YES_OR_NO: dict[str, Any] = {"type": "object", "properties": {}}
_MOST_SHOWN = 300


async def ask(
    context: Context[Any, Any], doubts: Sequence[Doubt], session: SessionMemory
) -> InputRequiredResult | None:
    """Return None when a person agrees to all `doubts`; a result to send when the client has to ask first.

    Raises InvalidInputError with code CONSENT_REFUSED when the person does not agree, CONSENT_NEEDED when nobody could
    be asked.
    """
    if not _can_ask(context):
        raise _refusal(doubts, session, CONSENT_NEEDED, "this client cannot ask its user (it lacks elicitation)")
    params = ElicitRequestFormParams(message=question(doubts, session), requested_schema=_YES_OR_NO)
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        question_id = hashlib.sha256(params.message.encode()).hexdigest()
        answer = (context.input_responses or {}).get(_KEY) if context.request_state == question_id else None
        if not isinstance(answer, ElicitResult):
            return InputRequiredResult(input_requests={_KEY: ElicitRequest(params=params)}, request_state=question_id)
    else:
        try:
            with anyio.fail_after(_ANSWER_SECONDS):
                answer = await context.session.elicit_form(params.message, _YES_OR_NO, context.request_id)
        except TimeoutError:
            raise _refusal(doubts, session, CONSENT_NEEDED, "nobody answered in time") from None
        except (MCPError, ValidationError):
            raise _refusal(doubts, session, CONSENT_NEEDED, "the client did not put the question") from None
    if answer.action == "accept":
        return None
    outcome = "the user said no" if answer.action == "decline" else "the user closed the question"
    raise _refusal(doubts, session, CONSENT_REFUSED, outcome)


def question(doubts: Sequence[Doubt], session: SessionMemory) -> str:
    """Write the question: each address as it would be fetched, and how far consent goes."""
    read = "has read" if session.is_session else "may have read"
    sites = ", ".join(dict.fromkeys(doubt.site for doubt in doubts))
    reach = (
        f"Consent admits {sites} for the rest of this session." if session.is_session else "Consent is for this call."
    )
    return "\n\n".join(
        [
            f"The model {read} page text, which can make it fetch an address that holds what you told it. Fetch this?",
            *(f"{defused(doubt.url)}\n({doubt.cause.value})" for doubt in doubts),
            f"{reach} Agree only to an address that you know.",
        ]
    )


def _can_ask(context: Context[Any, Any]) -> bool:
    capabilities = context.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    if elicitation is None or (elicitation.form is None and elicitation.url is not None):  # {} means form
        return False
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS or context.session.can_send_request


def _refusal(doubts: Sequence[Doubt], session: SessionMemory, code: str, outcome: str) -> InvalidInputError:
    first = doubts[0]
    shown = first.url if len(first.url) <= _MOST_SHOWN else f"{first.url[:_MOST_SHOWN]}…"
    more = f" (and {len(doubts) - 1} more)" if len(doubts) > 1 else ""
    read = (
        "this session has already read page text"
        if session.is_session
        else "this connection has no session, so page text may have been read before"
    )
    return InvalidInputError(
        f"{shown} is {first.cause.value}{more}; {read}, so a person has to agree, and {outcome}. It was not fetched.",
        code=code,
    )
