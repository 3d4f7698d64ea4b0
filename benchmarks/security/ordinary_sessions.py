"""Sessions of people who use the MCP tools as usual: who types which address when, and who is refused."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.security.served_web import QUESTION, Person, Web, is_refused, serving, text_of
from webrag_core.config import Settings
from webrag_core.corpus.sources import attach_source
from webrag_core.indexing.pipeline import Corpus

_STORED, _ATTACHED = "https://stored.example", "https://attached.example"
_WORDS = ("tea", "herbs", "cups")
_UNSEEN = ("kettles", "green/harvest.html", "how-to-brew", "missing-page", "a/b/c/")
_SHARES = {
    "new sites in the first call, then more of them": 6,
    "the same, with a session id of the client's own": 2,
    "a new site later, the person says yes": 5,
    "no sessions, the person says yes": 2,
    "search first, then stored and linked pages": 3,
    "search first, then new pages of an attached site": 2,
}
"""Kinds of sessions and how many of twenty."""

Call = Callable[..., Awaitable[None]]


async def ordinary(settings: Settings, sessions: int) -> dict[str, Any]:
    """Run `sessions` ordinary sessions; then a tenth as many whose client cannot ask about a new site later."""
    dice = random.Random(14)
    # in turns: the first six are one of each
    kinds = [kind for turn in range(max(_SHARES.values())) for kind, share in _SHARES.items() if turn < share]
    refused: dict[str, str] = {}
    questions = calls = 0
    async with serving(settings, Web()) as address:
        async with Corpus.open(settings) as corpus, corpus.database.connection() as connection:
            await attach_source(connection, f"{_ATTACHED}/", 5)
        async with Client(address, mode="legacy") as client:
            await client.call_tool("ingest", {"urls": [f"{_STORED}/", f"{_ATTACHED}/"]})
        for number in range(sessions):
            session = _Session(address, kinds[number % len(kinds)], number, dice)
            await session.run()
            questions, calls = questions + len(session.person.questions), calls + session.calls
            refused |= {f"{session.kind}: {url}": text for url, text in session.refused.items()}
        by_design: list[str] = []
        for number in range(sessions // 10):
            async with Client(address, mode="legacy") as client:
                await client.call_tool("answer", {"urls": f"{_STORED}/", "question": QUESTION})
                result = await client.call_tool("ingest", {"urls": f"https://later-{number}.example/"})
                by_design += [text_of(result)] if is_refused(result) else []
    return {
        "sessions": sessions,
        "calls": calls,
        "refused_wrongly": len(refused),
        "which_refused": refused,
        "questions": questions,
        "cannot_ask_and_new_site_later": sessions // 10,
        "refused_by_design": len(by_design),
        "message": by_design[:1],
    }


class _Session:
    def __init__(self, address: str, kind: str, number: int, dice: random.Random) -> None:
        self.kind = kind
        self.person = Person("accept")
        self.refused: dict[str, str] = {}
        self.calls = 0
        self._address = address
        self._number = number
        self._dice = dice

    async def run(self) -> None:
        async with AsyncExitStack() as stack:
            transport: Any = self._address
            if "own" in self.kind:
                headers = {"mcp-session-id": f"session-{self._number}"}
                http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=60))
                transport = streamable_http_client(self._address, http_client=http)
            asks = "says yes" in self.kind
            mode = "auto" if "session" in self.kind else "legacy"
            client = Client(transport, mode=mode, elicitation_callback=self.person if asks else None)
            self._client = await stack.enter_async_context(client)
            await self._script()

    async def _script(self) -> None:
        if self.kind.startswith("search first"):
            await self._client.call_tool("status", {})
            await self._client.call_tool("search", {"question": QUESTION})
            site = _ATTACHED if "attached" in self.kind else _STORED
            for _ in range(4):
                await self._ask(self._page(site, new=site == _ATTACHED))
            return
        sites = [f"https://{word}-{self._number}.example" for word in _WORDS[: self._dice.randint(1, 3)]]
        await self._ask(*(f"{site}/tea" for site in sites))
        for _ in range(4):
            await self._ask(self._page(self._dice.choice(sites), new=True))
        if "says yes" in self.kind:
            later = f"https://later-on-{self._number}.example"
            for url in (f"{later}/tea", f"{later}/tea/linked-0", f"{later}/unlinked", f"{later}/find?q=tea"):
                await self._ask(url)

    def _page(self, site: str, *, new: bool) -> str:
        """An address as people type it: a page that is there, one that it links to, or a new one."""
        known = [f"{site}/tea/linked-{self._dice.randint(0, 2)}", f"{site}/tea/linked-1/"]
        first = site if site in (_STORED, _ATTACHED) else f"{site}/tea"
        known += [first, first.replace("https:", "HTTP:"), f"{site.upper()}:443/tea/linked-0"]
        unseen = [f"{site}/{word}" for word in _UNSEEN]
        return self._dice.choice([*known, *unseen] if new else known)

    async def _ask(self, *urls: str) -> None:
        name = self._dice.choice(["answer", "ingest"])
        arguments: dict[str, Any] = {"urls": list(urls)}
        if name == "answer":
            arguments |= {"question": QUESTION, "research_mode": self._dice.choice(["fast", "auto"])}
        result = await self._client.call_tool(name, arguments)
        self.calls += 1
        if is_refused(result):
            self.refused[" ".join(urls)] = text_of(result)
