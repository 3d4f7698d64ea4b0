"""Read an HTTP response within limits: headers, redirect target, decompressed body."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import httpcore2
import httpx2

from webrag_core.acquisition.codings import Unpacker, codings_of
from webrag_core.acquisition.media_types import effective_type
from webrag_core.errors import FetchError, Reason

MAX_HEADER_BYTES = 64 * 1024
MAX_HEADERS = 200
MAX_HEAD_BYTES = 192 * 1024
"""Bytes up to the end of the final headers: interim responses (1xx) may never end."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class HeadLimit(httpcore2.AnyIOBackend):
    """Network backend for one request; aborts a response whose head exceeds the limit before `complete` is set."""

    def __init__(self) -> None:
        self.complete = False
        self._bytes = 0

    async def connect_tcp(self, *arguments: Any, **options: Any) -> httpcore2.AsyncNetworkStream:
        """As the library's own. Raises httpcore2.ConnectError, httpcore2.ConnectTimeout."""
        return _LimitedStream(await super().connect_tcp(*arguments, **options), self)

    def count(self, received: int) -> None:
        """Raises httpcore2.RemoteProtocolError for too many bytes."""
        self._bytes += received
        if not self.complete and self._bytes > MAX_HEAD_BYTES:
            raise httpcore2.RemoteProtocolError("the answer does not begin")


class _LimitedStream(httpcore2.AsyncNetworkStream):
    def __init__(self, stream: httpcore2.AsyncNetworkStream, limit: HeadLimit) -> None:
        self._stream, self._limit = stream, limit

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - its name
        data = await self._stream.read(max_bytes, timeout)
        self._limit.count(len(data))
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - its name
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(self, *arguments: Any, **options: Any) -> httpcore2.AsyncNetworkStream:
        return _LimitedStream(await self._stream.start_tls(*arguments, **options), self._limit)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def read_headers(response: httpx2.Response) -> dict[str, str]:
    """Return headers by lower-case name, repeated ones joined, but of several content types the last valid one.

    Raises FetchError for too many or too large headers.
    """
    sent = response.headers.raw
    if response.status_code < 200:
        raise FetchError(Reason.BAD_RESPONSE, "the server switched protocols")
    if len(sent) > MAX_HEADERS or sum(len(name) + len(value) for name, value in sent) > MAX_HEADER_BYTES:
        raise FetchError(Reason.BAD_RESPONSE, "the answer has too many or too large headers")
    headers: dict[str, str] = {}
    for raw_name, raw_value in sent:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1").strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    if "content-type" in headers:
        headers["content-type"] = effective_type(headers["content-type"])
    return headers


def redirect_location(response: httpx2.Response) -> str | None:
    """Return the redirect target, or None. Raises FetchError for several targets."""
    if response.status_code not in _REDIRECTS:
        return None
    targets = {value.strip() for name, value in response.headers.raw if name.lower() == b"location"} - {b""}
    if len(targets) > 1:
        raise FetchError(Reason.BAD_RESPONSE, "the answer redirects to more than one place")
    for value in targets:
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.decode("latin-1")
    return None


async def read_body(
    response: httpx2.Response, headers: Mapping[str, str], limit: int, *, cut: bool = False
) -> tuple[bytes, int]:
    """Return the decoded body and its number of bytes on the wire.

    A body of more than `limit` bytes, on the wire or decoded, is refused; with `cut` its beginning is returned.

    Raises FetchError, zlib.error for a damaged body, httpx2.HTTPError for one that breaks off.
    """
    if response.status_code in (204, 304):
        return b"", 0
    too_large = FetchError(Reason.TOO_LARGE, f"the page has more than {limit} bytes")
    codings = codings_of(headers.get("content-encoding", ""))
    length = headers.get("content-length", "")
    if not cut and length.isdecimal() and (len(length) > 18 or int(length) > limit):
        raise too_large
    unpacker = Unpacker(codings, limit)
    body, bytes_raw = bytearray(), 0
    async with aclosing(response.aiter_raw()) as chunks:
        async for chunk in chunks:
            bytes_raw += len(chunk)
            body += unpacker.feed(chunk)
            if max(bytes_raw, len(body), unpacker.size) > limit:
                if cut:
                    return bytes(body[:limit]), bytes_raw
                raise too_large
    if bytes_raw and unpacker.truncated:
        raise FetchError(Reason.BAD_RESPONSE, "the compressed body broke off")
    return bytes(body), bytes_raw
