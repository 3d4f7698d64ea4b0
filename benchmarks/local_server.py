"""A server on 127.0.0.1 that lasts as long as a block of code, and what its handlers have in common."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class LocalHandler(BaseHTTPRequestHandler):
    """A handler that prints nothing."""

    protocol_version = "HTTP/1.1"

    def reply(self, status: int, content_type: str, body: bytes) -> None:
        """Send a whole response."""
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextmanager
def local_server(handler: type[BaseHTTPRequestHandler], port: int = 0) -> Iterator[str]:
    """The address of the server, without a slash at its end. Port 0 = any free one."""
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
