"""Answers of the chat endpoint in pieces, against local servers that stream, break off, or do not stream at all."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from typing import Any

import pytest

from tests.chat_server import KEY, chat_settings, said, streamed
from tests.pauses import noted_pauses
from tests.provider_server import Call, Provider, Reply, serving
from webrag_core.errors import ChatError
from webrag_core.providers.chat import ChatEndpoint, ChatEndpoints, Message
from webrag_core.store.spending import Amounts, metering

TURNS = [Message("user", "Tea?")]
TEXT = "Green tea is brewed at eighty degrees, and left for two minutes."


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


def pieces_of(server: Provider, *, times: int = 1, seconds: float = 20.0) -> list[str]:
    """The pieces of the last of `times` answers; those before an error are kept in its notes."""

    async def work() -> list[str]:
        endpoint = ChatEndpoint(chat_settings(server.url, orchestration_llm_api_key=KEY), "a test")
        pieces: list[str] = []
        for _ in range(times):
            pieces = []
            try:
                async for piece in endpoint.stream(TURNS, seconds=seconds, max_tokens=9):
                    pieces.append(piece)
            except ChatError as error:
                error.add_note("".join(pieces))
                raise
        return pieces

    return asyncio.run(work())


def test_an_answer_comes_in_pieces() -> None:
    with serving(streamed(TEXT)) as server:
        pieces = pieces_of(server)
    assert len(pieces) > 5
    assert "".join(pieces) == TEXT
    [call] = server.calls
    assert call.body["stream"] is True
    assert call.headers["authorization"] == f"Bearer {KEY}"


def test_a_server_that_does_not_stream_is_asked_for_the_whole() -> None:
    with serving(said(TEXT)) as server:
        assert pieces_of(server, times=2) == [TEXT]
    assert [call.body.get("stream") for call in server.calls] == [True, None, None]


def test_a_stream_that_breaks_off_is_an_error_and_not_asked_for_again() -> None:
    with serving(streamed(TEXT, cut=True)) as server, pytest.raises(ChatError) as caught:
        pieces_of(server)
    assert "the connection broke" in caught.value.reason
    assert TEXT.startswith(caught.value.__notes__[0])
    assert len(server.calls) == 1


def test_a_failure_before_the_first_piece_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    noted_pauses(monkeypatch)
    with serving(streamed(TEXT), Reply({}, 503), Reply({}, 429)) as server:
        assert "".join(pieces_of(server)) == TEXT
    assert len(server.calls) == 3


def test_options_that_a_server_refuses_are_left_out() -> None:
    def old(call: Call) -> Any:
        return Reply({}, 400) if "max_tokens" in call.body else streamed(TEXT)

    with serving(old) as server:
        assert "".join(pieces_of(server)) == TEXT


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(None, content_type="text/event-stream", pieces=["data: nonsense\n\n"]), "not one of a chat endpoint"),
        (
            Reply(None, content_type="text/event-stream", pieces=['data: {"error": {"message": "no"}}\n\n']),
            "not one of",
        ),
        (Reply({}, 401), "ORCHESTRATION_LLM_API_KEY"),
        (said(None, refusal="no"), "refused"),
    ],
)
def test_an_answer_that_is_none_is_an_error(reply: Any, reason: str) -> None:
    with serving(reply) as server, pytest.raises(ChatError, match=reason):
        pieces_of(server)


def test_a_server_that_does_not_answer_costs_the_time_given_and_no_more() -> None:
    with serving(Reply({}, hold=True)) as server, pytest.raises(ChatError, match="no answer within"):
        pieces_of(server, seconds=0.3)


USAGE = {"prompt_tokens": 40, "completion_tokens": 12, "total_tokens": 52}


def test_a_stream_tells_its_tokens() -> None:
    with serving(streamed(TEXT, usage=USAGE)) as server, metering() as meter:
        pieces_of(server)
    assert server.calls[0].body["stream_options"] == {"include_usage": True}
    assert meter.amounts == {"chat m": Amounts(requests=1, input_tokens=40, output_tokens=12)}


def test_a_server_that_refuses_to_count_is_asked_once_and_streams_all_the_same() -> None:
    def strict(call: Call) -> Any:
        return Reply({}, 400) if "stream_options" in call.body else streamed(TEXT)

    with serving(strict) as server, metering() as meter:
        assert "".join(pieces_of(server, times=2)) == TEXT
    assert ["stream_options" in call.body for call in server.calls] == [True, False, False]
    assert all("response_format" not in call.body and "max_tokens" in call.body for call in server.calls)
    assert meter.amounts == {"chat m": Amounts(requests=2, untold=2)}


def test_a_stream_that_is_not_read_to_its_end_counts() -> None:
    async def first_piece(url: str) -> None:
        endpoint = ChatEndpoint(chat_settings(url), "a test")
        async with aclosing(endpoint.stream(TURNS, seconds=20.0, max_tokens=9)) as pieces:
            await anext(pieces)

    with serving(streamed(TEXT)) as server, metering() as meter:
        asyncio.run(first_piece(server.url))
    assert meter.amounts == {"chat m": Amounts(requests=1, untold=1)}


def test_a_model_is_not_asked_where_no_answer_can_come_in_time() -> None:
    def slow(call: Call) -> Any:
        time.sleep(0.2)
        return said(TEXT)

    async def work(url: str) -> None:
        endpoint = ChatEndpoint(chat_settings(url), "a test")
        await endpoint.complete(TURNS, seconds=20.0, max_tokens=9)
        with pytest.raises(ChatError, match=r"not asked: 0\.05 s are left, and no exchange was shorter than "):
            await endpoint.complete(TURNS, seconds=0.05, max_tokens=9)
        with pytest.raises(ChatError, match="not asked: 0 s are left"):
            await anext(endpoint.stream(TURNS, seconds=0.0, max_tokens=9))

    with serving(slow) as server:
        asyncio.run(work(server.url))
    assert len(server.calls) == 1


def test_all_who_ask_share_what_was_learnt_of_a_server() -> None:
    def old(call: Call) -> Any:
        return Reply({}, 400) if "max_tokens" in call.body else said(TEXT)

    async def work(url: str) -> None:
        chats = ChatEndpoints(chat_settings(url))
        for wanted_by in ("JUDGE=llm", "WEBRAG_ROUTER=llm"):
            await chats.of(wanted_by).complete(TURNS, seconds=20.0, max_tokens=9)

    with serving(old) as server:
        asyncio.run(work(server.url))
    assert ["max_tokens" in call.body for call in server.calls] == [True, False, False]
