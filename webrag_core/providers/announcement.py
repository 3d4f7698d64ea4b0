"""Announce the first request of a corpus to each endpoint that has a key: it may cost money, and its owner should know
before the bill."""

from __future__ import annotations

import logging

from webrag_core.errors import StoreError
from webrag_core.store.breakers import Breaker

logger = logging.getLogger(__name__)


class Announcement:
    """Said once for a corpus: endpoint, model and what limits the requests. Without a database once for the object."""

    def __init__(self, breaker: Breaker | None, url: str, model: str, cap: str, *, has_key: bool) -> None:
        """An endpoint without a key costs nothing, and is not announced."""
        self._breaker = breaker
        self._is_due = has_key
        self._text = f"the first request to {url.partition('?')[0]} with a key, for the model {model}: {cap}"
        self._name = None if breaker is None else f"{breaker.name} {model}"

    async def make(self) -> None:
        """Log the announcement, unless this corpus has heard it. A database that cannot be asked costs nothing else."""
        if not self._is_due:
            return
        self._is_due = False
        if self._breaker is not None:
            try:
                async with self._breaker.database.connection() as connection:
                    cursor = await connection.execute(
                        "INSERT INTO endpoints_used (name) VALUES (%s) ON CONFLICT DO NOTHING RETURNING name",
                        (self._name,),
                    )
                    if await cursor.fetchone() is None:
                        return
            except StoreError as error:
                logger.warning("whether %s was announced is not known: %s", self._name, error.message)
        logger.warning("%s", self._text)
