"""The chat endpoint for measuring writes requests, waits for answers, and replays them."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import pytest

from benchmarks.judge.recorded_chat import Recorder, serving
from tests.chat_server import chat_settings
from tests.waiting import wait_until
from webrag_core.errors import ChatError
from webrag_core.providers.chat import ChatEndpoint, Message

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "*")


def ask(url: str, question: str) -> str:
    endpoint = ChatEndpoint(chat_settings(url), "a test")
    return asyncio.run(endpoint.complete([Message("user", question)], seconds=20.0, max_tokens=50))


def test_an_answer_is_asked_for_once_and_replayed_by_question_and_version(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, prompts="1", seconds=20.0)

    def write() -> None:
        wait_until(lambda: bool(list((tmp_path / "requests").glob("*.json"))))
        [request] = (tmp_path / "requests").glob("*.json")
        assert json.loads(request.read_text())["messages"][0]["content"] == "Tea?"
        (tmp_path / "answers" / f"{request.stem}.txt").write_text("Green.")

    reader = threading.Thread(target=write)
    with serving(recorder) as url:
        reader.start()
        assert ask(url, "Tea?") == "Green."
        reader.join()
        assert ask(url, "Tea?") == "Green."
    assert (recorder.waited, recorder.replayed) == (1, 1)
    other = Recorder(tmp_path, prompts="2", seconds=0.0)
    with serving(other) as url, pytest.raises(ChatError, match="504"):
        ask(url, "Tea?")
    assert other.replayed == 0
