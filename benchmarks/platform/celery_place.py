"""What a benchmark of Celery workers needs besides a workplace: broker, instance, workers, and a host with a pace."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path

import psycopg
import yaml  # type: ignore[import-untyped]

from benchmarks.platform.workplace import ROOT, Workplace
from webrag_core.config import load_settings
from webrag_core.store.embedded import embedded_url

INSTANCE = ROOT / "docs" / "instances" / "celery.yaml"
_SECONDS_TO_START = 120.0


@dataclass(slots=True)
class Broker:
    """A Redis server on a port of its own that keeps what it holds in `folder`."""

    folder: Path
    port: int = field(default_factory=lambda: free_port())
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its address for Celery."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it as the operator's guide says; what its folder holds is there again."""
        self.folder.mkdir(exist_ok=True)
        keep = ("--appendonly", "yes", "--appendfsync", "always", "--save", "", "--dir", str(self.folder))
        command = ("redis-server", "--bind", "127.0.0.1", "--port", str(self.port), *keep)
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self) -> None:
        """Kill −9."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def forget(self) -> None:
        """Delete what it kept."""
        for file in self.folder.rglob("*"):
            if file.is_file():
                file.unlink()


@contextmanager
def broker(place: Workplace) -> Iterator[Broker]:
    """A running broker, killed afterwards."""
    made = Broker(place.folder / "redis")
    made.start()
    os.environ["CELERY_BROKER_URL"] = made.url
    try:
        yield made
    finally:
        made.kill()


def write_instance(place: Workplace, runs: int, start_timeout_s: int = 300) -> None:
    """docs/instances/celery.yaml, Dagster's storage in the embedded server, and at most `runs` runs in the broker."""
    address = embedded_url(load_settings().webrag_home)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE DATABASE dagster")
        name = connection.info.dbname
    content = yaml.safe_load(INSTANCE.read_text())
    scheme = content["storage"]["postgres"]["postgres_db"]["scheme"]
    address = address.replace("postgresql", scheme, 1).replace(f"/{name}?", "/dagster?", 1)
    content["storage"]["postgres"] = {"postgres_url": address}
    content["concurrency"]["runs"]["max_concurrent_runs"] = runs
    content["run_monitoring"]["start_timeout_seconds"] = start_timeout_s
    (place.folder / "dagster.yaml").write_text(yaml.safe_dump(content))


class Workers:
    """Worker processes, each the leader of a group of its own: killing a group is what a dying machine does."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, *names: str, environment: dict[str, str] | None = None) -> None:
        """Start the workers, without waiting for them."""
        program = str(Path(sys.executable).with_name("celery"))
        application = ("--app", "webrag_dagster.processes.celery_worker", "worker", "--concurrency", "1")
        for name in names:
            command = (program, *application, "--hostname", f"{name}@here", "--loglevel", "INFO")
            with self._log(name).open("wb") as log:
                self.processes[name] = subprocess.Popen(
                    command,
                    cwd=self._folder,
                    stdout=log,
                    stderr=log,
                    env={**os.environ, **(environment or {})},
                    start_new_session=True,
                )

    def wait(self) -> None:
        """Wait until all are ready. Raises RuntimeError with the log of one that is not."""
        deadline = time.monotonic() + _SECONDS_TO_START
        for name in self.processes:
            while "ready." not in (text := self._log(name).read_text(errors="replace")):
                if time.monotonic() > deadline or self.processes[name].poll() is not None:
                    raise RuntimeError(text[-3000:])
                time.sleep(0.2)

    def kill(self, name: str) -> None:
        """Kill −9 the worker and the processes of its runs."""
        with suppress(ProcessLookupError):
            os.killpg(self.processes[name].pid, signal.SIGKILL)
        self.processes.pop(name).wait()

    def log(self) -> str:
        """The ends of all logs."""
        return "\n".join(file.read_text(errors="replace")[-2000:] for file in sorted(self._folder.glob("worker-*.txt")))

    def _log(self, name: str) -> Path:
        return self._folder / f"worker-{name}.txt"


@contextmanager
def workers(place: Workplace, count: int) -> Iterator[Workers]:
    """`count` workers named w1, w2, …, on their way; killed afterwards."""
    group = Workers(place.folder)
    try:
        group.start(*(f"w{number}" for number in range(1, count + 1)))
        yield group
    finally:
        for name in list(group.processes):
            group.kill(name)


@dataclass(slots=True)
class PoliteSite:
    """A site of `pages` pages that asks for `delay_s` between requests, and when each was requested."""

    pages: int
    delay_s: int
    port: int = 0
    requests: list[tuple[float, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Its start page."""
        return f"http://127.0.0.1:{self.port}/"

    def urls(self) -> list[str]:
        """All pages."""
        return [self.url, *(f"{self.url}page/{number}" for number in range(1, self.pages))]

    def distances(self) -> list[float]:
        """Seconds between successive requests for pages. The rules themselves (robots.txt) have no pace."""
        times = sorted(at for at, path in self.requests if path != "/robots.txt")
        return [later - earlier for earlier, later in pairwise(times)]

    def answer(self, path: str) -> tuple[str, str]:
        """Media type and body."""
        if path == "/robots.txt":
            return "text/plain", f"User-agent: *\nCrawl-delay: {self.delay_s}\n"
        text = " ".join(f"Sentence {number} of {path} says what no other page says." for number in range(30))
        return "text/html", f"<html><head><title>{path}</title></head><body><h1>{path}</h1><p>{text}</p></body></html>"


@contextmanager
def polite_site(pages: int, delay_s: int) -> Iterator[PoliteSite]:
    """The site on a free port."""
    site = PoliteSite(pages, delay_s)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests.append((time.monotonic(), self.path))
            media_type, text = site.answer(self.path)
            self.send_response(200)
            self.send_header("Content-Type", f"{media_type}; charset=utf-8")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield site
        finally:
            server.shutdown()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
