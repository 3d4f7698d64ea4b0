"""Every payload of `address_payloads` through every door: no socket may be dialled, nothing of the canary stored.

Doors: the network gate, the library, the command line, the MCP server, redirects of every kind, Firecrawl's replies,
sources (as YAML and attached) with their refresh, discovery files, page markup with links that `answer` follows, and
the Dagster job's configuration. The only address that may be dialled is a site of our own on 127.0.0.1, opened by
WEBRAG_ALLOW_HOSTS. Sockets are watched by an audit hook in every process (`watched`), and a canary listens behind the
payloads. Prints one line per door and a JSON summary; exit code 1 on any violation.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from pydantic import ValidationError

from benchmarks.security.address_payloads import payloads
from benchmarks.security.address_site import CANARY, REDIRECTS, Canary, LeadingSite
from benchmarks.security.served_web import Person
from benchmarks.security.watched import ALLOWED, watch
from webrag_core.acquisition.gate import NetworkGate
from webrag_core.config import Settings, load_settings
from webrag_core.corpus.sources import attach_source
from webrag_core.errors import FetchError, Reason, WebragError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine

_QUESTION = "What is the secret of the teapot?"
_EACH_OF_MANY = 40  # commands and Dagster runs take seconds: every fortieth payload
_MCP_URLS = 20


@dataclass(slots=True)
class Door:
    """Trials through one door, and payloads that it accepted (a success that names a payload)."""

    name: str
    trials: int = 0
    accepted: list[str] = field(default_factory=list)


class Attack:
    """One corpus, one leading site, one canary, and the addresses dialled outside the allowed one."""

    def __init__(self, home: Path) -> None:
        self.canary = Canary()
        self.payloads = payloads(self.canary.port)
        self.site = LeadingSite(self.payloads)
        self.dialled: list[str] = []
        self.doors: list[Door] = []
        self.home = home
        self.log = home / "dialled"
        self.settings = load_settings(
            webrag_home=home, webrag_allow_hosts=f"127.0.0.1:{self.site.port}", webrag_fetch_timeout=5.0
        )
        watch({("127.0.0.1", self.site.port)}, self.dialled.append)

    @property
    def environment(self) -> dict[str, str]:
        """Of the commands: the same corpus, the same opened address."""
        return {
            **os.environ,
            "WEBRAG_HOME": str(self.home),
            "WEBRAG_ALLOW_HOSTS": f"127.0.0.1:{self.site.port}",
            ALLOWED: f"127.0.0.1:{self.site.port}",
        }

    @asynccontextmanager
    async def corpus(self, **changes: object) -> AsyncIterator[Corpus]:
        """The corpus, with other settings."""
        async with Corpus.open(Settings(**{**self.settings.model_dump(), **changes})) as corpus:
            yield corpus

    async def through(self, name: str, urls: Iterable[str], attempt: Callable[[str], Awaitable[object]]) -> None:
        """Try each URL; whatever is not refused is accepted."""
        door = Door(name)
        for url in urls:
            door.trials += 1
            try:
                await attempt(url)
            except (WebragError, ValidationError):
                continue
            door.accepted.append(url)
        self.close(door)

    def close(self, door: Door) -> None:
        """Report a door that was tried."""
        self.doors.append(door)
        print(f"{door.name}: {door.trials} trials, {len(door.accepted)} accepted, dialled {len(self.dialled)}")

    def everything_dialled(self) -> list[str]:
        """Addresses dialled by this process and the commands."""
        return [*self.dialled, *(self.log.read_text().splitlines() if self.log.exists() else ())]


async def library(attack: Attack) -> None:
    """The gate, the library, redirects and Firecrawl's replies."""
    gate = NetworkGate(attack.settings)
    await attack.through("gate", attack.payloads, gate.get)
    async with attack.corpus() as corpus:
        await attack.through("library add", attack.payloads, corpus.add)
        await attack.through("library answer", attack.payloads, lambda url: _answer(corpus, url))
        redirects = [
            f"{attack.site.origin}/redirect/{status}/{number}"
            for status in REDIRECTS
            for _, number in attack.site.redirects()
        ]
        await attack.through("redirects", redirects, corpus.add)
    async with attack.corpus(firecrawl_api_url=attack.site.origin) as corpus:
        await attack.through("add through Firecrawl", attack.payloads, corpus.add)
        reported = [f"{attack.site.origin}/reported/{number}" for number in range(len(attack.payloads))]
        await attack.through("final URLs of Firecrawl", reported, corpus.add)


async def sources(attack: Attack) -> None:
    """Sources attached and declared; discovery files, page markup and links of a site that leads to payloads."""
    from webrag_dagster.components import CuratedSource

    async with attack.corpus(webrag_map_timeout=20.0) as corpus:

        async def refreshed(url: str) -> None:
            async with corpus.database.connection() as connection:
                key = await attach_source(connection, url, 10)
            report = await corpus.refresher().run(key)
            if not report.counts.fetched:
                raise FetchError(Reason.NOT_FOUND, f"no page of {url} was stored")

        async def declared(url: str) -> None:
            await refreshed(CuratedSource(seed=url).seed)

        await attack.through("attach and refresh", attack.payloads, refreshed)
        await attack.through("YAML source and refresh", attack.payloads[::4], declared)
        door = Door("discovery files, markup and links", len(attack.payloads))
        before = len(attack.site.requests)
        await refreshed(f"{attack.site.origin}/")
        await _answer(corpus, f"{attack.site.origin}/", policy="fixed-k:4", expansion_budget=4)
        paths = attack.site.requests[before:]
        assert {"/index.xml", "/pages.xml"} <= set(paths), "the site map was not read"
        assert any(path.startswith("/jump/") for path in paths), "no link was followed"
        attack.close(door)


