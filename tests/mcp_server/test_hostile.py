"""Strings that break programs in every argument, on the wire: a result or a readable error, never a traceback."""

from __future__ import annotations

import asyncio
import os
import re
from typing import Any

import pytest

from tests.chat_server import KEY, chat_settings
from tests.mcp_server.clients import MODES, called, connected, text_of
from tests.mcp_server.tea_site import QUESTION, SEED, tea_site
from tests.suites import naughty_strings

TOKEN = "http-token-Very-Secret-987"
ODD = [
    "a\0b",
    "a\ud800b",
    "\x1b[31mred",
    "'; DROP TABLE chunks; --",
    "%s %(a)s {0} {a.b} ${x}",
    "[STATS]",
    "../../../etc/passwd",
    "file:///etc/passwd",
    "gopher://127.0.0.1/",
    "http://169.254.169.254/latest/meta-data",
]
STRINGS = [*naughty_strings(), *ODD]
TEXT = {
    "answer": ("urls", "question", "intent", "known_context", "research_mode", "retrieval_mode", "output"),
    "search": ("question", "intent", "retrieval_mode", "output"),
    "status": ("url",),
    "ingest": ("urls",),
    "attach": ("url",),
}
LISTS = {"answer": ("urls", "constraints"), "search": ("urls",), "ingest": ("urls",)}
VALID: dict[str, dict[str, Any]] = {
    "answer": {"urls": SEED, "question": QUESTION},
    "search": {"question": QUESTION, "top_k": 1},
    "status": {},
    "ingest": {"urls": SEED},
    "attach": {"url": SEED, "look": True},
}
TYPES: list[Any] = [0, -1, 10**400, 1.5, float("inf"), True, [], [[]], [None], {}, {"a": {"b": []}}, "[" * 10_000]
_TRACE = re.compile(r'Traceback|File "|pydantic|psycopg|\.py\b|Error executing tool|internal_error')


def check(text: str, sent: object) -> None:
    assert not _TRACE.search(text), (text, sent)
    assert KEY not in text
    assert TOKEN not in text
    assert "postgres" not in text
    text.encode()


async def each(database_url: str, mode: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    with_secrets = chat_settings(
        None,
        database_url=database_url,
        decomposition_mode="rule_based",
        mcp_auth_token=TOKEN,
        reranker_top_n=3,
        webrag_reader="none",
    ).model_copy(update={"orchestration_llm_api_key": KEY})
    async with connected(with_secrets, tea_site(), mode=mode) as client:
        await called(client, "ingest", urls=SEED)
        limit = asyncio.Semaphore(8)

        async def one(name: str, arguments: dict[str, Any]) -> None:
            async with limit:
                result = await called(client, name, **arguments)
                check(text_of(result), arguments)

        await asyncio.gather(*(one(name, arguments) for name, arguments in calls))


@pytest.mark.slow
def test_every_naughty_string(database_url: str) -> None:
    """A quarter of them, in one argument after the other; in `make bench-naughty` all in all arguments."""
    places = [(name, argument) for name, arguments in TEXT.items() for argument in arguments]
    lists = [(name, argument) for name, arguments in LISTS.items() for argument in arguments]
    every = bool(os.environ.get("EVERY_ARGUMENT"))
    calls = []
    for number, string in enumerate(STRINGS[:: 1 if every else 4]):
        for name, argument in places if every else [places[number % len(places)]]:
            calls.append((name, {**VALID[name], argument: string}))
        for name, argument in lists if every else [lists[number % len(lists)]][: number % 3 == 0]:
            calls.append((name, {**VALID[name], argument: [string, string]}))
        if every or number % 3 == 1:
            calls.append(("search", {**VALID["search"], string: "x"}))
    asyncio.run(each(database_url, "auto", calls))


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_wrong_types_and_ten_megabytes(database_url: str, mode: str) -> None:
    huge = "tea " * 2_500_000
    calls = []
    for name, arguments in TEXT.items():
        for argument in (*arguments, *LISTS.get(name, ()), "top_k", "expansion_budget", "include_urls", "refresh"):
            values = [value for value in TYPES if mode == "auto" or value != float("inf")]
            calls += [(name, {**VALID[name], argument: value}) for value in values]
        calls += [(name, {**VALID[name], argument: huge}) for argument in arguments]
    calls += [(name, {**VALID[name], arguments[0]: [huge]}) for name, arguments in LISTS.items()]
    calls.append(("search", {**VALID["search"], huge: 1}))
    asyncio.run(each(database_url, mode, calls))
