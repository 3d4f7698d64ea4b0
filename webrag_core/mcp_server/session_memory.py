"""What an MCP session asked for and was shown. One memory for each session, never one for all clients."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER

from webrag_core.acquisition.urls import source_key
from webrag_core.mcp_server.shown_addresses import ShownAddresses

_MOST_SESSIONS = 1_000  # the server ends idle ones long before


class SessionMemory:
    """URLs and sites that a person chose in a session, and the page text that it was shown.

    `is_session` False: the transport does not tell sessions apart, so page text may have been read before any call.
    """

    def __init__(self, *, is_session: bool = True) -> None:
        self.is_session = is_session
        self.text_shown = not is_session
        self.chosen_sites: set[str] = set()
        self.chosen_urls: set[str] = set()
        self.addresses = ShownAddresses()

    def choose(self, urls: Iterable[str]) -> None:
        """Record that a person chose canonical `urls`, and with them their sites."""
        for url in urls:
            self.chosen_urls.add(url)
            self.chosen_sites.add(source_key(url))

    def show(self, texts: Iterable[str]) -> None:
        """Record that page text goes out, and the addresses in it."""
        self.text_shown = True
        self.addresses.add(texts)


class SessionMemories:
    """The memories of one server's sessions.

    Over stdio a process is one session. Over HTTP the session id tells them apart; a request without one (protocol
    2026-07-28 has none) gets a memory of its own that counts as having been shown page text.
    """

    def __init__(self) -> None:
        self._own = SessionMemory()
        self._by_id: OrderedDict[str, SessionMemory] = OrderedDict()

    def of(self, context: Context[Any, Any]) -> SessionMemory:
        """Return the memory of the session that a call belongs to."""
        headers = context.headers
        if headers is None:
            return self._own
        # a header is no proof of identity, but a page cannot choose it, and pages are what is guarded against
        session_id = headers.get(MCP_SESSION_ID_HEADER)
        if session_id is None:
            return SessionMemory(is_session=False)
        memory = self._by_id.setdefault(session_id, SessionMemory())
        self._by_id.move_to_end(session_id)
        if len(self._by_id) > _MOST_SESSIONS:
            self._by_id.popitem(last=False)
        return memory
