"""Rendering in a real Chromium: what scripts build is stored, and the browser itself reaches nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass

import psutil
import pytest

from benchmarks.security.foreign_site import CHROMIUM
from tests.acquisition.local_server import reply, serving
from tests.browsing import needs_chromium
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.browser import chromium
from webrag_core.acquisition.browser.acquirer import BrowserAcquirer
from webrag_core.config import Settings, load_settings
from webrag_core.corpus.acquirers import make_acquirer
from webrag_core.errors import FetchError, InvalidInputError, Reason

pytestmark = [pytest.mark.alone, needs_chromium]

JSON, SCRIPT, HTML = "content-type: application/json", "content-type: text/javascript", "content-type: text/html"
SHELL = b"<!doctype html><title>Shop</title><div id=root></div><script src=/app.js></script>"
APP = b"""
fetch('/api.json').then(answer => answer.json()).then(data => {
  document.getElementById('root').innerHTML = '<main><h1>' + data.title + '</h1><p>' + data.text + '</p></main>';
});
"""
API = b'{"title": "Kettles", "text": "A kettle of copper holds two litres."}'
TRICKS = """
alert(1); confirm('x'); prompt('y'); print(); window.open('/file');
onbeforeunload = () => 'stay';
navigator.serviceWorker?.register('/sw.js');
fetch('/file', {method: 'POST'});
const a = document.createElement('a'); a.href = '/file'; a.download = 'x'; document.body.append(a); a.click();
location.href = '/file';
const gone = ['RTCPeerConnection', 'WebTransport', 'SharedWorker'].filter(name => name in window);
document.getElementById('t').textContent = 'after, with: ' + gone;
"""
TICKING = "let n = 0; setInterval(() => document.getElementById('t').textContent += ' ' + n++, 20)"
GROWING = "let n = 0; setInterval(() => n++ < 4 && document.body.append('x'.repeat(2_000_000)), 100)"
LYING = """
const lie = () => ({length: 1e400, toString: () => { throw 1 }});
for (const [kind, name] of [[Node, 'textContent'], [Element, 'outerHTML'], [Document, 'readyState'],
                            [Document, 'documentElement'], [Document, 'doctype']])
  Object.defineProperty(kind.prototype, name, {get: lie});
for (const name of ['readyState', 'doctype', 'documentElement', 'textContent', 'outerHTML']) {
  const image = document.createElement('img'); image.name = name; document.body.append(image);
}
XMLSerializer.prototype.serializeToString = lie;
Object.getOwnPropertyDescriptor = Object.keys = JSON.stringify = Array.prototype.map = lie;
Function.prototype.call = lie;
document.getElementById('t').innerHTML = 'what the page holds';
"""
ENDLESS = ["/ticking", "/blocked"]
ATTEMPTS = """
const tries = TRIES, told = [];
Promise.all(tries.map(url => fetch(url).then(r => r.text()).then(t => told.push(t), e => told.push('no'))))
  .then(() => document.getElementById('t').textContent = told.join(' '));
