"""The passages that an answer considered: what feedback on it can be about, and with which probability it could be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from psycopg import AsyncConnection

from webrag_core.answering.models import SentenceCitation
from webrag_core.retrieval.merging import by_score
from webrag_core.retrieval.models import RankedChunk, RetrievedChunk


async def record_exposures(
    connection: AsyncConnection,
    answer_id: int,
    ranked: Sequence[RankedChunk],
    citations: Sequence[SentenceCitation],
    agent: Literal["pages", "corpus"],
    *,
    propensity: float | None = 1.0,
) -> None:
    """Store the passages of an answer in the order of their scores; call in the transaction that stores the answer.

    `agent` found them, the walk over pages where there was one. `propensity`, in (0, 1], is
    the probability that each was considered: 1 where nothing was left to chance, None where it is not known. Shown are
    those that hold a quote of the answer. Passages of past texts have no chunk, and are left out.
    """
    considered = [one.chunk for one in by_score(ranked) if one.chunk.chunk_id > 0]
    async with connection.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO exposures (answer_id, rank, chunk_id, agent, shown, propensity)"
            " VALUES (%s, %s, %s, %s, %s, %s)",
            [
                (answer_id, rank, chunk.chunk_id, agent, _is_quoted(chunk, citations), propensity)
                for rank, chunk in enumerate(considered, start=1)
            ],
        )


def _is_quoted(chunk: RetrievedChunk, citations: Sequence[SentenceCitation]) -> bool:
    return any(
        one.version_sha256 == chunk.version_sha256
        and one.url == chunk.source_url
        and one.char_start < chunk.char_end
        and chunk.char_start < one.char_end
        for one in citations
    )
