"""What a token lets its holder do, at every face that is reached over HTTP."""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from webrag_core.application.reach import Reach
from webrag_core.application.refusals import Refusal
from webrag_core.config import Settings
from webrag_core.source_tokens import SourceTokens, digest

READ_ONLY = Refusal(403, "read_only", "this token reads what is stored; it asks, fetches and judges nothing")


@dataclass(frozen=True, slots=True)
class Access:
    """What a holder may do: whether start and store, and what to read."""

    writes: bool
    reach: Reach


def narrowed(app: ASGIApp, reach: Reach) -> ASGIApp:
    """`app`, whose handlers see the reach of the request."""

    async def within(scope: Scope, receive: Receive, send: Send) -> None:
        await app(reach.put(scope), receive, send)

    return within


class Tokens:
    """The tokens of one server, known by their digests."""

    def __init__(self, settings: Settings) -> None:
        self._fixed: dict[str, Access] = {}
        for token, writes in ((settings.mcp_read_token, False), (settings.mcp_auth_token, True)):
            if token is not None:
                self._fixed[digest(token.get_secret_value().encode())] = Access(writes, Reach())
        self._of_sources = SourceTokens(settings.webrag_home)

    @classmethod
    def of(cls, settings: Settings) -> Tokens | None:
        """Those of a server with these settings; None where everybody who reaches it may do everything."""
        return None if settings.mcp_auth_token is None else cls(settings)

    def access(self, sha256: str) -> Access | None:
        """What the token with this digest lets its holder do now, compared in constant time; None = nothing."""
        known = [(token.sha256, Access(False, Reach(token.sources))) for token in self._of_sources.current()]
        matching = [access for other, access in (*self._fixed.items(), *known) if hmac.compare_digest(sha256, other)]
        return matching[0] if matching else None
