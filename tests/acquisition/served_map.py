"""A local site with map files, read by the live acquirer: robots.txt, gate and queues as in production."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Mapping, Sequence

from tests.acquisition.local_server import Handler, reply, resolver, serving
from webrag_core.acquisition.gate import NetworkGate
from webrag_core.acquisition.http import HttpAcquirer
from webrag_core.acquisition.politeness import HostQueues
from webrag_core.acquisition.robots import ObedientGate, Robots
from webrag_core.acquisition.sitemaps.models import MapFile, SiteMap
from webrag_core.config import load_settings
from webrag_core.result_warnings import Caution

HOST = "{host}"
"""Stands for the server's origin, in what it serves and in what `localised` gives back."""
ABSENT = reply(b"<html><p>no such page</p></html>", "content-type: text/html", status="404 Not Found")

Served = str | bytes | Handler


class _Pages(dict[str, bytes | Handler]):
    """What a real server does for a path it does not know; `default` may be a page instead of a 404."""

    default = ABSENT

    def __missing__(self, path: str) -> bytes:
        return self.default


def inventory(*lines: str) -> bytes:
    """An objects.inv, version 2."""
    header = "# Sphinx inventory version 2\n# Project: p\n# Version: 1\n# The remainder is compressed using zlib.\n"
    return header.encode() + zlib.compress("".join(f"{line}\n" for line in lines).encode())


def urlset(*urls: str, lastmod: str = "") -> str:
    """A sitemap of `urls`, each with the same date."""
    dated = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    entries = "".join(f"<url><loc>{url}</loc>{dated}</url>" for url in urls)
    return f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'


def index(*urls: str) -> str:
    """A sitemap index."""
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f"<sitemapindex>{entries}</sitemapindex>"


async def mapped(
    pages: Mapping[str, Served],
    path: str = "/",
    *,
    html: str | None = None,
    default: bytes = ABSENT,
    names: Mapping[str, Sequence[str]] | None = None,
    obedient: bool = True,
    map_seconds: float = 30.0,
    brief: bool = False,
) -> tuple[SiteMap, list[str]]:
    """The map of the served site, and the paths asked for, in order; both with HOST for the origin.

    A `str` is the body of a 200; bytes are a whole HTTP answer. HOST in a body and PORT anywhere stand for those
    of the server; `names` are further hosts on it.
    """
    async with serving({}) as site:
        origin = f"http://127.0.0.1:{site.port}"
        served = _Pages((at, _there(page, origin, site.port)) for at, page in pages.items())
        served.default = default
        site.pages = served
        hosts = ",".join(f"{host}:{site.port}" for host in ["127.0.0.1", *(names or {})])
        settings = load_settings(webrag_allow_hosts=hosts, webrag_fetch_timeout=300.0)
        known = resolver(names or {})
        plain = NetworkGate(settings, resolver=known)
        robots = Robots(plain, settings.webrag_user_agent) if obedient else None
        gate = ObedientGate(settings, robots, resolver=known) if robots is not None else plain
        acquirer = HttpAcquirer(gate, robots=robots, hosts=HostQueues(2, 300.0), map_seconds=map_seconds)
        found = await acquirer.site_map(f"{origin}{path}", html=html, brief=brief)
        return _localised(found, origin), [asked for asked, _ in site.requests]


def _there(page: Served, origin: str, port: int) -> bytes | Handler:
    if isinstance(page, str):
        return reply(page.replace(HOST, origin).replace("PORT", str(port)).encode())
    return page.replace(b"PORT", str(port).encode()) if isinstance(page, bytes) else page


def _localised(found: SiteMap, origin: str) -> SiteMap:
    def local(text: str) -> str:
        return text.replace(origin, HOST).replace(origin.rpartition(":")[2], "PORT")

    return SiteMap(
        tuple(dataclasses.replace(entry, url=local(entry.url)) for entry in found.entries),
        tuple(dataclasses.replace(file, url=local(file.url)) for file in found.files),
        tuple(Caution(local(one), one.about and local(one.about)) for one in found.warnings),
    )


def asked_paths(files: Sequence[MapFile]) -> list[str]:
    """Paths of the files on the site's own host."""
    return [file.url.removeprefix(HOST) for file in files]
