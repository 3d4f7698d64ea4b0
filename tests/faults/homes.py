"""Homes with a corpus that faults happen to, used by commands as a person would, and what they hold afterwards."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import REPOSITORY
from tests.dagster.small_warc import write_site

HOST = "https://tea.example"
PAGES = 24
STORED = 8
"""Pages that a fresh copy holds."""

_STATE = """
import asyncio, json, sys
from benchmarks.corpus.corpus_digest import corpus_digest
from webrag_core.config import load_settings
from webrag_core.store.database import Database

async def work():
    async with await Database.open(load_settings()) as database, database.connection() as connection:
        async def rows(statement):
            return await (await connection.execute(statement)).fetchall()
        texts = await rows(
            "SELECT d.canonical_url, v.sha256 FROM document_versions v JOIN documents d ON d.id = v.document_id"
            " WHERE v.markdown IS NOT NULL ORDER BY 1, v.id"
        )
        answers = await rows("SELECT id, state FROM answer_runs ORDER BY 1")
        digest = await corpus_digest(connection) if "digest" in sys.argv else ""
    print(json.dumps({"texts": texts, "answers": answers, "digest": digest}))

asyncio.run(work())
"""


def page(number: int, day: int = 0) -> str:
    """A page of its own words, long enough to be stored outside of its row, with links to the next ones."""
    facts = "".join(
        f"<h2>Part {part} of tea {number}</h2><p>Tea {number}-{part}-{day} is brewed at {60 + part} degrees, and "
        f"{' '.join(f'word{number * 1000 + part * 40 + n}' for n in range(40))}.</p>"
        for part in range(12)
    )
    links = "".join(f'<p>See <a href="/p{(number + n) % PAGES}">tea {number + n}</a>.</p>' for n in (1, 2))
    return (
        f"<html><head><title>Tea {number}</title></head><body><main><h1>Tea {number}</h1>{facts}{links}</main></body>"
    )


def url(number: int) -> str:
    """Address of a page."""
    return f"{HOST}/p{number}"


@dataclass(slots=True)
class Home:
    """A corpus in `folder`, whose pages come from `warc`. `environment` goes to every command, but what is empty."""

    folder: Path
    warc: Path
    environment: dict[str, str] = field(default_factory=dict)

    def copied(self, folder: Path) -> Home:
        """A copy, with the same owners; no command may be at work."""
        subprocess.run(["cp", "-a", f"{self.folder}/.", str(folder)], check=True)
        return Home(folder, self.warc, dict(self.environment))

    def start(self, *command: str, **environment: str) -> subprocess.Popen[str]:
        """Start `webrag …`, leading a process group of its own."""
        return self._start(["-m", "webrag", *command], environment)

    def webrag(self, *command: str, code: int | None = 0, **environment: str) -> str:
        """Run `webrag …` to its end. Returns stdout and stderr; `code` None takes any exit code but a crash's."""
        process = self.start(*command, **environment)
        printed, problems = process.communicate()
        assert "Traceback" not in problems, printed + problems
        if code is not None:
            assert process.returncode == code, printed + problems
        return printed + problems

    def ingest(self, *numbers: int, code: int | None = 0, **environment: str) -> str:
        """Store pages."""
        return self.webrag("ingest", *map(url, numbers), code=code, **environment)

    def python(self, script: str, *arguments: str, **environment: str) -> str:
        """Run a script in the home's environment."""
        process = self._start(["-c", script, *arguments], environment)
        printed, problems = process.communicate()
        assert process.returncode == 0, printed + problems
        return printed

    def state(self, *, digest: bool = False) -> dict[str, Any]:
        """Texts with their addresses, answers, and the digest of all that a reader can find."""
        state: dict[str, Any] = json.loads(self.python(_STATE, *(["digest"] if digest else [])))
        return state

    def check(self, before: Mapping[str, Any]) -> None:
        """Nothing is torn, doubled or lost of what was there `before`."""
        self.webrag("verify")
        now = self.state()
        for kind in ("texts", "answers"):
            have = [tuple(one) for one in now[kind]]
            assert len(set(have)) == len(have), kind
            assert {tuple(one) for one in before[kind]} <= set(have), kind

    def killed(self, seconds: float, *command: str, **environment: str) -> bool:
        """Kill a command with what it started, but not the database, after so long; False when it ended before."""
        process = self.start(*command, **environment)
        time.sleep(seconds)
        was_running = process.poll() is None
        if was_running:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return was_running

    def server(self) -> int | None:
        """Process of the database server; None where it does not run."""
        try:
            return int((self.folder / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0])
        except (FileNotFoundError, ValueError):
            return None

    def _start(self, arguments: list[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
        ours = {"WEBRAG_HOME": str(self.folder), "WEBRAG_WARC": str(self.warc), "WEBRAG_READER": "none"}
        given = {**ours, **self.environment, **environment}
        return subprocess.Popen(
            [sys.executable, *arguments],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), **{name: one for name, one in given.items() if one}},
            cwd=self.warc.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


def filled_home(folder: Path) -> Home:
    """A home with STORED pages, one of them in two versions, an answer, and a source."""
    folder.chmod(0o755)
    warc = write_site(folder / "site.warc.gz", {url(n): page(n) for n in range(PAGES)})
    earlier = write_site(folder / "earlier.warc.gz", {url(0): page(0, day=1)})
    home = Home(folder / "home", earlier)
    home.ingest(0)
    home.warc = warc
    home.webrag("ingest", url(0), "--refresh")
    home.ingest(*range(1, STORED))
    home.webrag("ask", "At how many degrees is tea brewed?")
    return home


def discard(folder: Path) -> None:
    """Delete a home whose server has ended."""
    shutil.rmtree(folder, ignore_errors=True)
