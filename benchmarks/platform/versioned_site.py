"""A site on this machine that changes from day to day, and has bad days: what a script of days says (`Day`).

Each page has a text of its own, a sentence that names its page and its edition, and links in a tree. What a stored copy
should say can so be told from the page alone.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

CHILDREN = 3
"""Links from each page to the next ones."""
_LETTERS = "abcdefghiklmnoprstuvw"
_NOTICE = "We will be back soon. " * 8 + "Our site is being looked after, and all of its pages return within the hour."
_WORDS = 220

Trouble = Literal["500", "refused", "429", "robots", "robots-503", "soft-404", "login", "notice", "slow"]


class Day(BaseModel):
    """One day: what changes before its refresh, what is wrong on it alone, and what a person should be told."""

    model_config = ConfigDict(extra="forbid")

    day: int
    event: str
    add: int = Field(default=0, ge=0, description="Pages that are new, linked from the start page.")
    edit: list[str] = Field(default_factory=list, description="Pages that get another edition.")
    lying_edit: list[str] = Field(default_factory=list, description="Likewise, and their ETag stays.")
    delete: list[str] = []
    restore: list[str] = []
    move: dict[str, str] = Field(default_factory=dict, description="Old page -> new page, with a redirect.")
    redesign: bool = False
    trouble: Trouble | None = None
    troubled: list[str] = Field(default_factory=list, description="Pages that have it; none = all.")
    told: int = Field(default=0, description="Alerts that are due, recoveries not counted.")
    recovered: int = Field(default=0, description="Recoveries that are due.")


class VersionedSite:
    """Serves its pages as they are now. Counts requests, and those that were conditional."""

    def __init__(self, pages: int) -> None:
        self.editions: dict[str, int] = {f"p{number:02}": 1 for number in range(1, pages + 1)}
        self.etags: dict[str, int] = dict(self.editions)
        self.deleted: set[str] = set()
        self.moved: dict[str, str] = {}
        self.design = 1
        self.trouble: Trouble | None = None
        self.troubled: set[str] = set()
        self.requests = self.conditional = 0
        self.port = 0
        self._server: ThreadingHTTPServer | None = None

    @property
    def home(self) -> str:
        """URL of the start page."""
        return f"http://127.0.0.1:{self.port}/"

    @property
    def key(self) -> str:
        """Key of the source."""
        return f"127.0.0.1:{self.port}"

    def truth(self) -> dict[str, str]:
        """URL of every page that is there -> the sentence that only its present edition has."""
        there = {name for name in self.editions if name not in self.deleted and name not in self.moved}
        return {self.home: sentence("home", 1)} | {
            f"{self.home}{name}": sentence(self.origin(name), self.editions[name]) for name in sorted(there)
        }

    def origin(self, name: str) -> str:
        """Where a page was first: it moves with its words."""
        return next((old for old, new in self.moved.items() if new == name), name)

    def begin(self, day: Day) -> None:
        """Change what the day changes. Its trouble replaces that of the day before."""
        for number in range(day.add):
            name = f"n{day.day:02}-{number}"
            self.editions[name] = self.etags[name] = 1
        for name in (*day.edit, *day.lying_edit):
            self.editions[name] += 1
        for name in day.edit:
            self.etags[name] = self.editions[name]
        self.deleted |= set(day.delete)
        self.deleted -= set(day.restore)
        for old, new in day.move.items():
            self.moved[old] = new
            self.editions[new] = self.etags[new] = self.editions[old]
        self.design += day.redesign
        self.trouble, self.troubled = day.trouble, set(day.troubled)
        self.requests = self.conditional = 0
        if (self._server is None) != (day.trouble == "refused"):
            self.stop() if day.trouble == "refused" else self.start()

    def start(self) -> None:
        """Listen, on the same port as before."""
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), _handler(self))
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        """Refuse connections."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def html(self, name: str) -> str:
        """A page as it is now."""
        links = "".join(f'<p>See also <a href="/{below}">the page {below}</a>.</p>' for below in self.links(name))
        name, edition = self.origin(name), self.editions.get(name, 1)
        first, second = prose(f"{name} first", _WORDS // 2), prose(f"{name} second", _WORDS // 2)
        text = f"<p>{first}</p><p>{sentence(name, edition)}</p><h2>{name} in detail</h2><p>{second}</p>"
        frame = f'<div class="design-{self.design}">' * self.design, "</div>" * self.design
        main = f"<main><h1>About {name}</h1>{text}{links}</main>"
        return f"<html><head><title>{name}</title></head><body>{frame[0]}{main}{frame[1]}</body></html>"

    def links(self, name: str) -> list[str]:
        """Names of the pages that a page links to."""
        first = [edition for edition in self.editions if edition.startswith("p") and edition not in self.moved.values()]
        name = self.origin(name)
        place = -1 if name == "home" else first.index(name) if name in first else None
        if place is None:
            return []
        below = first[CHILDREN * (place + 1) : CHILDREN * (place + 2)]
        return below + ([edition for edition in self.editions if edition not in first] if name == "home" else [])


def sentence(name: str, edition: int) -> str:
    """What only this edition of a page says."""
    return f"This is edition {edition} of what is known of {name}."


def prose(seed: str, words: int) -> str:
    """Words that no other seed has."""
    random = Random(seed)
    return " ".join("".join(random.choices(_LETTERS, k=random.randint(4, 9))) for _ in range(words))


@contextmanager
def versioned_site(pages: int) -> Iterator[VersionedSite]:
    """A site that listens until the end."""
    site = VersionedSite(pages)
    site.start()
    try:
        yield site
    finally:
        site.stop()


def _handler(site: VersionedSite) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = urlsplit(self.path).path.strip("/") or "home"
            if path == "robots.txt":
                return self._robots()
            site.requests += 1
            site.conditional += "If-None-Match" in self.headers
            if path == "login":
                return self._send(200, "<main><h1>Log in</h1><p>Please log in with your name and your word.</p></main>")
            known = path == "home" or path in site.editions
            if not known:
                return self._send(404, "<h1>404</h1>")
            if site.trouble is not None and (not site.troubled or path in site.troubled) and self._trouble(path):
                return None
            if path in site.deleted:
                return self._send(404, "<h1>404</h1>")
            if path in site.moved:
                return self._send(301, "", ("Location", f"/{site.moved[path]}"))
            html = site.html(path)
            links = hashlib.sha256(" ".join(site.links(path)).encode()).hexdigest()[:8]
            etag = f'"{path}-{site.etags.get(path, 1)}-{site.design}-{links}"'
            if self.headers.get("If-None-Match") == etag:
                return self._send(304, "", ("ETag", etag))
            return self._send(200, html, ("ETag", etag))

        def _robots(self) -> None:
            if site.trouble == "robots-503":
                return self._send(503, "later")
            if site.trouble == "robots":
                return self._send(200, "User-agent: *\nDisallow: /\n", kind="text/plain")
            return self._send(404, "")

        def _trouble(self, path: str) -> bool:
            """Answer with the trouble of the day; False where the page answers as ever."""
            match site.trouble:
                case "500":
                    self._send(500, "<h1>Internal Server Error</h1>")
                case "429":
                    self._send(429, "<h1>Too Many Requests</h1>")
                case "soft-404":
                    self._send(200, "<title>Page not found</title><main><h1>Page not found</h1><p>Sorry.</p></main>")
                case "login":
                    self._send(302, "", ("Location", f"/login?next=/{path}"))
                case "notice":
                    self._send(200, f"<title>Back soon</title><main><h1>Back soon</h1><p>{_NOTICE}</p></main>")
                case "slow":
                    time.sleep(3)
                    self._send(200, site.html(path))
                case _:
                    return False
            return True

        def _send(self, status: int, body: str, *headers: tuple[str, str], kind: str = "text/html") -> None:
            content = body.encode()
            self.send_response(status)
            for name, value in (("Content-Type", kind), ("Content-Length", str(len(content))), *headers):
                self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):  # it did not wait
                self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    return Handler
