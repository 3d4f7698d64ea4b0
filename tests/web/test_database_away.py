"""A server whose database is away says so on every path, and works again when it is back."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import psycopg
import psycopg.conninfo
import pytest
import uvicorn
from psycopg import sql

from tests.conftest import fresh_database
from tests.waiting import wait_until
from tests.web.serving import BROWSER
from tests.web.tea_corpus import settings as tea_settings
from tests.web.test_refusals import endpoint_cases, page_cases
from webrag_core.config import Settings
from webrag_core.http_server import DEFAULT_LIMITS, server_config
from webrag_core.web.app import web_app

WITHOUT_DATABASE = {
    *(("GET", path) for path in ("/login", "/attach", "/running/tea.example", "/running/tea.example/events")),
    *(("POST", path) for path in ("/login", "/logout", "/ask", "/running/tea.example/stop")),
    *(("POST", path) for path in ("/attach/read", "/attach/stop")),  # of which the requests lack the source
}
"""Forms, and the runs of this process, whose events say how they end."""


@contextmanager
def client_of(settings: Settings) -> Iterator[httpx2.Client]:
    """A client of a server that need not be healthy."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(server_config(web_app(settings), settings, DEFAULT_LIMITS))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=60) as client:
            wait_until(lambda: server.started)
            yield client
    finally:
        server.should_exit = True
        thread.join()


def rename(server_url: str, before: str, after: str) -> None:
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(
            "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE datname = %s", (before,)
        )
        statement = sql.SQL("ALTER DATABASE {} RENAME TO {}")
        connection.execute(statement.format(sql.Identifier(before), sql.Identifier(after)))


def says_away(response: httpx2.Response) -> bool:
    says = "database cannot be used now" in response.text and "retry-after" in response.headers
    return response.status_code == 503 and says


def _nowhere(url: str) -> Settings:
    return tea_settings(url.replace("/test_", "/none_"), mcp_feedback=True)


def test_every_path_says_that_the_database_is_away(server_url: str) -> None:
    with (
        fresh_database(server_url) as url,
        client_of(tea_settings(url.replace("/test_", "/none_"), mcp_feedback=True)) as client,
    ):
        wait_until(lambda: "not open yet" not in client.get("/health").text)
        assert says_away(client.get("/health"))
        silent = {
            (method, path)
            for method, path, request in [*page_cases(), *endpoint_cases()]
            if not says_away(client.request(method, path, headers=BROWSER if "data" in request else {}, **request))
        }
        assert silent == WITHOUT_DATABASE


@pytest.mark.slow  # it waits for others to try again
def test_it_works_again_without_a_new_start(server_url: str) -> None:
    with fresh_database(server_url) as url:
        name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
        assert isinstance(name, str)
        away = f"away_{name}"
        rename(server_url, name, away)
        try:
            with client_of(tea_settings(url)) as client:
                wait_until(lambda: client.get("/health").json().get("error", {}).get("code") == "database_unavailable")
                rename(server_url, away, name)
                wait_until(lambda: client.get("/health").status_code == 200)  # nobody sent anything else
                assert client.get("/api/sources").json()["total"] == 0
                rename(server_url, name, away)
                wait_until(lambda: client.get("/api/sources").status_code == 503)
                assert says_away(client.get("/health"))
                rename(server_url, away, name)
                wait_until(lambda: client.get("/health").status_code == 200)
                assert client.get("/api/sources").status_code == 200
        finally:
            with psycopg.connect(server_url, autocommit=True) as connection:
                there = connection.execute("SELECT FROM pg_database WHERE datname = %s", (away,)).fetchone()
            if there is not None:
                rename(server_url, away, name)
