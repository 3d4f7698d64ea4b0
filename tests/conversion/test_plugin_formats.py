"""A format of another package: accepted by its media type, and read in the sandbox of the workers."""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import UTC, datetime

import pytest

from tests.acquisition.local_server import gate_to, reply, serving
from tests.plugin_packages import Install, install
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.http import HttpAcquirer
from webrag_core.conversion.convert import convert_page
from webrag_core.conversion.worker import WorkerPool
from webrag_core.errors import FetchError, Reason

__all__ = ["install"]

URL = "https://site.example/talk"
SUBRIP = "application/x-subrip"
FILM = b"1\n00:00:01,000 --> 00:00:04,000\nGreen tea steeps for two minutes.\n"
SOURCE = """
    import os, socket
    from pathlib import Path

    def to_html(page):
        lines = [line for line in page.body.decode().splitlines() if line.endswith(".")]
        return f"<html><body><main><h1>Spoken</h1><p>{' '.join(lines)}</p></main></body></html>".encode()

    def refused(attempt):
        try:
            attempt()
        except OSError:
            return True

    def what_it_can_do(page):
        secrets = [name for name in os.environ if name in ("DATABASE_URL", "RERANKER_API_KEY")]
        free = [] if refused(lambda: socket.socket()) else ["network"]
        free += [] if refused(lambda: Path("made").write_text("x")) else ["files"]
        return f"<main><p>process {os.getpid()} has {secrets} and {free}</p></main>".encode()

    def fails(page):
        raise ValueError("no film")

    def forgets(page): ...
"""
ENTRIES = {
    SUBRIP: "tea_films:to_html",
    "application/x-able": "tea_films:what_it_can_do",
    "application/x-fails": "tea_films:fails",
    "application/x-forgets": "tea_films:forgets",
    "application/x-missing": "no_such_package:to_html",
}


def film(media_type: str = SUBRIP, body: bytes = FILM) -> AcquiredPage:
    headers = {"content-type": media_type}
    return AcquiredPage(URL, URL, 200, headers, body, datetime.now(UTC), len(body))


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is made of Linux")
def test_it_is_read_in_a_worker_and_never_here(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RERANKER_API_KEY", "secret")
    install("tea_films", SOURCE, {"webrag.formats": ENTRIES})
    pool = WorkerPool(1)

    def convert(page: AcquiredPage) -> str:
        return asyncio.run(pool.convert(page)).markdown

    try:
        assert "# Spoken" in convert(film())
        assert "Green tea steeps for two minutes." in convert(film())
        able = convert(film("application/x-able"))
        assert "has [] and []" in able.replace("\\", "")
        assert f"process {os.getpid()} " not in able
        assert "plain words" in convert(film("text/html", b"<main><p>plain words to read here</p></main>"))
        for name, problem in (
            ("fails", "fails: ValueError: no film"),
            ("forgets", "gives no HTML as bytes"),
            ("missing", "No module named 'no_such_package'"),
        ):
            with pytest.raises(FetchError, match=problem) as raised:
                convert(film(f"application/x-{name}"))
            assert raised.value.reason is Reason.PARSE_FAILURE
            assert f"the format application/x-{name} (entry point webrag.formats: " in raised.value.message
    finally:
        pool.close()
    assert "tea_films" not in sys.modules


def test_it_is_fetched_since_it_can_be_read(install: Install) -> None:
    async def fetch() -> AcquiredPage:
        async with serving({"/talk": reply(FILM, f"content-type: {SUBRIP}; charset=utf-8")}) as site:
            return await HttpAcquirer(gate_to(f"127.0.0.1:{site.port}")).fetch(f"http://127.0.0.1:{site.port}/talk")

    with pytest.raises(FetchError) as refused:
        asyncio.run(fetch())
    assert refused.value.reason is Reason.UNSUPPORTED_TYPE
    install("tea_films", SOURCE, {"webrag.formats": ENTRIES})
    page = asyncio.run(fetch())
    assert (page.media_type, page.body) == (SUBRIP, FILM)
    assert "tea_films" not in sys.modules


def test_a_type_that_two_packages_read_is_read_by_neither(install: Install) -> None:
    for name in ("tea_films", "other_films"):
        install(name, SOURCE, {"webrag.formats": {SUBRIP: f"{name}:to_html"}})
    with pytest.raises(FetchError, match=r"2 packages have a format application/x-subrip: .*; keep one of them"):
        convert_page(film())
    assert not {"tea_films", "other_films"} & set(sys.modules)


def test_no_package_takes_pages_from_our_readers(install: Install) -> None:
    install("sly_films", SOURCE, {"webrag.formats": {"text/html": "sly_films:fails", "text/plain": "sly_films:fails"}})
    for media_type in ("text/html", "text/plain"):
        assert "words to read" in convert_page(film(media_type, b"<main><p>plain words to read here</p>")).markdown
