"""How long `/health` of `webrag serve` waits beside each of its routes, and beside storing each kind of hostile page.

The server is the installed command over a frozen site of pages that are laborious to read, show and compare, in two
versions. A process of its own asks `/health` again and again; beside it each route is requested once for each thing
that it shows, one after the other. Routes come from the application itself, so a new one is in the table: one of which
nothing is known here is requested as it stands. Prints the slowest first, then one JSON line. Exit code 1 when the
worst wait is above a quarter of a second in both of two tries, so that another process on the machine counts less.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx2
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from webrag_core.config import load_settings
from webrag_core.http_server import HEALTH
from webrag_core.web.app import web_app

MOST_SECONDS = 0.25
HOST = "https://tea.example"
KEY = "tea.example"
QUESTION = "At how many degrees is green tea brewed?"
_EVERY = 0.01
_TRIES = 2
_FACT = "<p>Green tea is brewed at {} degrees for two minutes in a pot of clay.</p>"
_BODIES = {
    "pipes": "<pre>a" + "|" * 100_000 + "b</pre>",
    "brackets": "<p>" + "](" * 30_000 + "</p><p>" + "![[](" * 12_000 + "</p>",
    "ticks": "<pre>" + "`" * 60_000 + "</pre><p>" + "`" * 30_000 + "</p>",
    "address": '<p><a href="http://user@[::g]/">This link</a> leads nowhere at all.</p>',
    "definitions": "<dl>" + "<dt>a<dd>b" * 4_000 + "</dl>",
    "table": "<table>" + "<tr>" + "<td>x" * 300 + "</tr>" + "<tr><td>y</tr>" * 300 + "</table>",
    "cells": "<table>" + ("<tr>" + "<td>green <td>tea" * 20 + "</tr>") * 1_000 + "</table>",
    "words": "<p>" + "tea " * 50_000 + "</p>",
    "letters": "<p>" + "a" * 150_000 + "</p>",
    "sentences": "<p>" + "Tea is hot. " * 12_000 + "</p>",
    "digits": "<p>" + "1" * 80_000 + "</p><p>" + "1 " * 40_000 + "</p>",
    "links": "".join(f"<p><a href='/l{n}'>green tea {n}</a> and more of it</p>" for n in range(8_000)),
    "headings": "".join(f"<h2>Green tea {n}</h2><p>It is brewed at {n} degrees.</p>" for n in range(4_000)),
    "nested": "<div><ul><li>" * 3_000 + "tea",
    "code": "<pre>" + "def green_tea(): return 80  # degrees\n" * 5_000 + "</pre>",
    "markup": '<script type="application/ld+json">'
    + json.dumps([{"@type": "Thing", "name": "tea"}] * 5_000)
    + "</script>",
    "dates": "<p>" + "On 1 January 2020 and 2021-02-03 it was green. " * 3_000 + "</p>",
}


@dataclass(frozen=True, slots=True)
class Call:
    """One request. `name` is that of its route or case."""

    name: str
    method: str
    path: str
    body: Mapping[str, Any] | None = None
    form: bool = False


@dataclass(frozen=True, slots=True)
class Waited:
    """The longest wait of `/health` beside a request, and what the request itself took, in seconds. `machine` is how
    much later than it wanted the asking process woke up: what the machine itself adds at each turn."""

    call: Call
    health: float
    machine: float
    seconds: float
    status: int


def site(file: Path, degrees: int) -> Path:
    """Write the pages as a WARC file, of a later day for a later version."""
    with file.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        for name, body in _BODIES.items():
            html = f"<title>Tea</title><main><h1>Tea</h1>{_FACT.format(degrees)}{body}</main>"
            http = StatusAndHeaders("200 OK", [("Content-Type", "text/html; charset=utf-8")], protocol="HTTP/1.1")
            dated = {"WARC-Date": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"}
            writer.write_record(
                writer.create_warc_record(
                    f"{HOST}/{name}",
                    "response",
                    payload=BytesIO(html.encode()),
                    http_headers=http,
                    warc_headers_dict=dated,
                )
            )
    return file


def routes(app: Any, base: str = "") -> Iterator[tuple[str, str]]:
    """Method and path of each route of an application, whatever it is wrapped in; those below mounts with them."""
    while not hasattr(app, "routes"):
        app = getattr(app, "_app", None) or getattr(app, "app", None)
        if app is None:
            return
    for route in app.routes:
        if getattr(route, "routes", None):
            yield from routes(route.app, base + route.path)
        else:
            for method in sorted((getattr(route, "methods", None) or {"GET"}) - {"HEAD"}):
                yield method, base + route.path


class _Places(dict[str, object]):
    """Values of the parameters of paths; one that is not known is 1."""

    def __missing__(self, name: str) -> object:
        return 1


class Known:
    """What there is to ask for: versions of pages with their lengths, answers."""

    def __init__(self, client: httpx2.Client) -> None:
        urls = [f"{HOST}/{name}" for name in _BODIES]
        self.answers: list[int] = []
        for url in urls:
            for path, body in (
                ("/api/answer", {"question": QUESTION, "urls": [url], "expansion_budget": 0}),
                ("/api/ask", {"question": QUESTION, "urls": [url], "expansion_budget": 0}),
            ):
                number = client.post(path, json=body).json().get("answer_id")
                self.answers += [] if number is None else [number]
        shown = [client.get(f"/history?url={url}").text for url in urls]
        self.versions = sorted({int(number) for text in shown for number in re.findall(r"/pages/(\d+)", text)})

    def calls(self, method: str, path: str) -> Iterator[Call]:
        """The requests of a route."""
        name = f"{method} {path}"
        urls = [f"{HOST}/{body}" for body in _BODIES]
        if method == "POST":
            for body in self._bodies(path, urls):
                yield Call(name, method, re.sub(r"{\w+}", "x", path), body, form=not path.startswith(("/api", "/mcp")))
            return
        queries = {
            "/search": ["?query=green+tea+degrees", "?words=tea"],
            "/history/changes": ["", f"?target={KEY}&since=2000"],
            "/api/changes": [f"?target={KEY}&since=2000"],
            "/graph": ["", f"?about={urls[0]}"],
        }.get(path, [""])
        if path in ("/history", "/history/at", "/history/diff", "/api/history"):
            queries = [f"?url={url}" for url in urls]
        if "{version" in path:
            queries = ["", "?start=100&end=400000", "?from=50000"]
        numbers = self.versions if "{version" in path else self.answers if "{number" in path else [1]
        for number in numbers:
            places = _Places({"number": number, "version": number, "quote": 1, "suffix": "html", "key": KEY})
            filled = re.sub(r"{(\w+):\w+}", r"{\1}", path).format_map(places)
            yield from (Call(name, method, filled + query) for query in queries)

    def _bodies(self, path: str, urls: list[str]) -> list[dict[str, Any]]:
        bodies: dict[str, list[dict[str, Any]]] = {
            "/api/ask": [{"question": QUESTION}, *({"question": QUESTION, "urls": [url]} for url in urls)],
            "/api/answer": [{"question": QUESTION, "urls": [url]} for url in urls],
            "/api/search": [{"question": QUESTION}, {"question": "tea " * 200}],
            "/api/feedback": [{"answer": self.answers[0], "kind": "helpful"}],
            "/ask": [{"question": QUESTION}, {"question": QUESTION, "urls": urls[0]}],
        }
        return bodies.get(path, [{}])


def poll(base: str, orders: Connection) -> None:
    """Ask `/health` again and again; at each order send the longest wait since the one before, and how late it woke
    up at most."""
    with httpx2.Client(base_url=base, timeout=None) as client:
        longest = late = 0.0
        while True:
            if orders.poll():
                if orders.recv() is None:
                    return
                orders.send((longest, late))
                longest = late = 0.0
            begun = time.monotonic()
            client.get(HEALTH)
            ended = time.monotonic()
            longest = max(longest, ended - begun)
            time.sleep(_EVERY)
            late = max(late, time.monotonic() - ended - _EVERY)


@contextmanager
def served(home: Path, warc: Path) -> Iterator[str]:
    """`webrag serve` on this home, with these pages in place of the web."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ours = {"WEBRAG_HOME": str(home), "WEBRAG_WARC": str(warc), "WEBRAG_SERVE_OPEN": "1", "MCP_FEEDBACK": "1"}
    command = [str(Path(sys.executable).with_name("webrag")), "serve", "--port", str(port)]
    server = subprocess.Popen(command, env={**os.environ, **ours}, stderr=subprocess.DEVNULL)
    base = f"http://127.0.0.1:{port}"
    try:
        while True:
            try:
                if httpx2.get(base + HEALTH).status_code == 200:
                    break
            except httpx2.TransportError:
                if server.poll() is not None:
                    raise RuntimeError("the server ended") from None
            time.sleep(0.1)
        yield base
    finally:
        server.terminate()
        server.wait()


