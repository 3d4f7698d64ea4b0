"""A foreign web page, in a real browser, that tries to act on and to read a Dagster UI of this machine.

`python -m benchmarks.security.foreign_site` attacks `webrag up`, then Dagster's bare web server, which shows that the
attacks are real. The page is on another site, on another port of the UI's own host (same site: cookies are sent),
or at a host name of the attacker that leads to this machine once the page is loaded (DNS rebinding).
"""

from __future__ import annotations

import functools
import http.server
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
from playwright.sync_api import BrowserContext, Page, sync_playwright

from benchmarks.platform.workplace import Workplace, workplace
from webrag_core.cli.output import out, print_table

_PAGE = Path(__file__).with_name("foreign_page.html")
_SITE, _REBOUND = "foreign.test", "rebound.test"
_FRAME = "UI in a frame"
PLACES = ("other site", "other site, localhost", "other port", "rebound name")
_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
"""Path of the browser, None where there is none. The shell draws no window: a sixth less work for the same pages."""

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    f"--host-resolver-rules=MAP {_SITE} 127.0.0.1,MAP {_REBOUND} 127.0.0.1",
    # what is tested is the server, not the newest browser's own guard of local addresses
    "--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets",
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One variant from one place. `acted`: the server did what it was told. `read`: what the page read, or nothing."""

    place: str
    variant: str
    acted: bool
    read: str

    @property
    def succeeded(self) -> bool:
        """True when it acted or read."""
        return self.acted or bool(self.read)


def attack(
    context: BrowserContext, port: int, instance: dg.DagsterInstance, places: Sequence[str] = PLACES
) -> list[Attempt]:
    """Try every variant from these places on the UI at `port` of this machine, which shows `instance`.

    The browser was started with FLAGS; `context` may be logged in.
    """
    origin = f"http://127.0.0.1:{port}"
    rebound = f"http://{_REBOUND}:{port}"
    attempts = []
    with foreign_pages() as foreign:
        pages = {
            "other site": (f"http://{_SITE}:{foreign}/{_PAGE.name}", origin),
            "other site, localhost": (f"http://{_SITE}:{foreign}/{_PAGE.name}", f"http://localhost:{port}"),
            "other port": (f"http://127.0.0.1:{foreign}/{_PAGE.name}", origin),
            "rebound name": (f"{rebound}/{_PAGE.name}", rebound),
        }
        for place in places:
            address, target = pages[place]
            open_before = context.pages
            page = context.new_page()
            if target == rebound:  # the name still leads to the attacker's server when the page itself is loaded
                page.route(address, lambda route: route.fulfill(path=_PAGE))
            page.goto(address)
            results = page.evaluate("([target, place]) => attack(target, place)", [target, place.replace(" ", "-")])
            framed = _is_framed(page)
            effects = effects_of(instance)
            attempts += [
                Attempt(place, variant, key in effects, read or ("in a frame" if variant == _FRAME and framed else ""))
                for variant, key, read in results
            ]
            for opened in context.pages:
                if opened not in open_before:
                    opened.close()
    return attempts


def effects_of(instance: dg.DagsterInstance) -> set[str]:
    """Names of everything that a variant can have made."""
    assets = {key.to_user_string() for key in instance.get_asset_keys()}
    return assets | set(instance.event_log_storage.get_concurrency_keys())


def _is_framed(page: Page) -> bool:
    """Whether the page's frame shows the UI; the page itself cannot look into it."""
    return any("__NEXT_DATA__" in frame.content() for frame in page.frames if frame.name == "framed")


@contextmanager
def foreign_pages() -> Iterator[int]:
    """Serve the pages of this folder as a foreign site; yields its port."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(_PAGE.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def main() -> None:
    """Print what came through. Exit status 1 when anything came through the guard, or nothing without it."""
    with workplace() as place:
        guarded = _attack(place, place.up())
    with workplace() as place:
        module = ("-m", "webrag_dagster.definitions")
        bare = _attack(place, (sys.executable, "-m", "dagster_webserver", "-p", str(place.port), *module))
    rows = [
        (
            name,
            len([trial for trial in guarded if trial.place == name]),
            _successes(guarded, name),
            _successes(bare, name),
        )
        for name in dict.fromkeys(trial.place for trial in guarded)
    ]
    print_table(("foreign page", "variants", "came through", "came through the bare server"), rows)
    for trial in guarded:
        if trial.succeeded:
            out.print(f"{trial.place}, {trial.variant}: acted {trial.acted}, read {trial.read[:60]!r}", markup=False)
    raise SystemExit(1 if any(trial.succeeded for trial in guarded) or not any(trial.acted for trial in bare) else 0)


def _attack(place: Workplace, command: Sequence[str]) -> list[Attempt]:
    """Start a server and a browser, and attack."""
    with (
        place.running(*command),
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser,
        dg.DagsterInstance.get() as instance,
    ):
        return attack(browser.new_context(), place.port, instance)


def _successes(attempts: list[Attempt], place: str) -> int:
    return sum(attempt.succeeded for attempt in attempts if attempt.place == place)


if __name__ == "__main__":
    main()
