"""The web application on a port of its own, in a thread: for browsers and for plain clients."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import uvicorn

from tests.waiting import wait_until
from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.application.command_calls import CommandRunner
from webrag_core.config import Settings
from webrag_core.http_server import DEFAULT_LIMITS, Limits, server_config
from webrag_core.web.app import web_app

BROWSER = {"accept": "text/html,*/*;q=0.8"}


@contextmanager
def web_server(
    settings: Settings,
    acquirer: Acquirer | None = None,
    limits: Limits = DEFAULT_LIMITS,
    commands: CommandRunner | None = None,
) -> Iterator[httpx2.Client]:
    """A client of a running server, which asks for HTML as a browser does and follows no redirects; its `base_url` is
    the server's address."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(server_config(web_app(settings, acquirer, limits, commands), settings, limits))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        base = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with httpx2.Client(base_url=base, timeout=None, headers=BROWSER) as client:

            def is_healthy() -> bool:
                assert thread.is_alive(), "the server ended"
                return server.started and client.get("/health").status_code == 200

            wait_until(is_healthy)
            yield client
    finally:
        server.should_exit = True
        thread.join()


def ask(client: httpx2.Client, question: str, **fields: str) -> str:
    """Ask on the page, wait for the end of the events, return the path of the answer (or of the run, without one)."""
    response = client.post("/ask", data={"question": question, **fields})
    assert response.status_code == 303, response.text
    path = response.headers["location"]
    client.get(f"{path}/events")
    over = client.get(path)
    return over.headers.get("location", path)
