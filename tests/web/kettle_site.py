"""A small site of manuals on a port of this machine, over real HTTP, whose pages a test may hold back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCRIPT = "<script>alert(1)</script>"
_START = (
    '<html lang="en"><head><title>Kettle manuals {script}</title><meta name="description" content="Manuals of kettles">'
    "</head><body><main><h1>Kettle manuals</h1><p>Here are the manuals of all kettles that the workshop has made since"
    " it was founded.</p><ul>{links}</ul></main></body></html>"
)
_MANUAL = (
    '<html lang="en"><head><title>Kettle {number}</title></head><body><main><h1>Kettle {number}</h1><h2>Descaling the'
    " kettle</h2><p>Kettle {number} has to be descaled every {days} days with {grams} grams of citric acid. Leave it"
    " for an hour, then rinse it twice.</p><h2>How to set the temperature</h2><p>Kettle {number} heats to {degrees}"
    " degrees when the left button is pressed once. Press it twice and it boils the water.</p>"
    '<p><a href="/pictures/{number}.png">A drawing of it</a></p></main></body></html>'
)


@dataclass(slots=True)
class KettleSite:
    """`manuals` pages beside the start page, a site map where it is `mapped`; robots.txt forbids manual 2. Manuals
    from number `held_from` on wait for `release`. `requests` are the paths that were asked for."""

    manuals: int
    mapped: bool = True
    held_from: int = 1_000_000
    release: threading.Event = field(default_factory=threading.Event)
    requests: list[str] = field(default_factory=list)
    url: str = ""

    def page(self, path: str) -> tuple[str, str] | None:
        """Media type and text; None = 404."""
        if path == "/robots.txt":
            return "text/plain", "User-agent: *\nDisallow: /manual-2.html\n"
        if path == "/sitemap.xml" and self.mapped:
            places = "".join(f"<url><loc>{self.url}manual-{number}.html</loc></url>" for number in self._numbers)
            schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
            return "application/xml", f'<urlset xmlns="{schema}">{places}</urlset>'
        if path == "/":
            links = "".join(f'<li><a href="/manual-{number}.html">Kettle {number}</a></li>' for number in self._numbers)
            return "text/html", _START.format(links=links, script=SCRIPT.replace("<", "&lt;"))
        number = path.removeprefix("/manual-").removesuffix(".html")
        if not number.isdigit() or int(number) not in self._numbers:
            return None
        if int(number) >= self.held_from:
            self.release.wait()
        text = _MANUAL.format(
            number=number, days=int(number) + 10, grams=int(number) * 3 + 20, degrees=60 + int(number)
        )
        return "text/html", text

    @property
    def _numbers(self) -> range:
        return range(1, self.manuals + 1)


@contextmanager
def serving_kettles(manuals: int, *, mapped: bool = True, held_from: int = 1_000_000) -> Iterator[KettleSite]:
    """The site, served meanwhile; the gate has to allow its host: `url` without scheme and slash."""
    site = KettleSite(manuals, mapped, held_from)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests.append(self.path)
            page = site.page(self.path)
            kind, text = page or ("text/html", "<p>There is no such page.</p>")
            body = text.encode()
            self.send_response(404 if page is None else 200)
            self.send_header("content-type", f"{kind}; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{server.server_address[1]}/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        site.release.set()
        server.shutdown()
        thread.join()
        server.server_close()
