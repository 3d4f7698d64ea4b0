"""A local server that speaks Firecrawl's wire format, or as badly as a test says. GET, POST and DELETE."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.provider_server import Reply

KEY = "fc-secret-1234567890"
TEXT = "<h1>Queues</h1><p>Queues are not thread-safe, see <a href='/x'>this</a>.</p>"
PAGE = f"<html><body><main>{TEXT}</main></body></html>"


@dataclass(frozen=True, slots=True)
class Call:
    """One request; header names in lower case, `body` empty where none was sent."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(slots=True)
class Firecrawl:
    """Answers each request with the next of its `script`; the last one answers everything that follows."""

    script: list[Any]
    calls: list[Call] = field(default_factory=list)
    url: str = ""
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def reply(self, call: Call) -> Reply:
        with self.lock:
            self.calls.append(call)
            turn = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        said = turn(call) if callable(turn) else turn
        return said if isinstance(said, Reply) else Reply(said)

    @property
    def asked(self) -> list[str]:
        return [f"{call.method} {call.path}" for call in self.calls]


def document(source: str, html: str | None = PAGE, **metadata: Any) -> dict[str, Any]:
    """One document as the API sends it; `metadata` in camelCase, over what a plain page has."""
    said = {"sourceURL": source, "url": source, "statusCode": 200, "proxyUsed": "basic", "cacheState": "miss"}
    return {"markdown": "# Queues\n\nQueues are not thread-safe.", "html": html, "metadata": {**said, **metadata}}


def scraped(source: str, html: str | None = PAGE, **metadata: Any) -> dict[str, Any]:
    """The reply to a successful scrape."""
    return {"success": True, "data": document(source, html, **metadata)}


@contextmanager
def firecrawl(*script: Any) -> Iterator[Firecrawl]:
    """The server, listening on 127.0.0.1 as long as the block lasts."""
    server_state = Firecrawl(list(script))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = server_state.reply(Call(self.command, self.path, headers, body))
            if reply.hold:
                server_state.over.wait()
                self.close_connection = True
                return
            content = (reply.body if isinstance(reply.body, str) else json.dumps(reply.body)).encode()
            self.send_response(reply.status)
            for name, value in {"content-type": reply.content_type, **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = answer

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server_state.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server_state
        finally:
            server_state.over.set()
            server.shutdown()
            thread.join()
