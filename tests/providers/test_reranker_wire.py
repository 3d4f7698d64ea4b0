"""Answers that no provider should give, byte for byte: each ends in the local ranking and a warning, soon."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from typing import Any

import pytest

from tests.local_site import SITE, LocalSite, page
from tests.retrieval.test_rerankers import KEY, PROVIDERS, config, envelope, rerank, results, scored
from webrag_core.config import Settings
from webrag_core.errors import RerankError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.providers.rerankers.remote import LARGEST_ANSWER
from webrag_core.retrieval.search import CorpusSearch, search_corpus

Serve = Callable[[socket.socket, threading.Event], None]

for_each_provider = pytest.mark.parametrize("provider", PROVIDERS)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "*")


@contextmanager
def listening(serve: Serve) -> Iterator[tuple[str, list[int]]]:
    """A server that reads one request per connection and leaves the rest to `serve`; its URL, and the length of each
    request's body."""
    over, asked = threading.Event(), list[int]()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)

        def accept() -> None:
            while not over.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.settimeout(5)
                    try:
                        asked.append(_read_request(connection))
                        serve(connection, over)
                    except OSError:  # the client has hung up, as it should
                        continue

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}", asked
        finally:
            over.set()
            thread.join()


def _read_request(connection: socket.socket) -> int:
    read = b""
    while b"\r\n\r\n" not in read:
        read += _received(connection)
    head, _, body = read.partition(b"\r\n\r\n")
    lengths = [int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    while len(body) < sum(lengths):
        body += _received(connection)
    return len(body)


def _received(connection: socket.socket) -> bytes:
    """The next bytes. Raises ConnectionError when the client has hung up, as one that is slow and out of time does."""
    if not (some := connection.recv(65_536)):
        raise ConnectionError
    return some


def answer(body: bytes, status: str = "200 OK", *headers: str) -> Serve:
    """One whole answer of JSON."""
    lines = (f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers)
    return lambda connection, over: connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def cut_short(connection: socket.socket, over: threading.Event) -> None:
    """Less than was promised."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n" + GOOD[:40])


def reset(connection: socket.socket, over: threading.Event) -> None:
    """Begins to answer and breaks the connection off."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def drip(connection: socket.socket, over: threading.Event) -> None:
    """A byte now and then, so that no time-out between two bytes ever comes."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n")
    while not over.wait(0.05):
        connection.sendall(b" ")


def endless(connection: socket.socket, over: threading.Event) -> None:
    """White space for ever, as fast as it is taken."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not over.is_set():
        connection.sendall(b"100000\r\n" + b" " * 0x100000 + b"\r\n")


def hang_up(connection: socket.socket, over: threading.Event) -> None:
    """Nothing at all."""


GOOD = json.dumps({"results": results((0, 0.5))}).encode()


@cache
def packed() -> bytes:
    """Much more than it looks like: it takes a second to pack."""
    return gzip.compress(b" " * (LARGEST_ANSWER * 20) + GOOD, mtime=0)


def bomb(connection: socket.socket, over: threading.Event) -> None:
    answer(packed(), "200 OK", "Content-Encoding: gzip")(connection, over)


@dataclass(frozen=True, slots=True)
class Bad:
    serve: Serve
    reason: str


BAD: dict[str, Bad] = {
    "truncated JSON": Bad(answer(GOOD[:-4]), "not a ranking"),
    "not UTF-8": Bad(answer(b'{"results": "\xff\xfe"}'), "not a ranking"),
    "nested without end": Bad(answer(b'{"results":' + b"[" * 200_000), "not a ranking"),
    "nested and closed": Bad(answer(b'{"results":' + b"[" * 200_000 + b"]" * 200_000 + b"}"), "not a ranking"),
    "a number of 9,000 digits": Bad(answer(b'{"results":[{"index":' + b"7" * 9000 + b"}]}"), "not a ranking"),
    "empty, 200": Bad(answer(b""), "not a ranking"),
    "empty, 204": Bad(answer(b"", "204 No Content"), "not a ranking|HTTP 204"),
    "empty, 500": Bad(answer(b"", "500 Oops"), "HTTP 500"),
    "429 alone": Bad(answer(b"{}", "429 Slow down"), "HTTP 429"),
    "429, come back in an hour": Bad(answer(b"{}", "429 Slow down", "Retry-After: 3600"), "HTTP 429"),
    "429, come back some day": Bad(answer(b"{}", "429 Slow down", "Retry-After: soon"), "HTTP 429"),
    "cut short": Bad(cut_short, "cannot be reached"),
    "reset": Bad(reset, "cannot be reached"),
    "hung up": Bad(hang_up, "cannot be reached"),
    "no HTTP": Bad(lambda connection, over: connection.sendall(b"SSH-2.0-x\r\n\r\n"), "cannot be reached"),
    "gzip that is none": Bad(answer(GOOD, "200 OK", "Content-Encoding: gzip"), "cannot be reached|not a ranking"),
    "a body that drips": Bad(drip, "no answer within"),
    "a body without end": Bad(endless, "not a ranking"),
    "a huge body": Bad(answer(b" " * (LARGEST_ANSWER + 1) + GOOD), "not a ranking"),
    "a bomb": Bad(bomb, "not a ranking"),
    "a huge error": Bad(answer(b" " * (LARGEST_ANSWER + 1), "500 Oops"), "HTTP 500"),
}


@pytest.mark.slow
@for_each_provider
@pytest.mark.parametrize("name", BAD)
def test_it_is_refused_with_its_reason_after_one_request(provider: str, name: str) -> None:
    bad = BAD[name]
    seconds = 0.5 if bad.serve is drip else 20.0
    with listening(bad.serve) as (url, asked), pytest.raises(RerankError, match=bad.reason) as caught:
        rerank(config(provider, url, reranker_timeout=seconds), passages=["one"])
    assert caught.value.__context__ is None
    assert KEY not in str(caught.value)
    assert len(asked) == (2 if bad.reason == "HTTP 500" else 1)  # whether it ranks any text


@for_each_provider
@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
def test_a_redirect_is_not_followed(provider: str, status: str) -> None:
    """It would take key and passages to whom nobody chose."""
    with listening(answer(GOOD)) as (other, asked_other):
        redirect = answer(b"{}", status, f"Location: {other}/rerank")
        with listening(redirect) as (url, asked), pytest.raises(RerankError, match=f"HTTP {status[:3]}"):
            rerank(config(provider, url), passages=["one"])
    assert (len(asked), asked_other) == (1, [])


@for_each_provider
def test_an_answer_just_below_the_limit_is_taken(provider: str) -> None:
    body = json.dumps(envelope(provider, results((0, 0.5)))).encode()
    with listening(answer(b" " * (LARGEST_ANSWER - len(body)) + body)) as (url, _):
        assert scored(rerank(config(provider, url), passages=["one"])) == [(0, 0.5)]


@for_each_provider
def test_results_in_another_order_are_the_same_ranking(provider: str) -> None:
    rows = results((0, 0.3), (1, 0.9), (2, 0.6))
    for given in (rows, rows[::-1], [rows[2], rows[0], rows[1]]):
        body = json.dumps(envelope(provider, given)).encode()
        with listening(answer(body)) as (url, _):
            assert scored(rerank(config(provider, url))) == [(1, 0.9), (2, 0.6), (0, 0.3)]


ROWS: dict[str, Any] = {
    "missing": [],
    "twice": results((0, 0.5), (0, 0.5)),
    "not sent": results((7, 0.5)),
    "NaN": results((0, math.nan)),
    "infinite": results((0, -math.inf)),
    "a text": results((0, "high")),
}
IN_THE_RESULT: dict[str, Callable[[str], Serve]] = {
    **{name: lambda provider, bad=bad: bad.serve for name, bad in BAD.items()},
    **{
        f"row {name}": lambda provider, rows=rows: answer(json.dumps(envelope(provider, rows)).encode())
        for name, rows in ROWS.items()
    },
}


@pytest.mark.slow
def test_every_one_of_them_ends_in_the_local_ranking_and_a_warning(settings: Settings) -> None:
    """From one provider each: what every provider's client makes of them is tested above."""
    pages = {"/": page("Whales", "The blue whale is the largest animal that has ever lived.")}

    async def ask(corpus: Corpus, more: dict[str, Any]) -> CorpusSearch:
        corpus.settings = settings.model_copy(update=more)
        return await search_corpus(corpus, "largest animal")

    async def work() -> None:
        async with Corpus.open(settings, LocalSite(pages)) as corpus:
            await corpus.add(f"{SITE}/")
            local = await ask(corpus, {})
            assert local.chunks
            for provider, (name, make) in zip(cycle(PROVIDERS), IN_THE_RESULT.items(), strict=False):
                with listening(make(provider)) as (url, _):
                    own = config(provider, url, reranker_timeout=0.5 if name == "a body that drips" else 20.0)
                    names = ("reranker_provider", "reranker_base_url", "reranker_api_key", "reranker_timeout")
                    found = await ask(corpus, {field: getattr(own, field) for field in names})
                assert found.chunks == local.chunks, name
                (warning,) = found.warnings
                assert warning.startswith(f"reranking by {provider} failed ("), name
                assert warning.endswith("ranked locally instead"), name
                assert KEY not in found.model_dump_json()

    asyncio.run(work())
