"""A server that goes on: its database is killed under it, and no person starts anything again."""

from __future__ import annotations

import os
import signal
import socket

import httpx2
import pytest

from tests.faults.homes import STORED, Home
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.alone]


def test_a_server_starts_its_killed_database_again(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    before = home.state()
    process = home.start("serve", "--port", str(port))
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:

        def status(path: str) -> int:
            try:
                return client.get(path).status_code
            except httpx2.TransportError:
                return 0

        wait_until(lambda: status("/health") == 200)
        token = (home.folder / "serve-token").read_text().strip()
        client.headers["authorization"] = f"Bearer {token}"
        killed = home.server()
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: status("/api/sources") == 200 and home.server() not in (None, killed))
        wait_until(lambda: status("/health") == 200)
        assert client.get("/api/sources").json()["sources"][0]["documents"] == STORED
        os.kill(home.server() or 0, signal.SIGKILL)
        (home.folder / "postgres" / "PG_VERSION").rename(home.folder / "PG_VERSION")
        wait_until(lambda: status("/api/sources") == 503)  # no new, empty database comes in its place
        wait_until(lambda: status("/health") == 503)
        (home.folder / "PG_VERSION").rename(home.folder / "postgres" / "PG_VERSION")
        wait_until(lambda: status("/health") == 200)
        process.send_signal(signal.SIGINT)
    _, problems = process.communicate()
    assert "Traceback" not in problems, problems
    home.check(before)
