"""A clock that was a year ahead, or a year behind, while pages were stored, asked and pruned."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.faults.homes import STORED, Home, page

pytestmark = [
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.skipif(
        sys.platform != "linux" or shutil.which("cc") is None, reason="a clock is set by a library of one's own"
    ),
]
_YEAR = 366 * 86_400
_CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long ahead(void) { const char *text = getenv("CLOCK_AHEAD"); return text ? atol(text) : 0; }
int clock_gettime(clockid_t id, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int done = real(id, now);
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) now->tv_sec += ahead();
  return done;
}
time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}
"""
_SERVE = """
import os, sys
from pathlib import Path
from webrag_core.store import postgres_server
from webrag_core.store.embedded import embedded_url
postgres_server._INHERITED += ("LD_PRELOAD", "CLOCK_AHEAD")
embedded_url(Path(os.environ["WEBRAG_HOME"]))
print("up", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clock")
    folder.chmod(0o755)
    source, built = folder / "clock.c", folder / "clock.so"
    source.write_text(_CLOCK)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(built), str(source), "-ldl"], check=True)
    built.chmod(0o755)
    return built


@pytest.fixture
def site() -> Iterator[str]:
    """Pages over HTTP, whose host is asked at a pace."""

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            number = self.path.removeprefix("/p")
            body = page(int(number)).encode() if number.isdecimal() else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextmanager
def clock_of(home: Home, library: Path, ahead: int, *, database_too: bool) -> Iterator[None]:
    """The home's commands with a clock so many seconds ahead, and its database with that one or the real one."""
    environment = {"LD_PRELOAD": str(library), "CLOCK_AHEAD": str(ahead)}
    server = home._start(["-c", _SERVE], environment if database_too else {})
    assert server.stdout is not None
    assert server.stdout.readline() == "up\n"
    home.environment |= environment
    try:
        yield
    finally:
        for name in environment:
            del home.environment[name]
        server.communicate()


@pytest.mark.parametrize("database_too", [True, False])
@pytest.mark.parametrize("ahead", [_YEAR, -_YEAR])
def test_a_clock_that_was_wrong_for_a_while(
    ahead: int, database_too: bool, home: Home, library: Path, site: str
) -> None:
    before = home.state()
    live = {"WEBRAG_WARC": "", "WEBRAG_ALLOW_HOSTS": site}
    with clock_of(home, library, ahead, database_too=database_too):
        home.webrag("ingest", "https://tea.example/p1", "--refresh")
        home.ingest(STORED)
        home.webrag("ingest", f"http://{site}/p1", f"http://{site}/p2", **live)
        home.webrag("ask", "At how many degrees is tea brewed?")
        home.webrag("prune")
        home.check(before)
    home.check(before)
    later = home.state()
    home.webrag("ingest", "https://tea.example/p1", "https://tea.example/p2", "--refresh")
    home.ingest(STORED + 1)
    home.webrag("ingest", f"http://{site}/p1", f"http://{site}/p3", "--refresh", **live)  # nobody waits for a year
    home.webrag("ask", "At how many degrees is tea brewed?")
    home.webrag("history", "https://tea.example/p1")
    home.webrag("prune")
    home.check(later)
