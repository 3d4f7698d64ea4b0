"""States of the quotes of a source, for the asset and the checks about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.metadata import Metadata
from webrag_dagster.resources import CorpusResource

if TYPE_CHECKING:
    from webrag_core.history.citations import CitationState

STATES = ("valid", "moved", "changed", "gone", "broken")
"""From best to worst."""


async def states_of(corpus: CorpusResource, keys: Sequence[str]) -> list[CitationState]:
    """States of the quotes of these partitions."""
    from webrag_core.history.citations import citation_states
    from webrag_core.store.database import Database
    from webrag_dagster.corpus.state import source_pages

    async with await Database.open(corpus.settings()) as database:
        async with database.snapshot() as connection:
            pages = [page for key in keys for page in await source_pages(connection, key)]
        return await citation_states(database, documents=[page.document_id for page in pages])


async def citations_table(corpus: CorpusResource, rows: int) -> Metadata:
    """The table of quotes, with the number of `rows` of a source."""
    from webrag_core.store.database import Database
    from webrag_dagster.corpus.tables import table_metadata

    async with await Database.open(corpus.settings()) as database, database.connection() as connection:
        return await table_metadata(connection, "citations", rows)


def counts_of(states: Sequence[CitationState]) -> Counter[str]:
    """Citations by state."""
    return Counter(one.state for one in states)


def counts_metadata(counts: Counter[str]) -> Metadata:
    """The counts, and their sum."""
    return {
        "citations": dg.MetadataValue.int(counts.total()),
        **{state: dg.MetadataValue.int(counts[state]) for state in STATES},
    }


def worst_first(states: Sequence[CitationState]) -> list[CitationState]:
    """Those that are not valid any more."""
    return [one for state in reversed(STATES[1:]) for one in states if one.state == state]
