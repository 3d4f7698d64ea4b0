"""Trace ids: one for all that a call does, whoever began it; never told to a page."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import psycopg
import pytest

from tests.answering.test_manager import QUESTION, QUEUES
from tests.chat_server import KEY, said
from tests.mcp_server.clients import connected
from tests.mcp_server.tea_site import QUESTION as TEA
from tests.mcp_server.tea_site import SEED, tea_settings, tea_site
from tests.provider_server import serving
from webrag_core.answering.manager import Manager, Question
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.providers.chat import ChatEndpoint, Message
from webrag_core.trace import TraceFilter, current_trace_id, span, traced, traceparent

ID = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{ID}-00f067aa0ba902b7-01"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


def test_a_trace_goes_on_within_itself_and_ends_with_its_block() -> None:
    assert current_trace_id() is None
    assert traceparent() is None
    with traced(PARENT) as one:
        assert one == current_trace_id() == ID
        assert traceparent() == PARENT
        with traced("0" * 31 + "1") as other:
            assert other == ID
    assert current_trace_id() is None
    with traced(ID) as bare:
        assert bare == ID


@pytest.mark.parametrize(
    "parent",
    [
        None,
        "",
        "00-0-0-0",
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-{ID}-{'0' * 16}-01",
        PARENT.upper(),
        f"{PARENT}-00",
        PARENT[:-1],
        f"ff-{ID}-00f067aa0ba902b7-01",
        PARENT * 10_000,
        "0" * 32,
        PARENT.replace("4", "４"),
        f"{ID}\n{ID}",
    ],
)
def test_a_malformed_parent_is_ignored(parent: str | None) -> None:
    with traced(parent) as trace_id:
        assert trace_id != ID
        assert len(trace_id) == 32
        assert int(trace_id, 16)


def test_every_log_line_names_it() -> None:
    record = logging.LogRecord("webrag", logging.WARNING, __file__, 1, "late", None, None)
    with traced(ID):
        assert TraceFilter().filter(record)
    assert record.__dict__["trace"] == f" [{ID}]"
    TraceFilter().filter(record)
    assert record.__dict__["trace"] == ""


def test_a_span_needs_no_setup() -> None:
    with traced(ID), span("plan", router="rules"), span("task", agent="corpus"):
        assert current_trace_id() == ID


def test_answers_at_the_same_time_have_traces_of_their_own(settings: Settings) -> None:
    async def work() -> list[str | None]:
        async with Corpus.open(settings) as corpus:
            await corpus.add(QUEUES)
            manager = Manager(corpus)
            both = await asyncio.gather(manager.answer(Question(QUESTION)), manager.answer(Question(QUESTION)))
            return [answer.trace_id for answer in both]

    one, other = asyncio.run(work())
    assert one
    assert other
    assert one != other


def test_an_mcp_call_a_run_its_fetches_and_its_result_are_one_trace(database_url: str) -> None:
    async def work() -> Any:
        async with connected(tea_settings(database_url), tea_site()) as client:
            arguments = {"urls": SEED, "question": TEA, "style": "prose"}
            return await client.session.call_tool("answer", arguments, meta={"traceparent": PARENT})

    result = asyncio.run(work())
    assert result.meta["traceparent"].split("-")[1] == ID
    with psycopg.connect(database_url) as connection:
        traces = connection.execute(
            "SELECT DISTINCT trace_id FROM (SELECT trace_id FROM answer_runs UNION ALL SELECT trace_id FROM route_tasks"
            " UNION ALL SELECT trace_id FROM fetch_log) t"
        ).fetchall()
    assert traces == [(ID,)]


def test_a_model_endpoint_is_told(settings: Settings) -> None:
    with serving(said("tea")) as server:
        given = {"orchestration_llm_base_url": f"{server.url}/v1", "orchestration_llm_api_key": KEY}
        chat = ChatEndpoint(Settings.model_validate(settings.model_dump() | given), "DECOMPOSITION_MODE=llm")
        with traced(PARENT):
            asyncio.run(chat.complete([Message("user", "?")], seconds=5, max_tokens=5))
        [call] = server.calls
    assert call.headers["traceparent"] == PARENT
