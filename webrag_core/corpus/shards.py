"""Shards: a large source cut into parts of equal size by the digest of its pages' URLs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from webrag_core.errors import InvalidInputError

MAX_SHARDS = 99
_KEY = re.compile(r"(?P<source>.+)~(?P<index>\d\d)of(?P<count>\d\d)")


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `index` (from 0) of `count` parts of a source. The whole is part 0 of 1."""

    index: int = 0
    count: int = 1

    def holds(self, url: str) -> bool:
        """True when the canonical `url` belongs to this part."""
        if self.count == 1:
            return True
        return int.from_bytes(hashlib.sha256(url.encode()).digest()[:8]) % self.count == self.index

    def share(self, limit: int) -> int:
        """This part's share of a limit, rounded up."""
        return -(-limit // self.count)


def shard_keys(source: str, count: int) -> list[str]:
    """Keys of the parts of a source: the source's own key when it is whole, else `host~03of08`."""
    return [source] if count == 1 else [f"{source}~{index:02d}of{count:02d}" for index in range(count)]


def is_shard_key(key: str) -> bool:
    """True for the key of a part of a source."""
    return _KEY.fullmatch(key) is not None


def split_key(key: str) -> tuple[str, Shard]:
    """Source and part that a key of `shard_keys` names. Raises InvalidInputError for a part that cannot be."""
    match = _KEY.fullmatch(key)
    if match is None:
        return key, Shard()
    shard = Shard(int(match["index"]), int(match["count"]))
    if not shard.index < shard.count:
        raise InvalidInputError(f"{key} names a part that is not there")
    return match["source"], shard


def key_of(source: str, count: int, url: str) -> str:
    """Key of the part of a source that holds `url`."""
    return next(key for index, key in enumerate(shard_keys(source, count)) if Shard(index, count).holds(url))


def keys_of(sources: Iterable[tuple[str, int]]) -> list[str]:
    """Keys of all parts of (source, number of parts)."""
    return [key for source, count in sources for key in shard_keys(source, count)]
