"""Answers that are hostile to whoever fetches them: endless, slow, lying, compressed, redirecting ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat

from benchmarks.corpus import hostile_pages as pages

Piece = bytes | float
"""Bytes to send, or seconds to wait before the next ones."""
Answer = Callable[[str], Iterable[Piece]]
"""Pieces of a whole HTTP answer (head included) for a path."""

SUCCESS = "success"
_MB = 1_000_000
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Case:
    """`ends`: the reasons, or SUCCESS, that the case may end with; nothing means any of them."""

    answer: Answer
    ends: frozenset[str] = frozenset()
    robots: Answer | None = None


def head(*headers: str, status: str = "200 OK") -> bytes:
    """Status line and headers."""
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode("latin-1")


def sent(body: Callable[[], Iterable[Piece]], *ends: str, media: str = HTML, encoding: str = "") -> Case:
    """A case that sends `body` until the connection closes."""
    headers = [f"content-type: {media}", *([f"content-encoding: {encoding}"] if encoding else [])]
    return Case(lambda path: chain([head(*headers)], body()), frozenset(ends))


def _raw(answer: Callable[[], Iterable[Piece]], *ends: str) -> Case:
    return Case(lambda path: answer(), frozenset(ends))


def _redirect(location: str, *ends: str) -> Case:
    return _raw(lambda: [head(f"location: {location}", "content-length: 0", status="302 Found")], *ends)


def _countdown(path: str) -> Iterator[bytes]:
    hop = int(path.rpartition("/")[2] or 7)
    yield head(f"location: /{hop - 1}", "content-length: 0", status="302 Found") if hop > 1 else _PLAIN


def _with_robots(robots: Answer, *ends: str) -> Case:
    return Case(lambda path: [_PLAIN], frozenset(ends), robots)


PLAIN_BODY = b"<!doctype html><title>Plain</title><main><h1>Plain page</h1><p>It has some words to read.</p></main>"
_PLAIN = head(f"content-type: {HTML}", f"content-length: {len(PLAIN_BODY)}") + PLAIN_BODY


def _chunked_forever() -> Iterator[bytes]:
    yield head(f"content-type: {HTML}", "transfer-encoding: chunked")
    yield from repeat(b"10000\r\n" + b"x" * 65_536 + b"\r\n")


def _drip(first: bytes, piece: bytes) -> Iterator[Piece]:
    yield first
    for _ in range(100_000):
        yield piece
        yield 1.0


WIRE: dict[str, Case] = {
    "gzip_bomb": sent(lambda: pages.gzip_bomb(1_000 * _MB), "too_large", encoding="gzip"),
    "gzip_nested": sent(lambda: pages.gzip_bomb(1_000 * _MB, 2), "bad_response", encoding="gzip, gzip"),
    "gzip_in_gzip": sent(lambda: pages.gzip_bomb(2_000 * _MB, 2), encoding="gzip"),
    "body_53mb": sent(lambda: pages.html(b"<p>", b"words of it ", 53 * _MB), "too_large"),
    "body_1gb_declared": _raw(lambda: [head(f"content-type: {HTML}", "content-length: 1000000000")], "too_large"),
    "chunked_endless": _raw(_chunked_forever, "too_large"),
    "drip_body": _raw(lambda: _drip(head(f"content-type: {HTML}"), b"x"), "timeout"),
    "drip_headers": _raw(lambda: _drip(b"HTTP/1.1 200 OK\r\n", b"x"), "timeout"),
    "silence": _raw(lambda: _drip(b"", b""), "timeout"),
    "length_too_short": _raw(lambda: [head(f"content-type: {HTML}", "content-length: 60"), PLAIN_BODY]),
    "length_too_long": _raw(lambda: [head(f"content-type: {HTML}", "content-length: 9999"), PLAIN_BODY]),
    "header_10mb": _raw(lambda: chain([b"HTTP/1.1 200 OK\r\nx: "], pages.repeated(b"x", 10 * _MB)), "bad_response"),
    "headers_20000": _raw(lambda: [head(*(f"x{n}: 1" for n in range(20_000))), PLAIN_BODY], "bad_response"),
    "redirect_loop": _redirect("/again", "too_many_redirects"),
    "redirect_6_hops": Case(_countdown, frozenset({"too_many_redirects"})),
    "redirect_private": _redirect("http://10.0.0.1/", "blocked_address"),
    "redirect_metadata": _redirect("http://169.254.169.254/latest/meta-data/", "blocked_address"),
    "redirect_file": _redirect("file:///etc/passwd", "invalid_url"),
    "redirect_userinfo": _redirect("http://user:pass@example.org/", "invalid_url"),
    "redirect_long": _redirect("/" + "a" * 60_000, "invalid_url"),
    "upgrade": _raw(lambda: [head("upgrade: websocket", status="101 Switching Protocols")], "bad_response"),
    "http_09": _raw(lambda: [b"<html>Some words without any head</html>"], "bad_response"),
    "garbage": _raw(lambda: pages.repeated(bytes(range(256)), 5 * _MB), "bad_response"),
    "interim_flood": _raw(lambda: repeat(head(status="102 Processing")), "bad_response"),
    "robots_endless": _with_robots(lambda path: chain([head()], repeat(b"Disallow: /x\n" * 5_000))),
    "robots_50mb": _with_robots(lambda path: chain([head()], pages.repeated(b"Disallow: /*a*b*c$\n", 50 * _MB))),
    "robots_450kb": _with_robots(lambda path: chain([head()], _many_rules())),
    "robots_drip": _with_robots(lambda path: _drip(head(), b"#")),
    "robots_stars": _with_robots(lambda path: [head(), b"User-agent: *\nDisallow: /" + b"*a" * 100_000 + b"b$\n"]),
}


def _many_rules() -> Iterator[bytes]:
    yield b"User-agent: *\n"
    yield from (b"Disallow: /%d*z\n" % n for n in range(27_000))
