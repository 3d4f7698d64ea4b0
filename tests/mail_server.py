"""A local SMTP server that takes mails and keeps them."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def mail_server() -> Iterator[tuple[int, list[str]]]:
    """Its port on 127.0.0.1, and the mails that came."""
    received: list[str] = []

    class Session(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 mail.test\r\n")
            while line := self.rfile.readline():
                command = line.strip().upper()
                if command == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    mail = iter(self.rfile.readline, b".\r\n")
                    received.append(b"".join(mail).decode())
                self.wfile.write(b"221 bye\r\n" if command == b"QUIT" else b"250 ok\r\n")
                if command == b"QUIT":
                    return

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Session) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server.server_address[1], received
        finally:
            server.shutdown()
            thread.join()
