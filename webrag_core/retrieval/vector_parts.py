"""The vectors of a model in packed parts, as the server sends them, and the state of the tables that they are of."""

from __future__ import annotations

import asyncio

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection, sql

from webrag_core.retrieval.held_rows import Held
from webrag_core.store.vector_tables import vector_table

# Whatever changes vectors or postings changes a row of lexical_documents or document_sizes, or adds or takes one, and
# their triggers write a row of source_sizes anew: its place and transaction say that it is the same. Texts that wait
# get their vectors later, and without.
STATE = """
SELECT coalesce(string_agg(concat_ws(' ', id, xmin, ctid), ',' ORDER BY id), ''),
       EXISTS (SELECT FROM texts_without_vector WHERE model_id = %(model)s AND NOT refused),
       EXISTS (SELECT FROM embedding_models WHERE id = %(model)s AND state = 'live'),
       EXISTS (SELECT FROM window_vectors)
FROM source_sizes
"""
"""What stands for the state of vectors and postings; whether texts wait for a vector of the model, whether it is live,
and whether there is any window vector."""

_VECTORS = sql.SQL("""
SELECT string_agg(int8send(e.chunk_id) || int4send(e.document_id) || int4send(d.source_id) || int4send(d.kind)
                  || int4send(d.months), '' ORDER BY e.chunk_id),
       string_agg(vector_send(e.embedding), '' ORDER BY e.chunk_id)
FROM (SELECT * FROM {} WHERE chunk_id > %s ORDER BY chunk_id LIMIT %s) e JOIN documents d ON d.id = e.document_id
""")
_VECTOR_HEAD = np.dtype([("chunk", ">i8"), *((name, ">i4") for name in ("document", "source", "kind", "months"))])


async def read_part(
    connection: AsyncConnection, model_id: int, after: int, most: int
) -> tuple[Held, NDArray[np.float32]] | None:
    """At most `most` children behind the chunk id `after`, by their ids, and their vectors of shape (n, dimensions);
    None where there is none. Call inside a transaction."""
    cursor = await connection.execute(
        _VECTORS.format(vector_table(model_id)), (after, most), binary=True, prepare=False
    )
    packed = await cursor.fetchone()
    if packed is None or packed[0] is None:
        return None
    return await asyncio.to_thread(_unpacked, *packed)


def _unpacked(heads: bytes, packed: bytes) -> tuple[Held, NDArray[np.float32]]:
    """Vectors are sent as their number of dimensions and an unused number, two bytes each, and four bytes for each."""
    rows = np.frombuffer(heads, _VECTOR_HEAD)
    words = np.frombuffer(packed, ">f4").reshape(len(rows), -1)
    return Held.of(rows), words[:, 1:].astype(np.float32)
