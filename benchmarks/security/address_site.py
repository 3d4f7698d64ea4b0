"""A site on 127.0.0.1 that leads to every payload: redirects, robots.txt, site maps, feeds, links; and a canary."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CANARY = "canary-9f3b27"
REDIRECTS = (301, 302, 303, 307, 308)


class Canary(ThreadingHTTPServer):
    """Answer every request with the canary, and count connections."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _CanaryHandler)
        self.connections = 0
        self.port = int(self.server_address[1])
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _CanaryHandler(BaseHTTPRequestHandler):
    def setup(self) -> None:
        super().setup()
        assert isinstance(self.server, Canary)
        self.server.connections += 1

    def do_GET(self) -> None:
        _send(self, f"<h1>{CANARY}</h1><p>{CANARY} {'secret text ' * 40}</p>".encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Be silent."""


class LeadingSite(ThreadingHTTPServer):
    """Serve pages, discovery files and Firecrawl's API; each leads to payloads. `requests` are their paths."""

    def __init__(self, payloads: Sequence[str]) -> None:
        super().__init__(("127.0.0.1", 0), _SiteHandler)
        self.payloads = payloads
        self.requests: list[str] = []
        self.port = int(self.server_address[1])
        self.origin = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def redirects(self) -> list[tuple[str, int]]:
        """Each payload that a header can carry with its number, for `/redirect/STATUS/NUMBER`."""
        return [(url, number) for number, url in enumerate(self.payloads) if not set(url) & set("\0\r\n")]


class _SiteHandler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, LeadingSite)
        site, path = self.server, self.path
        site.requests.append(path)
        if hop := re.fullmatch(r"/(?:redirect|jump)/(\d+)/(\d+)/?", path):
            _send(self, b"", status=int(hop[1]), location=site.payloads[int(hop[2])])
        elif path == "/robots.txt":
            lines = "".join(f"Sitemap: {url}\n" for url, _ in site.redirects())
            _send(self, f"User-agent: *\nSitemap: {site.origin}/index.xml\n{lines}".encode(), kind="text/plain")
        elif path == "/index.xml":
            maps = [f"{site.origin}/pages.xml", f"{site.origin}/jump/302/3", *site.payloads]
            _send(self, _sitemap("sitemapindex", "sitemap", maps), kind="application/xml")
        elif path in ("/pages.xml", "/sitemap.xml"):
            _send(self, _sitemap("urlset", "url", site.payloads), kind="application/xml")
        elif path == "/feed.xml":
            items = "".join(f"<item><link>{_xml(url)}</link></item>" for url in site.payloads)
            _send(self, f"<rss version='2.0'><channel>{items}</channel></rss>".encode(), kind="application/rss+xml")
        elif path in ("/", "/objects.inv"):
            _send(self, self._page().encode())
        else:
            _send(self, b"", status=404)

    def _page(self) -> str:
        assert isinstance(self.server, LeadingSite)
        urls = [escape(url, quote=True) for url in self.server.payloads]
        head = "".join(
            f"<link rel='{rel}' type='application/rss+xml' href='{url}'>"
            for rel, url in zip(("canonical", "alternate", "alternate", "sitemap", "stylesheet"), urls, strict=False)
        )
        jumps = "".join(
            f"<p>The teapot secret: <a href='/jump/302/{number}/'>secret of the teapot {number}</a></p>"
            for _, number in self.server.redirects()[::8]
        )
        links = "".join(f"<p>See <a href='{url}'>the secret of the teapot</a> <img src='{url}'></p>" for url in urls)
        return (
            f"<html><head><title>Tea</title><meta http-equiv=refresh content='0;url={urls[1]}'>"
            f"<meta property='og:url' content='{urls[1]}'><link rel='alternate' type='application/rss+xml'"
            f" href='/feed.xml'>{head}</head><body><main><h1>Tea</h1><p>A page about teapots and their secrets.</p>"
            f"{jumps}{links}<iframe src='{urls[1]}'></iframe><object data='{urls[1]}'></object></main></body></html>"
        )

    def do_POST(self) -> None:
        """Firecrawl's scrape and map: the final URL, or every mapped one, is a payload."""
        assert isinstance(self.server, LeadingSite)
        address = json.loads(self.rfile.read(int(self.headers["content-length"])))["url"]
        number = int(address.rpartition("/")[2] or 0)
        reported = self.server.payloads[number]
        page = f"<html><body><main><h1>{CANARY}</h1><p>{CANARY} {'text ' * 60}</p></main></body></html>"
        metadata = {"sourceURL": address, "url": reported, "statusCode": 200}
        data = {"markdown": CANARY, "html": page, "rawHtml": page, "metadata": metadata}
        links = [{"url": url} for url in self.server.payloads]
        _send(self, json.dumps({"success": True, "data": data, "links": links}).encode(), kind="application/json")

    def log_message(self, format: str, *args: Any) -> None:
        """Be silent."""


def _xml(url: str) -> str:
    return escape("".join(character for character in url if character.isprintable()))


def _sitemap(root: str, entry: str, urls: Sequence[str]) -> bytes:
    entries = "".join(f"<{entry}><loc>{_xml(url)}</loc></{entry}>" for url in urls)
    return f"<{root} xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{entries}</{root}>".encode()


def _send(
    handler: BaseHTTPRequestHandler,
    body: bytes,
    *,
    status: int = 200,
    kind: str = "text/html; charset=utf-8",
    location: str | None = None,
) -> None:
    handler.send_response(status)
    handler.send_header("content-type", kind)
    handler.send_header("content-length", str(len(body)))
    if location is not None:
        # http.server writes headers in Latin-1: pass UTF-8 through it
        handler.send_header("location", location.encode().decode("latin-1"))
    handler.end_headers()
    handler.wfile.write(body)
