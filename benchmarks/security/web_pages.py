"""Attacks on the web application: foreign pages, stolen sessions, markup, broken requests, floods.

`python -m benchmarks.security.web_pages` starts two servers, with a token and without, as processes that are allowed
1,024 descriptors, over a hostile site in memory. Prints how many attacks each group has and how many came through; exit
status 1 when one did.
"""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import psutil
import uvicorn

from benchmarks.security.web_attacks import TOKEN, Attack, Watch, bodies, cross_site, methods, paths, redirects, tokens
from benchmarks.security.web_browser import browse
from benchmarks.security.web_floods import floods, slow
from benchmarks.security.web_markup import SITE, hostile_site, markup
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.sitemaps.models import SiteMap
from webrag_core.acquisition.urls import canonicalise
from webrag_core.cli.output import out, print_table
from webrag_core.config import load_settings
from webrag_core.errors import FetchError, Reason
from webrag_core.http_server import Limits, server_config
from webrag_core.store.embedded import embedded_url
from webrag_core.web.app import web_app

_DESCRIPTORS = 1_024
_REQUEST_SECONDS = 8.0
_ENDLESS = {"MCP_TOOL_TIMEOUT": "1200", "WEBRAG_ANSWER_TIMEOUT": "1000"}
_HELD = f"{SITE}/held"


@dataclass(slots=True)
class HostileSite:
    """The pages of `hostile_site`; `/held` never comes."""

    pages: dict[str, str] = field(default_factory=hostile_site)
    name: str = "hostile"
    frozen: bool = False
    metered: bool = False

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """As the protocol says."""
        address = canonicalise(url)
        if address == _HELD:
            await asyncio.sleep(3_600)
        text = self.pages.get(address.removeprefix(SITE))
        if text is None:
            raise FetchError(Reason.NOT_FOUND, f"{address} is not there", status=404)
        body = text.encode()
        kind = {"content-type": "text/html; charset=utf-8"}
        return AcquiredPage(address, address, 200, kind, body, datetime.now(UTC), len(body))

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """It has none."""
        return SiteMap()

    async def aclose(self) -> None:
        """Nothing to release."""


def serve(port: int) -> None:
    """Serve the application over the hostile site, configured by the environment."""
    settings = load_settings(mcp_port=port)
    limits = Limits(request_seconds=_REQUEST_SECONDS)
    uvicorn.Server(server_config(web_app(settings, HostileSite(), limits), settings, limits)).run()


@contextmanager
def serving(database: str, log: Path, **environment: str) -> Iterator[tuple[int, psutil.Process]]:
    """Port and process of a server that is ready."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    with (
        log.open("ab") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.security.web_pages", "--serve", str(port)],
            env={
                **os.environ,
                "DATABASE_URL": database,
                "WEBRAG_READER": "none",
                "MCP_FEEDBACK": "1",
                **_ENDLESS,
                **environment,
            },
            stderr=errors,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (_DESCRIPTORS, _DESCRIPTORS)),
        ) as process,
    ):
        try:
            while not _is_healthy(port):
                if process.poll() is not None:
                    raise SystemExit(f"the server did not start: {log.read_text(encoding='utf-8')[-2_000:]}")
                time.sleep(0.1)
            yield port, psutil.Process(process.pid)
        finally:
            process.terminate()


def _is_healthy(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/health").status_code == 200
    except httpx2.TransportError:
        return False


async def attack_open(port: int, watch: Watch) -> list[Attack]:
    """All attacks on a server without a token."""
    async with _client(port, watch) as client:
        attacks = await cross_site(client)
        listed = (await client.get("/api/answers", params={"every_run": True})).json()["answers"]
        attacks.append(Attack("foreign page", "a run was started", str(listed) if listed else ""))
        for group in (methods, paths, bodies, markup):
            attacks += await group(client)
        attacks += await floods(client, _HELD)
        attacks += await slow(port, _REQUEST_SECONDS)
    return attacks


async def attack_closed(port: int, watch: Watch) -> list[Attack]:
    """All attacks on a server with a token, by somebody who lacks it or lures somebody who has it."""
    async with _client(port, watch) as client:
        return [*await tokens(client), *await redirects(client)]


def _client(port: int, watch: Watch) -> httpx2.AsyncClient:
    # a connection each: after a failure the server closes one, which must not hide the attacks that follow
    alone = httpx2.Limits(max_keepalive_connections=0)
    base = f"http://127.0.0.1:{port}"
    browser = {"accept": "text/html,*/*;q=0.8"}
    return httpx2.AsyncClient(
        base_url=base, timeout=60, limits=alone, headers=browser, event_hooks={"response": [watch]}
    )


def main() -> None:
    """Start the servers, attack, print."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8_192) if hard > 0 else soft, hard))
    attacks: list[Attack] = []
    with tempfile.TemporaryDirectory() as folder:
        database, log = embedded_url(Path(folder)), Path(folder) / "server.log"
        watch = Watch(secrets=(TOKEN, folder, database.partition("?")[0], "webrag_core/"))
        with serving(database, log) as (port, process):
            before = process.num_fds()
            attacks += asyncio.run(attack_open(port, watch))
            time.sleep(_REQUEST_SECONDS + 2)
            left = process.num_fds() - before
            attacks.append(Attack("floods", "descriptors afterwards", f"{left} more" if left > 30 else ""))
            attacks += browse(port, database)
        with serving(database, log, MCP_AUTH_TOKEN=TOKEN, MCP_ALLOWED_HOSTS="rag.example") as (port, _):
            attacks += asyncio.run(attack_closed(port, watch))
            attacks += browse(port, database, secret=TOKEN)
        logged = log.read_text(encoding="utf-8", errors="replace")
        attacks.append(Attack("log", "the token in the server's log", "is there" if TOKEN in logged else ""))
        failures = logged.count("Traceback")
        attacks.append(
            Attack("log", "errors that nobody foresaw", f"{failures}: {logged[-1_500:]}" if failures else "")
        )
    attacks += [Attack("responses", problem, problem) for problem in watch.problems]
    totals, through = (
        Counter(attack.group for attack in attacks),
        Counter(attack.group for attack in attacks if attack.through),
    )
    totals["responses"] = watch.responses
    print_table(("attacks", "number", "came through"), [(name, totals[name], through[name]) for name in totals])
    out.print(f"{totals.total()} attacks and looked-at responses, {through.total()} came through", markup=False)
    for attack in attacks:
        if attack.through:
            out.print(f"{attack.group}: {attack.name}: {attack.through}", markup=False, soft_wrap=True)
    raise SystemExit(1 if through.total() else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(int(sys.argv[2]))
    else:
        main()
