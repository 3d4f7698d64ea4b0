"""Which sources whoever sends a request may read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection

from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import OutOfReachError

_KEY = "webrag.reach"

_KEYS = """
SELECT DISTINCT s.key COLLATE "C" FROM sources s JOIN unnest(%s::text[]) AS n (name)
ON s.key = n.name OR starts_with(s.key, n.name || '/') ORDER BY 1
"""
_SOURCES_OF_PAGE = """
SELECT s.key FROM documents d JOIN sources s ON s.id = d.source_id
WHERE d.canonical_url = %(url)s OR d.id IN (SELECT document_id FROM url_aliases WHERE url = %(url)s)
"""


@dataclass(frozen=True, slots=True)
class Reach:
    """The sources `names` by key, each with the sections below it; None = everything."""

    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, scope: Mapping[str, Any]) -> Reach:
        """The reach of a request, by its ASGI scope: everything, unless its token narrows it."""
        reach = scope.get(_KEY)
        return reach if isinstance(reach, cls) else cls()

    def put(self, scope: Mapping[str, Any]) -> dict[str, Any]:
        """`scope` with this reach."""
        return {**scope, _KEY: self}

    @property
    def is_everything(self) -> bool:
        """Whether nothing is out of reach."""
        return self.names is None

    @property
    def error(self) -> OutOfReachError:
        """What is said of all that is out of reach, whether it is stored or not."""
        return OutOfReachError(f"this token reads pages of {', '.join(self.names or ())} and nothing else")

    def holds(self, key: str) -> bool:
        """Whether the source with this key is within reach."""
        return self.names is None or any(key == name or key.startswith(f"{name}/") for name in self.names)

    def require(self, key: str) -> None:
        """Raise OutOfReachError for a source that is out of reach."""
        if not self.holds(key):
            raise self.error

    async def keys(self, connection: AsyncConnection) -> list[str] | None:
        """The keys of the stored sources within reach, in order; None = all."""
        if self.names is None:
            return None
        return [str(row[0]) for row in await (await connection.execute(_KEYS, (list(self.names),))).fetchall()]

    async def require_page(self, connection: AsyncConnection, url: str) -> None:
        """Raise OutOfReachError unless the page that has this address, and the one that had it, are within reach;
        FetchError(INVALID_URL)."""
        if self.names is None:
            return
        cursor = await connection.execute(_SOURCES_OF_PAGE, {"url": canonicalise(url)})
        keys = [str(row[0]) for row in await cursor.fetchall()]
        if not keys or not all(map(self.holds, keys)):
            raise self.error
