"""Ways to search many vectors beside the product's graph: recall against exact search, CPU time, memory.

The vectors are those of `vectors`: real pages, cut in many ways. In memory, on one core: all of them as they are; as
whole numbers of a byte; by their signs and then the whole numbers of the nearest (`retrieval.coded_vectors`), at
several shares; and in 1,024 partitions (k-means) of which the nearest are compared whole. In PostgreSQL, with --graphs:
HNSW graphs over half precision with other numbers of links and of candidates. Recall@10 is as in `vectors`; ms are of
CPU time of client and server for the 60 nearest, which a busy machine blurs less than the clock.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection, sql

from benchmarks.retrieval import vector_store
from benchmarks.retrieval.vector_data import cut_pages, read_pages
from benchmarks.retrieval.vectors import Question, add_inputs, cpu_ms, inputs, quantiles, remembered_vectors
from webrag_core.config import Settings
from webrag_core.retrieval.coded_vectors import bytes_needed, code_part, joined
from webrag_core.retrieval.held_rows import Held
from webrag_core.retrieval.scope import Scope

_AT, _LIMIT = 10, 60
_AT_ONCE = 16
_SHARES = (0.03, 0.05, 0.08)
_PARTITIONS = 1024
_PROBES = (64, 128, 256)
_GRAPHS = ((20, 160), (32, 320))  # links, candidates while building
_EFFORTS = (400, 800, 1000)
_ROWS_OF_A_PART = 20_000
_BLOCK = 4096
_TOLERANCE = 1e-6  # of a cosine that is added up in another order

Vectors = NDArray[np.float32]
Rows = NDArray[np.int64]
Find = Callable[[Vectors], Rows]


class Ways:
    """Vectors of unit length, shape (n, dimensions), questions about them, and the figures of the ways to search."""

    def __init__(self, vectors: Vectors, batch: Sequence[Question]) -> None:
        self.vectors, self.batch = vectors, batch
        self.figures: list[dict[str, object]] = []
        self._tenth: list[float] = []
        for start in range(0, len(batch), _AT_ONCE):  # the vectors are read once for several questions
            some = np.stack([question.vector for question in batch[start : start + _AT_ONCE]])
            self._tenth += [float(tenth) for tenth in np.partition(vectors @ some.T, -_AT, axis=0)[-_AT]]

    def measure(self, way: str, find: Find, megabytes: float, build_s: float) -> None:
        """Search for every question in memory and note the figures. `find` gives rows in no particular order."""
        rows, spent = [], []
        for question in self.batch:
            started = time.process_time()
            rows.append(find(question.vector))
            spent.append((time.process_time() - started) * 1000)
        self.note(way, rows, spent, megabytes, build_s)

    def note(self, way: str, first: Sequence[Rows], spent: Sequence[float], megabytes: float, build_s: float) -> None:
        """Print and keep the figures of a way, from what came `first` for each question and the ms that it took."""
        recalls: dict[str, list[float]] = {}
        for question, rows, tenth in zip(self.batch, first, self._tenth, strict=True):
            best = np.sort(self.vectors[rows] @ question.vector)[::-1][:_AT]
            recalls.setdefault(question.group, []).append(float(np.mean(best >= tenth - _TOLERANCE)))
        self.figures.append(
            {
                "way": way,
                **{f"recall_{group}": round(float(np.mean(values)), 4) for group, values in recalls.items()},
                "cpu_ms": quantiles(spent),
                "megabytes": round(megabytes),
                "build_s": round(build_s, 1),
            }
        )
        print(json.dumps(self.figures[-1]), flush=True)


def in_memory(ways: Ways) -> None:
    """Whole vectors, whole numbers, signs, partitions."""
    vectors, megabytes = ways.vectors, ways.vectors.nbytes / 1e6
    ways.measure("exact", lambda query: _first(np.einsum("ij,j->i", vectors, query)), megabytes, 0)
    started = time.process_time()
    parts = [
        code_part(Held(rows, rows, rows, rows, rows), vectors[rows])
        for rows in np.array_split(np.arange(len(vectors)), -(-len(vectors) // _ROWS_OF_A_PART))
    ]
    coded = joined([part for part in parts if part is not None])
    took = time.process_time() - started
    everything = replace(coded, share=1.0)
    whole = Scope(None, {})
    megabytes = bytes_needed(*vectors.shape) / 1e6
    ways.measure("whole numbers", lambda query: np.array(everything.nearest(query, whole, _LIMIT, 0)), megabytes, took)
    for share in _SHARES:
        some = replace(coded, share=share)
        ways.measure(
            f"signs, then whole numbers of {share:.0%}",
            lambda query, some=some: np.array(some.nearest(query, whole, _LIMIT, 0)),  # type: ignore[misc]
            megabytes,
            took,
        )
    _partitioned(ways)


def _partitioned(ways: Ways) -> None:
    vectors = ways.vectors
    started = time.process_time()
    centres = _centres(vectors[:: max(len(vectors) // 100_000, 1)])
    places = _nearest_centres(vectors, centres)
    order = np.argsort(places, kind="stable")
    bounds = np.searchsorted(places[order], np.arange(len(centres) + 1))
    sorted_vectors = vectors[order]
    took = time.process_time() - started
    for probes in _PROBES:

        def find(query: Vectors, probes: int = probes) -> Rows:
            near = np.argsort(np.square(centres).sum(axis=1) / 2 - centres @ query)[:probes]
            rows = np.concatenate([np.arange(bounds[at], bounds[at + 1]) for at in near])
            cosines = [np.einsum("ij,j->i", sorted_vectors[bounds[at] : bounds[at + 1]], query) for at in near]
            first: Rows = order[rows[_first(np.concatenate(cosines))]]
            return first

        ways.measure(f"{probes} of {len(centres)} partitions", find, vectors.nbytes / 1e6, took)


def _centres(sample: Vectors, rounds: int = 10) -> Vectors:
    """Centres of k-means (Lloyd, 1982), from random vectors on."""
    dice = np.random.default_rng(7)
    centres = sample[dice.choice(len(sample), min(_PARTITIONS, len(sample)), replace=False)]
    for _ in range(rounds):
        places = _nearest_centres(sample, centres)
        order = np.argsort(places, kind="stable")
        held, first = np.unique(places[order], return_index=True)
        sums = np.add.reduceat(sample[order], first, axis=0)
        centres[held] = sums / np.diff([*first, len(sample)])[:, None]
    return centres


def _nearest_centres(vectors: Vectors, centres: Vectors) -> Rows:
    halves = np.square(centres).sum(axis=1) / 2
    blocks = [vectors[start : start + _BLOCK] for start in range(0, len(vectors), _BLOCK)]
    places: Rows = np.concatenate([np.argmax(block @ centres.T - halves, axis=1) for block in blocks])
    return places


def _first(cosines: Vectors) -> Rows:
    return np.argpartition(cosines, -_LIMIT)[-_LIMIT:]


async def graphs(ways: Ways, settings: Settings) -> None:
    """HNSW graphs of pgvector over half precision, in a table that holds nothing else."""
    async with vector_store.fresh_database(settings, "bench_graphs") as database, database.long_job() as connection:
        await register_vector_async(connection)
        dimensions = sql.Literal(ways.vectors.shape[1])
        await connection.execute(sql.SQL("CREATE TABLE held (id int, half halfvec({}))").format(dimensions))
        async with connection.cursor().copy(b"COPY held FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["int4", "halfvec"])
            for row, vector in enumerate(ways.vectors):
                await copy.write_row((row, HalfVector(vector)))
        await connection.execute(b"SET maintenance_work_mem = '2GB'")
        for links, candidates in _GRAPHS:
            started = time.perf_counter()
            await connection.execute(
                sql.SQL(
                    "CREATE INDEX held_graph ON held USING hnsw (half halfvec_cosine_ops)"
                    " WITH (m = {}, ef_construction = {})"
                ).format(sql.Literal(links), sql.Literal(candidates))
            )
            took = time.perf_counter() - started
            size = await (await connection.execute(b"SELECT pg_relation_size('held_graph')")).fetchone()
            assert size is not None
            for effort in _EFFORTS:
                await connection.execute(f"SET hnsw.ef_search = {effort}".encode())
                rows, spent = [], []
                for question in ways.batch:
                    before = cpu_ms(connection)
                    rows.append(await _by_graph(connection, question.vector))
                    spent.append(cpu_ms(connection) - before)
                ways.note(f"graph, {links} links, {candidates}; {effort}", rows, spent, size[0] / 1e6, took)
            await connection.execute(b"DROP INDEX held_graph")


async def _by_graph(connection: AsyncConnection, query: Vectors) -> Rows:
    cursor = await connection.execute(
        b"SELECT array(SELECT id FROM held ORDER BY half <=> %s LIMIT 100)", (HalfVector(query),)
    )
    row = await cursor.fetchone()
    assert row is not None
    return np.array(row[0])


def main() -> None:
    """Print a line of JSON for each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--graphs", action="store_true", help="build and search graphs, too: a million takes an hour")
    add_inputs(parser)
    arguments = parser.parse_args()
    with inputs(arguments) as (home, settings, batch):
        cuts = cut_pages(read_pages(arguments.site, settings), arguments.rows)
        vectors = remembered_vectors([piece.text for cut in cuts for piece in cut.pieces], settings, home)
        del cuts
        ways = Ways(_units(vectors), [replace(each, vector=_units(each.vector[None])[0]) for each in batch])
        in_memory(ways)
        if arguments.graphs:
            asyncio.run(graphs(ways, settings))


def _units(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


if __name__ == "__main__":
    main()
