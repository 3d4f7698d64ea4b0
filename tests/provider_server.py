"""A local server that answers as a model provider would, or as badly as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """One request, as it came over the wire; header names in lower case, `body` empty where none was sent."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. A `str` is sent as it is, anything else as JSON; `hold` = not before the test is over. `pieces` are
    sent instead, one after the other, as a body whose length is not told; `cut` closes the connection in its middle."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    hold: bool = False
    pieces: Sequence[str] = ()
    cut: bool = False


# what is sent: a Reply, the body of a plain one, or a function that says which of the two
Answer = Callable[[Call], Any] | Reply | Mapping[str, Any]


@dataclass(slots=True)
class Provider:
    """Answers each request with the next of `script`, then by `answer`. Remembers what it was asked."""

    answer: Answer
    script: list[Answer] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    url: str = ""
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def reply(self, call: Call) -> Reply:
        with self.lock:
            self.calls.append(call)
            turn = self.script.pop(0) if self.script else self.answer
        said = turn(call) if callable(turn) else turn
        return said if isinstance(said, Reply) else Reply(said)

    @property
    def asked(self) -> list[str]:
        """Method and path of every request so far."""
        return [f"{call.method} {call.path}" for call in self.calls]


@contextmanager
def serving(answer: Answer, *script: Answer) -> Iterator[Provider]:
    """The provider, listening on 127.0.0.1 as long as the block lasts."""
    provider = Provider(answer, list(script))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = provider.reply(Call(self.command, self.path, headers, body))
            if reply.hold:
                provider.over.wait()
                self.close_connection = True
                return
            if reply.pieces:
                self.send_pieces(reply)
                return
            content = (reply.body if isinstance(reply.body, str) else json.dumps(reply.body)).encode()
            self.send_response(reply.status)
            for name, value in {"content-type": reply.content_type, **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def send_pieces(self, reply: Reply) -> None:
            self.send_response(reply.status)
            self.send_header("content-type", reply.content_type)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for piece in reply.pieces:
                data = piece.encode()
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()
            if not reply.cut:
                self.wfile.write(b"0\r\n\r\n")
            self.close_connection = True

        do_GET = do_POST = do_DELETE = respond

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