async def _answer(corpus: Corpus, url: str, **options: Any) -> None:
    await OrchestratorEngine(corpus).run(AnswerRequest((url,), _QUESTION, **options))


def command_line(attack: Attack) -> None:
    """All payloads to one `ingest`, some to `answer`, `source add` and `forget`."""
    arguments = [url for url in attack.payloads if "\0" not in url]
    door = Door("webrag ingest", len(arguments))
    report = json.loads(_webrag(attack, "ingest", "--json", "--", *arguments).stdout)
    door.accepted = ["stored"] * sum(report[outcome] for outcome in ("fetched", "unchanged", "reused"))
    attack.close(door)
    door = Door("webrag answer, source add, forget")
    for url in arguments[::_EACH_OF_MANY]:
        for command in (("answer", url, _QUESTION), ("source", "add", url), ("forget", "--yes", url)):
            door.trials += 1
            done = _webrag(attack, *command)
            if command[0] == "answer" and done.returncode == 0:
                door.accepted.append(url)
            assert "Traceback" not in done.stderr, done.stderr
    attack.close(door)


def _webrag(attack: Attack, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "benchmarks.security.watched", str(attack.log), *arguments]
    return subprocess.run(program, env=attack.environment, capture_output=True, text=True, check=False)


async def mcp(attack: Attack) -> None:
    """`ingest` and `answer` of the server over stdio."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "benchmarks.security.watched", str(attack.log), "mcp"],
        env={**attack.environment, "MCP_LOG_LEVEL": "CRITICAL"},
        cwd=Path.cwd(),
    )
    ingested, answered = Door("MCP ingest"), Door("MCP answer")
    # a person who agrees to everything: the gate behind the address guard is what is tried
    async with Client(stdio_client(server), mode="legacy", elicitation_callback=Person("accept")) as client:
        for start in range(0, len(attack.payloads), _MCP_URLS):
            urls = attack.payloads[start : start + _MCP_URLS]
            for url in urls:  # one at a time: a malformed one would refuse the whole call
                result = await client.call_tool("ingest", {"urls": url})
                ingested.trials += 1
                ingested.accepted += [] if result.is_error else [url]
        for url in attack.payloads:
            result = await client.call_tool("answer", {"urls": url, "question": _QUESTION})
            answered.trials += 1
            answered.accepted += [] if result.is_error else [url]
    attack.close(ingested)
    attack.close(answered)


def dagster(attack: Attack) -> None:
    """Configurations of the `answer` job."""
    import dagster as dg

    from webrag_dagster.definitions import definitions

    os.environ |= attack.environment
    door = Door("Dagster job answer")
    job = definitions().resolve_job_def("answer")
    with dg.DagsterInstance.ephemeral() as instance:
        for url in attack.payloads[::_EACH_OF_MANY]:
            door.trials += 1
            config = {"urls": [url], "question": _QUESTION}
            if job.execute_in_process(instance=instance, run_config=config, raise_on_error=False).success:
                door.accepted.append(url)
    attack.close(door)


async def stored(attack: Attack) -> list[str]:
    """Stored URLs outside the site, and stored texts of the canary."""
    async with attack.corpus() as corpus, corpus.database.connection() as connection:
        cursor = await connection.execute(
            "SELECT d.canonical_url FROM documents d LEFT JOIN document_versions v ON v.document_id = d.id"
            " WHERE v.id IS NOT NULL AND (NOT starts_with(d.canonical_url, %s) OR strpos(v.markdown, %s) > 0)",
            (attack.site.origin, CANARY),
        )
        return [str(row[0]) for row in await cursor.fetchall()]


def run(home: Path, doors: Sequence[str]) -> int:
    """Try the doors; return the number of violations."""
    attack = Attack(home)
    parts: dict[str, Callable[[], object]] = {
        "library": lambda: asyncio.run(library(attack)),
        "sources": lambda: asyncio.run(sources(attack)),
        "command-line": lambda: command_line(attack),
        "mcp": lambda: asyncio.run(mcp(attack)),
        "dagster": lambda: dagster(attack),
    }
    for name in doors or parts:
        parts[name]()
    pages = asyncio.run(stored(attack))
    accepted = {door.name: door.accepted for door in attack.doors if door.accepted}
    dialled = attack.everything_dialled()
    summary = {
        "payloads": len(attack.payloads),
        "trials": sum(door.trials for door in attack.doors),
        "accepted": accepted,
        "dialled": dialled,
        "canary_connections": attack.canary.connections,
        "stored": pages,
    }
    print(json.dumps(summary, indent=2, ensure_ascii=True))
    return sum(map(len, accepted.values())) + len(dialled) + attack.canary.connections + len(pages)


def main() -> None:
    """Run it in a fresh home; doors may be named as arguments."""
    with tempfile.TemporaryDirectory() as home:
        sys.exit(1 if run(Path(home), sys.argv[1:]) else 0)


if __name__ == "__main__":
    main()