def measured(client: httpx2.Client, poller: Connection, call: Call) -> Waited:
    """Request, with the longest wait of `/health` meanwhile and shortly before."""
    poller.send("begin")
    poller.recv()
    begun = time.monotonic()
    content: dict[str, Any] = {"data": call.body} if call.form else {"json": call.body} if call.body is not None else {}
    status = client.request(call.method, call.path, **content).status_code
    seconds = time.monotonic() - begun
    poller.send("end")
    health, machine = poller.recv()
    return Waited(call, health, machine, seconds, status)


def measure(home: Path) -> list[Waited]:
    """All routes and cases, each in the better of the tries where the first is above the limit."""
    context = multiprocessing.get_context("spawn")
    waited: list[Waited] = []

    def over(base: str, calls: Iterator[Call]) -> None:
        ours, theirs = context.Pipe()
        process = context.Process(target=poll, args=(base, theirs), daemon=True)
        process.start()
        with httpx2.Client(base_url=base, timeout=None) as client:
            for call in calls:
                tries = [measured(client, ours, call)]
                while tries[-1].health > MOST_SECONDS and len(tries) < _TRIES:
                    tries.append(measured(client, ours, call))
                waited.append(min(tries, key=lambda item: item.health))
        ours.send(None)
        process.join()

    first = site(home / "first.warc.gz", 80)
    with served(home / "corpus", first) as base:
        with httpx2.Client(base_url=base, timeout=None) as client:  # models are loaded once
            client.post("/api/ask", json={"question": QUESTION, "urls": [f"{HOST}/address"], "expansion_budget": 0})
        over(base, (storing(name, "first") for name in _BODIES))
    with served(home / "corpus", site(home / "second.warc.gz", 75)) as base:
        over(base, (storing(name, "later") for name in _BODIES))
        with httpx2.Client(base_url=base, timeout=None, headers={"accept": "text/html"}) as client:
            known = Known(client)
        app = web_app(load_settings(webrag_home=home / "corpus"))
        over(base, (call for method, path in routes(app) if path != HEALTH for call in known.calls(method, path)))
    return waited


