"""Links that show one answer to whoever has them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from webrag_core.application.inputs import Number
from webrag_core.application.reading import Reading
from webrag_core.application.upkeep import Upkeep
from webrag_core.config import Settings
from webrag_core.history.shares import Share, add_share, list_shares, remove_share
from webrag_core.retrieval.models import Contract
from webrag_core.store.database import Database

SHARED = "/shared"
"""The path below which links lead to answers."""
DAYS = 30.0


class SharedLink(Contract):
    """A new link, and its path on the server. The path is shown this once."""

    share: Share
    path: str


class ShareList(Contract):
    """Links that are in force, the latest first."""

    shares: list[Share]


class ShareAnswer(Upkeep[SharedLink]):
    """A link that shows one answer with its quotes and sources, and nothing else, to whoever has it."""

    answer: Number
    days: Annotated[float, Field(gt=0, le=366, allow_inf_nan=False, description="Days until it ends")] = DAYS

    async def change(self, database: Database, settings: Settings) -> SharedLink:
        """Make it. Raises NotStoredError where there is no such answer in prose, InvalidInputError."""
        async with database.transaction() as connection:
            share, token = await add_share(connection, self.answer, days=self.days)
        return SharedLink(share=share, path=f"{SHARED}/{token}")


class ListShares(Reading):
    """Links that show answers."""

    answer: Annotated[Number | None, Field(description="Only of this answer; unset = of all")] = None

    async def read(self, database: Database) -> ShareList:
        """List those in force."""
        async with database.connection() as connection:
            return ShareList(shares=await list_shares(connection, self.answer))


class RevokeShare(Upkeep[Share]):
    """A link that is to show nothing any more."""

    number: Number

    async def change(self, database: Database, settings: Settings) -> Share:
        """Revoke it. Raises NotStoredError where there is none of this number."""
        async with database.connection() as connection:
            return await remove_share(connection, self.number)
