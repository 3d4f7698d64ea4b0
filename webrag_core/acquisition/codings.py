"""Content codings of HTTP bodies, undone as the bytes come in and within a limit: gzip, deflate, and one in another."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from webrag_core.errors import FetchError, Reason

MAX_GZIP_MEMBERS = 1_000
MAX_CODINGS = 3

_GZIP = frozenset({"gzip", "x-gzip"})
_DEFLATE = frozenset({"deflate", "x-deflate"})
# real codings that nobody asked for; what is none of them at all (none, utf-8, 8bit) means a plain body
_UNREAD = frozenset({"br", "zstd", "dcb", "dcz", "compress", "x-compress", "exi", "pack200-gzip", "aes128gcm"})
_GZIP_MARK = b"\x1f\x8b"


def codings_of(header: str) -> list[str]:
    """Codings of a Content-Encoding header, `gzip` or `deflate`, in the order in which they were applied.

    Raises FetchError for one that is not read here, and for too many.
    """
    tokens = [token.strip().lower() for token in header.split(",")]
    if not _UNREAD.isdisjoint(tokens):
        raise FetchError(Reason.BAD_RESPONSE, "the answer has an encoding that was not asked for")
    codings = ["gzip" if token in _GZIP else "deflate" for token in tokens if token in _GZIP | _DEFLATE]
    if len(codings) > MAX_CODINGS:
        raise FetchError(Reason.BAD_RESPONSE, "the answer is packed too often")
    return codings


class Unpacker:
    """Undoes codings of one body, the last one first. Every layer is held to the limit."""

    def __init__(self, codings: Sequence[str], limit: int) -> None:
        """`limit` is in bytes, for the body and for what comes out of each layer."""
        self._limit = limit
        # a proxy that repeats the header packs only once: all layers but the outermost may be plain
        self._layers = [_Layer(coding, may_be_plain=depth > 0) for depth, coding in enumerate(reversed(codings))]

    @property
    def truncated(self) -> bool:
        """Whether the body ended before a layer did."""
        return any(layer.truncated for layer in self._layers)

    def feed(self, data: bytes) -> bytes:
        """Unpack the next bytes. More than `limit` bytes in all mean that the rest is left out.

        Raises zlib.error for a damaged body, FetchError for one that is made of too many parts.
        """
        for layer in self._layers:
            data = layer.feed(data, self._limit - layer.size)
            layer.size += len(data)
        return data

    @property
    def size(self) -> int:
        """Bytes that came out of the layer that gave most; beyond the limit the body is too large."""
        return max((layer.size for layer in self._layers), default=0)


class _Layer:
    """Streaming decoder of gzip with one or more members, or deflate. Trailing bytes are ignored, as in browsers."""

    def __init__(self, coding: str, *, may_be_plain: bool) -> None:
        self.size = 0
        self._coding = coding
        self._may_be_plain = may_be_plain
        self._head: bytes | None = b""
        self._inflater = zlib.decompressobj(wbits=31)
        self._members = 0
        self._in_member = False
        self._over = False
        self._plain = False

    @property
    def truncated(self) -> bool:
        if self._plain:
            return False
        return bool(self._head) or self._members == 0 or self._in_member

    def feed(self, data: bytes, room: int) -> bytes:
        """Decode `data` into at most `room` + 1 bytes; the extra byte signals excess. Raises zlib.error, FetchError."""
        if self._head is not None:
            self._head += data
            if len(self._head) < len(_GZIP_MARK):
                return b""
            data, self._head = self._head, None
            self._begin(data)
        if self._plain:
            return data[: max(0, room + 1)]
        out = bytearray()
        while data and not self._over and len(out) <= room:
            try:
                piece = self._inflater.decompress(data, room + 1 - len(out))
            except zlib.error:
                if self.truncated:
                    raise
                self._over = True
                break
            out += piece
            self._in_member = not self._inflater.eof and (self._in_member or bool(piece))
            data = self._inflater.unused_data
            if self._inflater.eof:
                self._members += 1
                # Tiny members cost far more time than bytes, and no await lets the deadline in.
                if self._members > MAX_GZIP_MEMBERS:
                    raise FetchError(Reason.BAD_RESPONSE, "the compressed body has too many parts")
                if self._coding == "deflate":
                    self._over = True
                    break
                self._inflater = zlib.decompressobj(wbits=31)
        return bytes(out)

    def _begin(self, head: bytes) -> None:
        """Choose how to decode by the first two bytes: `deflate` is sent with and without zlib's header."""
        if head.startswith(_GZIP_MARK):
            self._coding = "gzip"
        elif self._coding == "deflate":
            has_header = head[0] & 0x0F == 8 and int.from_bytes(head[:2]) % 31 == 0
            self._inflater = zlib.decompressobj(wbits=zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)
        else:
            self._plain = self._may_be_plain