def storing(name: str, version: str) -> Call:
    """A question that has one page stored, in its first or a later version."""
    body = {"question": QUESTION, "urls": [f"{HOST}/{name}"], "expansion_budget": 0, "max_age": 0}
    return Call(f"store {name} ({version})", "POST", "/api/answer", body)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=15, help="Rows of the table.")
    parser.add_argument("--only", help="Names of hostile pages, separated by commas; unset = all.")
    arguments = parser.parse_args()
    rows = arguments.rows
    for name in [name for name in _BODIES if arguments.only and name not in {*arguments.only.split(","), "address"}]:
        del _BODIES[name]
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="webrag-health-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        waited = measure(folder)
    by_name: dict[str, Waited] = {}
    for item in sorted(waited, key=lambda item: item.health):
        by_name[item.call.name] = item
    print(f"{'health':>8} {'machine':>8} {'request':>8} {'status':>6}  slowest request")
    for item in sorted(by_name.values(), key=lambda item: item.health, reverse=True)[:rows]:
        figures_of = f"{item.health:8.3f} {item.machine:8.3f} {item.seconds:8.3f} {item.status:6}"
        print(f"{figures_of}  {item.call.name}: {item.call.path[:80]}")
    worst = max(item.health for item in waited)
    failed = sorted({f"{item.call.method} {item.call.path}" for item in waited if item.status >= 500})
    figures = {
        "routes_and_cases": len(by_name),
        "requests": len(waited),
        "worst_health_s": round(worst, 3),
        "above": sum(item.health > MOST_SECONDS for item in waited),
        "errors": failed,
        "load_before_and_after": [round(before, 1), round(os.getloadavg()[0], 1)],
    }
    print(json.dumps(figures))
    return int(worst > MOST_SECONDS or bool(failed))


if __name__ == "__main__":
    sys.exit(main())
