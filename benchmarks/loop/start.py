"""What a command takes beside the same question by REST: with a server of the corpus, without, and the help alone.

The corpus is the demo's site, stored by the product's own command in a folder of its own, on the embedded PostgreSQL.
`rest` is a request of a client that is connected already. Requests and commands take turns; times are medians, by the
clock and of the processor of the command's process and its children. The first of each is not counted. Without a
server each command starts the database and stops it; where `kept`, it was started before.

    python -m benchmarks.loop.start --runs 15
"""

from __future__ import annotations

import argparse
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

import httpx2

from evals.walks.suites import DEMO_SITE
from webrag_core.access_token import SERVE_TOKEN
from webrag_core.cli.output import print_table

QUESTION = "How do I round a number to 2 digits?"
_BODIES = {"search": {"question": QUESTION}, "ask": {"question": QUESTION}}
_KEPT_SECONDS = "60"


@dataclass(slots=True)
class Times:
    """Seconds of one kind of call, by the clock and of the processor."""

    name: str
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def row(self, base: float | None) -> tuple[str, str, str, str]:
        """Name, median ms, median ms of the processor, and the ratio to `base` (seconds)."""
        ratio = "" if base is None else f"{median(self.seconds[1:]) / base:.2f}"
        cpu = f"{median(self.cpu[1:]) * 1000:.0f}" if self.cpu else "–"
        return self.name, f"{median(self.seconds[1:]) * 1000:.0f}", cpu, ratio


def main() -> None:
    """Print one line for each kind of call."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=11, help="calls of each kind")
    parser.add_argument("--cold-runs", type=int, default=5, help="calls without a server")
    arguments = parser.parse_args()
    # a child that may not write bytecode compiles every module again, which no user's does
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory(prefix="webrag-start-") as folder:
        environment = {**inherited, "WEBRAG_HOME": str(Path(folder, "home")), "PYTHONPYCACHEPREFIX": f"{folder}/pyc"}
        _command(environment, "ingest", "--warc", str(DEMO_SITE), "--json")
        rows: list[tuple[str, str, str, str]] = []
        helped = Times("webrag --help")
        for _ in range(arguments.runs):
            _timed(helped, partial(_command, environment, "--help"))
        rows.append(helped.row(None))
        bases: dict[str, float] = {}
        with _serving(environment) as client:
            for name, body in _BODIES.items():
                rest, as_json, as_text = (Times(f"{name}, {kind}") for kind in ("rest", "server, --json", "server"))
                for _ in range(arguments.runs):
                    _timed(rest, partial(_post, client, name, body))
                    _timed(as_json, partial(_command, environment, name, QUESTION, "--json"))
                    _timed(as_text, partial(_command, environment, name, QUESTION))
                rest.cpu.clear()  # of the client alone, which is next to nothing
                bases[name] = median(rest.seconds[1:])
                rows += [times.row(bases[name]) for times in (rest, as_json, as_text)]
        kept = {**environment, "WEBRAG_KEEP_DATABASE_SECONDS": _KEPT_SECONDS}
        for label, settings in (("no server", environment), ("no server, kept", kept)):
            for name in _BODIES:
                times = Times(f"{name}, {label}")
                for _ in range(arguments.cold_runs):
                    _timed(times, partial(_command, settings, name, QUESTION, "--json"))
                rows.append(times.row(bases[name]))
        print_table(("call", "ms", "ms of processor", "× rest"), rows)
        print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")


def _command(environment: dict[str, str], *arguments: str) -> None:
    script = str(Path(sys.executable).with_name("webrag"))
    subprocess.run([script, *arguments], env=environment, check=True, capture_output=True)


def _post(client: httpx2.Client, name: str, body: dict[str, str]) -> None:
    client.post(f"/api/{name}", json=body).raise_for_status()


def _timed(times: Times, call: Callable[[], object]) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    call()
    times.seconds.append(time.perf_counter() - began)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    times.cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


@contextmanager
def _serving(environment: dict[str, str]) -> Iterator[httpx2.Client]:
    """A client of a running `webrag serve`, which has answered both kinds of call."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    script = str(Path(sys.executable).with_name("webrag"))
    server = subprocess.Popen([script, "serve", "--port", str(port)], env=environment, stderr=subprocess.DEVNULL)
    try:
        base = f"http://127.0.0.1:{port}"
        with httpx2.Client(base_url=base, timeout=120) as client:
            for _ in range(600):
                try:
                    if client.get("/health").status_code == 200:
                        break
                except httpx2.TransportError:
                    pass
                time.sleep(0.1)
            token = Path(environment["WEBRAG_HOME"], SERVE_TOKEN).read_text().strip()
            client.headers["authorization"] = f"Bearer {token}"
            for name, body in _BODIES.items():
                _post(client, name, body)
            time.sleep(20)  # then the server has read its models and put aside what stays
            yield client
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
