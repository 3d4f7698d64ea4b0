"""A local SMTP server that takes mails and keeps them."""

from __future__ import annotations

import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal


@dataclass(slots=True)
class MailServer:
    """Its port on 127.0.0.1, the mails that came, and every line of what clients sent outside them."""

    port: int
    mails: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


@contextmanager
def mail_server(
    tls: ssl.SSLContext | None = None, *, begins: Literal["at once", "when asked"] = "at once"
) -> Iterator[MailServer]:
    """Serve in the clear; with `tls` encrypted from the start, or after STARTTLS."""

    class Session(socketserver.StreamRequestHandler):
        def encrypt(self) -> None:
            assert tls is not None
            self.request = tls.wrap_socket(self.request, server_side=True)
            super().setup()

        def setup(self) -> None:
            super().setup()
            if tls is not None and begins == "at once":
                self.encrypt()

        def handle(self) -> None:
            self.wfile.write(b"220 mail.test\r\n")
            while line := self.rfile.readline():
                server.lines.append(line.decode().strip())
                command = line.strip().upper()
                if command == b"STARTTLS":
                    self.wfile.write(b"220 go on\r\n")
                    self.encrypt()
                elif command.startswith(b"EHLO"):
                    offers = [b"250-mail.test", b"250-AUTH PLAIN"]
                    offers += [b"250-STARTTLS"] if tls is not None and begins == "when asked" else []
                    self.wfile.write(b"\r\n".join([*offers, b"250 SIZE"]) + b"\r\n")
                elif command == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    mail = iter(self.rfile.readline, b".\r\n")
                    server.mails.append(b"".join(mail).decode())
                    self.wfile.write(b"250 ok\r\n")
                else:
                    self.wfile.write({b"QUIT": b"221 bye\r\n"}.get(command, self.answer(command)))
                if command == b"QUIT":
                    return

        @staticmethod
        def answer(command: bytes) -> bytes:
            return b"235 welcome\r\n" if command.startswith(b"AUTH") else b"250 ok\r\n"

    class Server(socketserver.ThreadingTCPServer):
        def handle_error(self, *_: object) -> None:
            """A client that refuses the certificate ends its session: no fault of this server."""

    with Server(("127.0.0.1", 0), Session) as listening:
        server = MailServer(listening.server_address[1])
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()
