"""A chat endpoint whose answers come from outside: each request is a file, and so is its answer.

    python -m benchmarks.judge.desk FOLDER [--port 8765] [--wait 3600]

Point `ORCHESTRATION_LLM_BASE_URL` at http://127.0.0.1:PORT/v1, and ORCHESTRATION_LLM_TIMEOUT beyond the wait. A request
is written to `FOLDER/requests/KEY.json`, and waits until `FOLDER/answers/KEY.json` holds the text of the answer, by
whomever it is written. The key is the hash of the messages, so that the same question about the same passages, with the
same instructions, is answered again without anybody: the folder is a recording that anybody can replay. The file
`verdicts.jsonl` here holds answers that were given by careful reading.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("verdicts.jsonl")
_POLL_SECONDS = 0.5
_LARGEST = 4_000_000  # bytes of a request


class Desk:
    """The folder of requests and answers."""

    def __init__(self, folder: Path, wait: float) -> None:
        self.requests, self.answers, self.wait = folder / "requests", folder / "answers", wait
        for each in (self.requests, self.answers):
            each.mkdir(parents=True, exist_ok=True)
        rows = map(json.loads, RECORDED.read_text(encoding="utf-8").splitlines())
        self.recorded = {str(row["key"]): json.dumps(row["answer"], ensure_ascii=False) for row in rows}

    def answer(self, messages: list[dict[str, str]]) -> str | None:
        """The text of the answer to these messages; None when nobody has written it in time."""
        key = key_of(messages)
        if key in self.recorded:
            return self.recorded[key]
        file = self.answers / f"{key}.json"
        if not file.is_file():
            asked = self.requests / f"{key}.json"
            asked.write_text(json.dumps(messages, ensure_ascii=False, indent=1), encoding="utf-8")
        ends = time.monotonic() + self.wait
        while not file.is_file():
            if time.monotonic() > ends:
                return None
            time.sleep(_POLL_SECONDS)
        return file.read_text(encoding="utf-8")


def key_of(messages: list[dict[str, str]]) -> str:
    """What names a request and its answer."""
    return hashlib.sha256(json.dumps(messages, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:24]


def server(desk: Desk, port: int) -> ThreadingHTTPServer:
    """The endpoint on 127.0.0.1; port 0 takes a free one."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            if not 0 < length <= _LARGEST:
                self._reply(413, {"error": {"message": "too large"}})
                return
            body = json.loads(self.rfile.read(length))
            text = desk.answer(body["messages"])
            if text is None:
                self._reply(501, {"error": {"message": "nobody answered"}})  # what is not asked again
                return
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            self._reply(
                200,
                {"id": "desk", "object": "chat.completion", "created": 0, "model": "desk", "choices": [choice]},
            )

        def _reply(self, status: int, body: dict[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is logged: requests hold text of pages."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--wait", type=float, default=3_600, help="seconds that a request waits for its answer")
    arguments = parser.parse_args()
    with server(Desk(arguments.folder, arguments.wait), arguments.port) as serving:
        print(f"http://127.0.0.1:{serving.server_port}/v1", flush=True)
        serving.serve_forever()


if __name__ == "__main__":
    main()
