"""A chat endpoint for measuring: it writes each request to a folder and waits for its answer as a file.

Whoever reads well, person or model, answers: `FOLDER/requests/DIGEST.json` holds the request, and the text in
`FOLDER/answers/DIGEST.txt` is what the model said. The digest is of question, passages and prompt, the messages as they
were sent, and of the version of the prompts. So an answer is asked for once and replayed by everybody who has the
folder; another prompt asks anew.

    python -m benchmarks.judge.recorded_chat FOLDER --prompts 1 --seconds 3600
    ORCHESTRATION_LLM_BASE_URL=http://127.0.0.1:8770/v1 ORCHESTRATION_LLM_TIMEOUT=3600 webrag ask …
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from benchmarks.local_server import LocalHandler, local_server

_POLL_S = 0.2
_LARGEST_REQUEST = 20_000_000  # bytes


class _Message(BaseModel):
    role: str
    content: str


class ChatRequest(BaseModel):
    """What of a request decides its answer; options as limits and formats do not, since they differ by dialect."""

    model_config = ConfigDict(extra="ignore")

    model: str
    messages: list[_Message]

    def digest(self, prompts: str) -> str:
        """SHA-256 in hexadecimal, of the messages and the version of the prompts."""
        turns = [[message.role, message.content] for message in self.messages]
        return hashlib.sha256(json.dumps([prompts, turns], sort_keys=True).encode()).hexdigest()


class Recorder:
    """Requests and answers in a folder. `waited` and `replayed` count requests by where their answer came from."""

    def __init__(self, folder: Path, *, prompts: str, seconds: float) -> None:
        """Makes the folder. `prompts` is the version of the prompts, `seconds` the longest wait for one answer."""
        self._requests, self._answers = folder / "requests", folder / "answers"
        for place in (self._requests, self._answers):
            place.mkdir(parents=True, exist_ok=True)
        self._prompts = prompts
        self._seconds = seconds
        self._lock = threading.Lock()
        self.waited = 0
        self.replayed = 0

    def answer(self, request: ChatRequest, stopped: threading.Event) -> str | None:
        """The recorded answer, or the one that is written within the time; None without any."""
        digest = request.digest(self._prompts)
        answer = self._answers / f"{digest}.txt"
        known = answer.exists()
        with self._lock:
            self.replayed += known
            self.waited += not known
        if not known:
            content = {"prompts": self._prompts, **request.model_dump()}
            partial = self._requests / f"{digest}.{threading.get_ident()}"
            partial.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
            os.replace(partial, self._requests / f"{digest}.json")  # whole, or not there
        ends = time.monotonic() + self._seconds
        while not answer.exists():
            if time.monotonic() >= ends or stopped.wait(_POLL_S):
                return None
        return answer.read_text(encoding="utf-8")


@contextmanager
def serving(recorder: Recorder, port: int = 0) -> Iterator[str]:
    """The endpoint on 127.0.0.1 as long as the block lasts; yields its base URL. Port 0 = any free one."""
    stopped = threading.Event()

    class Handler(LocalHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            if length > _LARGEST_REQUEST:
                self.close_connection = True
                self.reply_json(413, {"error": {"message": "the request is too large"}})
                return
            try:
                request = ChatRequest.model_validate_json(self.rfile.read(length))
            except ValidationError:
                self.reply_json(400, {"error": {"message": "this is no chat request"}})
                return
            text = recorder.answer(request, stopped)
            if text is None:
                self.reply_json(504, {"error": {"message": "nobody answered in time"}})
                return
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            self.reply_json(
                200, {"id": "r", "object": "chat.completion", "created": 0, "model": request.model, "choices": [choice]}
            )

        def reply_json(self, status: int, body: dict[str, Any]) -> None:
            self.reply(status, "application/json", json.dumps(body).encode())

    with local_server(Handler, port) as address:
        try:
            yield f"{address}/v1"
        finally:
            stopped.set()


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--prompts", default="1", help="version of the prompts")
    parser.add_argument("--seconds", type=float, default=3600.0, help="longest wait for one answer")
    parser.add_argument("--port", type=int, default=8770)
    given = parser.parse_args()
    recorder = Recorder(given.folder, prompts=given.prompts, seconds=given.seconds)
    with serving(recorder, given.port) as url:
        print(f"listening at {url}")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print(f"{recorder.waited} asked, {recorder.replayed} replayed")


if __name__ == "__main__":
    main()