for (const url of tries) {
  new Image().src = url + '?image';
  const frame = document.createElement('iframe'); frame.src = url + '?frame'; document.body.append(frame);
  navigator.sendBeacon(url + '?beacon', 'x');
  const link = document.createElement('link');
  link.rel = 'preconnect'; link.href = url; document.head.append(link);
  try { new WebSocket(url.replace('http', 'ws')) } catch { }
  try { new EventSource(url + '?events') } catch { }
  try { new Worker(url) } catch { }
}
"""


def html(script: str) -> bytes:
    return reply(f"<!doctype html><p id=t>start</p><script>{script}</script>".encode(), HTML)


@dataclass(frozen=True)
class Site:
    """What came of each page, which paths were requested of the site, and what another server of this machine saw."""

    results: Mapping[str, AcquiredPage | FetchError]
    requested: list[str]
    private: list[str]
    private_port: int
    log: str

    def page(self, path: str) -> AcquiredPage:
        result = self.results[path]
        assert isinstance(result, AcquiredPage), result
        return result

    def reason(self, path: str) -> Reason:
        result = self.results[path]
        assert isinstance(result, FetchError)
        return result.reason


@pytest.fixture(scope="module")
def site() -> Site:
    """All pages, rendered in one go: a browser takes its time to start."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("webrag_core.acquisition.browser")

    async def run() -> Site:
        async with serving({"/secret": reply(b"secret", "access-control-allow-origin: *")}) as private:
            tries = [
                *(f"http://{host}:{private.port}/secret" for host in ("127.0.0.1", "localhost", "[::1]")),
                *("http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "file:///etc/passwd"),
            ]
            pages = {
                "/app": reply(SHELL, HTML, 'etag: "shell"'),
                "/tricks": html(TRICKS),
                "/ticking": html(TICKING),
                "/blocked": html("while (true) { }"),
                "/growing": html(GROWING),
                "/attempts": html(ATTEMPTS.replace("TRIES", str(tries))),
                "/lying": html(LYING),
                "/plain": reply(b"Plain words to read.", "content-type: text/plain"),
            }
            files = {"/app.js": reply(APP, SCRIPT), "/api.json": reply(API, JSON), "/file": reply(b"file")}
            async with serving({**pages, **files}) as served:
                results: dict[str, AcquiredPage | FetchError] = {}
                for seconds, paths in ((300.0, [path for path in pages if path not in ENDLESS]), (3.0, ENDLESS)):
                    settings = load_settings(
                        webrag_allow_hosts=f"127.0.0.1:{served.port}",
                        webrag_obey_robots=False,
                        webrag_browser=CHROMIUM,
                        webrag_browser_timeout=seconds,
                        webrag_max_body_bytes=1_000_000,
                    )
                    fetched = await rendered(settings, [f"http://127.0.0.1:{served.port}{path}" for path in paths])
                    results |= dict(zip(paths, fetched, strict=True))
                assert browsers() == []
                requested = [path for path, _ in served.requests]
                return Site(results, requested, [path for path, _ in private.requests], private.port, "\n".join(lines))

    logger.addHandler(handler)
    try:
        return asyncio.run(run())
    finally:
        logger.removeHandler(handler)


async def rendered(settings: Settings, urls: list[str]) -> list[AcquiredPage | FetchError]:
    """What comes of each page."""
    acquirer = make_acquirer(settings, "browser")
    assert isinstance(acquirer, BrowserAcquirer)

    async def fetch(url: str) -> AcquiredPage | FetchError:
        try:
            return await acquirer.fetch(url)
        except FetchError as error:
            return error

    try:
        return await asyncio.gather(*map(fetch, urls))
    finally:
        await acquirer.aclose()


def browsers() -> list[int]:
    """Browsers that are still there."""
    return [p.pid for p in psutil.Process().children(recursive=True) if chromium.MARK in " ".join(p.cmdline())]


def test_what_scripts_build_becomes_the_page(site: Site) -> None:
    page = site.page("/app")
    assert "<h1>Kettles</h1><p>A kettle of copper holds two litres.</p>" in page.body.decode()
    assert {"/app", "/app.js", "/api.json"} <= set(site.requested)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "etag" not in page.headers
    assert page.bytes_raw == len(SHELL) + len(APP) + len(API)
    assert page.warnings == ()


def test_private_addresses_get_nothing_and_are_logged(site: Site) -> None:
    page = site.page("/attempts")
    assert site.private == []
    assert '<p id="t">no no no no no no</p>' in page.body.decode()
    assert f"asked for http://127.0.0.1:{site.private_port}/secret while it was rendered: refused" in site.log
    assert "169.254.169.254" in site.log
    assert any("addresses that are not open to fetching" in warning for warning in page.warnings)


def test_dialogs_downloads_windows_workers_and_navigation_change_nothing(site: Site) -> None:
    page = site.page("/tricks")
    assert '<p id="t">after, with: </p>' in page.body.decode()
    assert "/file" not in site.requested
    assert "/sw.js" not in site.requested
    assert any("not GET" in warning for warning in page.warnings)
    assert any("other pages" in warning for warning in page.warnings)


def test_a_page_that_never_settles_returns_what_it_has(site: Site) -> None:
    page = site.page("/ticking")
    assert '<p id="t">start 0' in page.body.decode()
    assert ["did not settle" in warning for warning in page.warnings] == [True]


def test_scripts_that_leave_no_moment_or_fill_the_page(site: Site) -> None:
    assert site.reason("/blocked") is Reason.TIMEOUT
    assert site.reason("/growing") is Reason.TOO_LARGE


def test_scripts_cannot_lie_about_what_the_page_holds(site: Site) -> None:
    text = site.page("/lying").body.decode()
    assert text.startswith("<!DOCTYPE html>")
    assert '<p id="t">what the page holds</p>' in text


def test_files_that_are_no_markup_are_not_rendered(site: Site) -> None:
    assert site.page("/plain").body == b"Plain words to read."


def test_a_browser_that_is_none() -> None:
    with pytest.raises(InvalidInputError, match="WEBRAG_BROWSER"):
        make_acquirer(load_settings(webrag_browser="/nowhere/chromium"), "browser")
