"""A local server that answers as a model provider would, or as badly as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """One request, as it came over the wire; header names in lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. A `str` is sent as it is, anything else as JSON; `hold` = not before the test is over."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    hold: bool = False


Answer = Callable[[Call], Any]


@dataclass(slots=True)
class Provider:
    """Answers each request with the next of `script`, then by `answer`. Remembers what it was asked."""

    answer: Answer
    script: list[Reply | Answer] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    url: str = ""
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def reply(self, call: Call) -> Reply:
        with self.lock:
            self.calls.append(call)
            turn = self.script.pop(0) if self.script else self.answer
        said = turn if isinstance(turn, Reply) else turn(call)
        return said if isinstance(said, Reply) else Reply(said)


@contextmanager
def serving(answer: Answer, *script: Reply | Answer) -> Iterator[Provider]:
    """The provider, listening on 127.0.0.1 as long as the block lasts."""
    provider = Provider(answer, list(script))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = provider.reply(Call(self.path, headers, json.loads(body)))
            if reply.hold:
                provider.over.wait()
                self.close_connection = True
                return
            content = (reply.body if isinstance(reply.body, str) else json.dumps(reply.body)).encode()
            self.send_response(reply.status)
            for name, value in {"content-type": reply.content_type, **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        provider.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield provider
        finally:
            provider.over.set()
            server.shutdown()
            thread.join()


def silent_url() -> str:
    """A URL on which nobody listens."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        return f"http://127.0.0.1:{server.server_address[1]}"
