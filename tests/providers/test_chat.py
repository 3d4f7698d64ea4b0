"""The chat endpoint against local servers that speak the wire format, and the traps of the SDK."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from typing import Any

import pytest

from tests.chat_server import KEY, chat_settings, said
from tests.pauses import noted_pauses
from tests.provider_server import Call, Reply, serving, silent_url
from webrag_core.config import Settings
from webrag_core.errors import ChatError, InvalidInputError
from webrag_core.providers import chat
from webrag_core.providers.chat import AnswerFormat, ChatEndpoint, Message

FORM = AnswerFormat("Tea", {"type": "object"})
TURNS = [Message("system", "Be brief."), Message("user", "Tea?")]


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK uses the proxies of the environment, also for 127.0.0.1."""
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds waited between attempts; nobody really waits."""
    return noted_pauses(monkeypatch)


def complete(settings: Settings, *, times: int = 1, seconds: float = 20.0, form: AnswerFormat | None = FORM) -> str:
    async def work() -> str:
        endpoint = ChatEndpoint(settings, "a test")
        for _ in range(times - 1):
            await endpoint.complete(TURNS, seconds=seconds, max_tokens=9, form=form)
        return await endpoint.complete(TURNS, seconds=seconds, max_tokens=9, form=form)

    return asyncio.run(work())


def refused(settings: Settings, **more: Any) -> ChatError:
    with pytest.raises(ChatError) as caught:
        complete(settings, **more)
    return caught.value


def test_what_goes_over_the_wire_and_what_comes_back() -> None:
    with serving(said("Green.")) as server:
        assert complete(chat_settings(f"{server.url}/v1", orchestration_llm_api_key=KEY)) == "Green."
    [call] = server.calls
    assert (call.method, call.path) == ("POST", "/v1/chat/completions")
    assert call.body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Tea?"}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "Tea", "schema": {"type": "object"}, "strict": True},
        },
        "max_tokens": 9,
        "temperature": 0,
    }


def test_free_text_is_asked_for_without_a_format() -> None:
    with serving(said("Green.")) as server:
        complete(chat_settings(server.url), form=None)
    assert "response_format" not in server.calls[0].body


def test_nothing_of_the_environment_goes_to_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, f"from-{name}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: from-OPENAI\nAuthorization: from-OPENAI")
    monkeypatch.setenv("OPENAI_BASE_URL", silent_url())
    with serving(said("Green.")) as server:
        complete(chat_settings(server.url))
        complete(chat_settings(server.url, orchestration_llm_api_key=KEY))
    without, with_key = (call.headers for call in server.calls)
    assert "authorization" not in without
    assert with_key["authorization"] == f"Bearer {KEY}"
    assert not [value for value in [*without.values(), *with_key.values()] if "from-OPENAI" in value]
    assert not [name for name in without if name.startswith("x-")]  # the SDK tells about this machine


@pytest.mark.parametrize("status", [400, 422])
def test_options_that_a_server_refuses_are_left_out_from_then_on(status: int) -> None:
    def old(call: Call) -> Any:
        return Reply({}, status) if "max_tokens" in call.body else said("Green.")

    with serving(old) as server:
        assert complete(chat_settings(server.url), times=2) == "Green."
    bodies = [call.body for call in server.calls]
    assert ["max_completion_tokens" in body for body in bodies] == [False, True, True]
    assert "temperature" not in bodies[1]  # reasoning models refuse it as well
    assert bodies[1]["response_format"]["type"] == "json_schema"


def test_a_server_that_knows_no_option_is_asked_without_any() -> None:
    def plain(call: Call) -> Any:
        return said("Green.") if call.body.keys() == {"model", "messages"} else Reply({}, 400)

    with serving(plain) as server:
        assert complete(chat_settings(server.url), times=2) == "Green."
    forms = [call.body.get("response_format", {}).get("type") for call in server.calls]
    assert forms == ["json_schema", "json_schema", "json_object", None, None]


def test_a_request_that_is_bad_whatever_is_left_out() -> None:
    with serving(lambda call: Reply({}, 400)) as server:
        error = refused(chat_settings(server.url))
    assert error.reason == "HTTP 400 (check ORCHESTRATION_LLM_MODEL)"
    assert len(server.calls) == 5


def test_a_model_without_a_system_turn_gets_the_instructions_from_the_user() -> None:
    def no_system(call: Call) -> Any:
        roles = [turn["role"] for turn in call.body["messages"]]
        return Reply({}, 500) if "system" in roles else said("Green.")

    with serving(no_system) as server:
        assert complete(chat_settings(server.url), times=2) == "Green."
    assert [turn["content"] for turn in server.calls[-1].body["messages"]] == ["Be brief.\n\nTea?"]
    assert len(server.calls) == 5  # three attempts, the plainest form, and at once in that


OBJECT = '{"tea": 1}'
ELSEWHERE: dict[str, dict[str, Any]] = {
    "parts": said([{"type": "text", "text": '{"tea": '}, {"type": "text", "text": "1}"}]),
    "texts": said(['{"tea": ', "1}"]),
    "a tool": said(None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "t", "arguments": OBJECT}}]),
    "a tool's object": said("", tool_calls=[{"function": {"name": "t", "arguments": {"tea": 1}}}]),
    "a function": said(None, function_call={"name": "t", "arguments": OBJECT}),
    "reasoning_content": said(None, reasoning_content=f"So it is {OBJECT}"),
    "reasoning": said("", reasoning=f"So it is {OBJECT}"),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_an_object_is_found_wherever_servers_put_it(name: str) -> None:
    with serving(ELSEWHERE[name]) as server:
        text = complete(chat_settings(server.url))
    assert json.loads(text[text.index("{") :]) == {"tea": 1}
    assert len(server.calls) == 1


def test_reasoning_that_was_cut_off_is_no_answer() -> None:
    with serving(said(None, finish="length", reasoning_content=f"Perhaps {OBJECT}, but")) as server:
        assert "holds no text" in refused(chat_settings(server.url)).reason


UNLIKE_CHAT: dict[str, tuple[Any, str]] = {
    "HTML page": (Reply("<html>Welcome!</html>", content_type="text/html"), "not one of a chat endpoint"),
    "HTML called JSON": (Reply("<html>Welcome!</html>"), "not one of a chat endpoint"),
    "truncated JSON": (Reply('{"choices": [{"mess'), "not one of a chat endpoint"),
    "nested without end": (Reply('{"choices":' + "[" * 200_000), "not one of a chat endpoint"),
    "too much": (Reply(" " * 9_000_000 + json.dumps(said("Green."))), "not one of a chat endpoint"),
    "nothing": (Reply(""), "not one of a chat endpoint"),
    "list": (Reply([]), "not one of a chat endpoint"),
    "null": (Reply(None), "not one of a chat endpoint"),
    "number": (Reply(7), "not one of a chat endpoint"),
    "error with 200": ({"error": {"message": f"bad key {KEY}"}}, "not one of a chat endpoint"),
    "no choices": ({"choices": []}, "not one of a chat endpoint"),
    "choices is a text": ({"choices": "tea"}, "not one of a chat endpoint"),
    "choice is a number": ({"choices": [1]}, "holds no text"),
    "choice without message": ({"choices": [{"text": "tea"}]}, "holds no text"),
    "message is a text": ({"choices": [{"message": "tea"}]}, "holds no text"),
    "no content": (said(None), "holds no text"),
    "blank content": (said(" \n"), "holds no text"),
    "content is a number": (said(7), "holds no text"),
    "parts without text": (said([{"type": "image_url", "image_url": {}}]), "holds no text"),
    "refusal": (said(None, refusal="I cannot help with that."), "refused to answer"),
    "filtered": (said("Gre", finish="content_filter"), "content filter"),
}


@pytest.mark.parametrize("name", UNLIKE_CHAT)
def test_an_answer_that_is_none_is_an_error_and_not_asked_for_again(name: str) -> None:
    answer, reason = UNLIKE_CHAT[name]
    with serving(lambda call: answer) as server:
        error = refused(chat_settings(server.url, orchestration_llm_api_key=KEY))
    assert reason in error.reason
    assert KEY not in error.message
    decided = name in ("refusal", "filtered")  # the model's decision is the same in every form
    assert len(server.calls) == (1 if decided else 2)


def test_an_answer_that_was_cut_off_is_given_as_far_as_it_goes() -> None:
    with serving(said('{"tea": "gre', finish="length")) as server:
        assert complete(chat_settings(server.url)) == '{"tea": "gre'


def test_a_rate_limit_is_waited_out_as_long_as_the_server_says(pauses: list[float]) -> None:
    limited = Reply({"error": {"message": "slow down"}}, 429, {"Retry-After": "3"})
    with serving(said("Green."), limited, limited) as server:
        assert complete(chat_settings(server.url)) == "Green."
    assert pauses == [3.0, 3.0]
    assert len(server.calls) == 3  # the SDK's own retries are off


def test_a_wait_that_exceeds_the_budget_fails_at_once(pauses: list[float]) -> None:
    with serving(said("Green."), Reply({}, 429, {"Retry-After": "600"})) as server:
        error = refused(chat_settings(server.url))
    assert "429" in error.reason
    assert "600 s exceeds the limit of" in error.reason
    assert not pauses
    assert len(server.calls) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_lasting_failures_end_after_three_attempts(status: int, pauses: list[float]) -> None:
    with serving(lambda call: Reply("oops", status)) as server:
        assert f"HTTP {status}" in refused(chat_settings(server.url)).reason
    assert len(server.calls) == (4 if status == 500 else 3)  # once more in the plainest form
    assert pauses[1] > pauses[0] > 0


def test_an_endpoint_nobody_listens_on(pauses: list[float]) -> None:
    assert "cannot be reached" in refused(chat_settings(silent_url())).reason
    assert len(pauses) == 2


@pytest.mark.parametrize(
    ("status", "hint"),
    [(401, "_API_KEY"), (403, "_API_KEY"), (404, "_BASE_URL and ORCHESTRATION_LLM_MODEL"), (307, "307")],
)
def test_refusals_are_not_tried_again_and_say_what_to_check(status: int, hint: str, pauses: list[float]) -> None:
    elsewhere = {"Location": "http://127.0.0.1:9/"}  # followed, it would take the question to another server
    with serving(lambda call: Reply({}, status, elsewhere)) as server:
        assert hint in refused(chat_settings(server.url)).reason
    assert len(server.calls) == (2 if status == 404 else 1)  # some servers say 404 to an option


def test_a_reply_slower_than_the_budget() -> None:
    with serving(lambda call: Reply({}, hold=True)) as server:
        assert refused(chat_settings(server.url), seconds=0.3).reason == "no answer within 0.3 s"


@pytest.mark.parametrize("status", [200, 401, 429])
def test_the_key_is_in_no_message_no_traceback_and_no_log(
    status: int, pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = Reply({"error": {"message": f"Incorrect API key provided: {KEY}", "code": KEY}}, status)
    with serving(lambda call: echo) as server:
        settings = chat_settings(server.url, orchestration_llm_api_key=f"{KEY}\n")
        error = refused(settings)
    assert server.calls[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in "".join(traceback.format_exception(error))
    assert error.__context__ is None
    assert KEY not in caplog.text
    assert KEY not in repr(settings) + str(settings.model_dump())


def test_never_more_than_four_requests_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    running, most = [0], [0]

    async def ask(self: ChatEndpoint, body: dict[str, Any], seconds: float, *, structured: bool) -> str:
        running[0] += 1
        most[0] = max(most[0], running[0])
        await asyncio.sleep(0)
        running[0] -= 1
        return "Green."

    async def many() -> None:
        endpoint = ChatEndpoint(chat_settings(silent_url()), "a test")
        await asyncio.gather(*(endpoint.complete(TURNS, seconds=20, max_tokens=9) for _ in range(20)))

    monkeypatch.setattr(ChatEndpoint, "_ask", ask)
    asyncio.run(many())
    assert most == [4]


def test_without_key_and_url_it_is_said_what_is_missing_and_for_what() -> None:
    with pytest.raises(
        InvalidInputError, match=r"^a test needs ORCHESTRATION_LLM_API_KEY .*ORCHESTRATION_LLM_BASE_URL"
    ):
        ChatEndpoint(chat_settings(None), "a test")


def test_a_key_alone_means_the_public_endpoint() -> None:
    assert ChatEndpoint(chat_settings(None, orchestration_llm_api_key=KEY), "a test")._url == chat.OPENAI_URL
