"""One whole query in a corpus of 100,000 children: embedding, search, reranking, redundancy, proved citations.

What `webrag search` does below the command line, phase by phase. The corpus is two frozen sites, cut in several ways
so that no text comes twice (`vector_data`), written by the product's own writers; or one that is indexed already
(`--corpus HOME`). Every query is asked once per round, so nothing is remembered of it. Questions of `own` ask about the
two sites, those of `foreign` about other texts. Times are ms: by the clock, and the CPU time of client and server,
which a busy machine does not blur. `rest` is what lies between the phases. `floor` holds, for every tenth query, what
its statements cost alone, with their number and bytes (`server_work`), and in `arrays` what numpy needs for the product
of its tokens with those of the passages found.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import server_work
from benchmarks.retrieval import vector_store
from benchmarks.retrieval.vector_data import CutPage, cut_pages, read_pages
from benchmarks.retrieval.vectors import GOLDENS, SITES
from evals.retrieval.data import DEFAULT_DOCUMENTS, DEFAULT_QUESTIONS, load_documents, load_questions
from evals.walks.goldens import load_goldens
from webrag_core.config import Settings, load_settings
from webrag_core.corpus.acquirers import make_acquirer
from webrag_core.garbage import collect_rarely
from webrag_core.indexing.pipeline import Corpus
from webrag_core.providers.static_model import token_ids, token_vectors
from webrag_core.retrieval.bm25 import count_terms, search_parents
from webrag_core.retrieval.chunk_store import load_families
from webrag_core.retrieval.citations import cite, prove_citations
from webrag_core.retrieval.dense import search_children
from webrag_core.retrieval.folding import folded
from webrag_core.retrieval.ranking import compare, copies_among, score_parents, to_chunks
from webrag_core.retrieval.reranking import rank
from webrag_core.retrieval.scope import resolve_scope, scope_size
from webrag_core.retrieval.search import search_corpus
from webrag_core.retrieval.spelling import find_spellings

_SEED = 7
_SMALL_PRODUCT = 2**18  # multiplications
_FLOOR_EVERY = 10  # queries of which one is measured for its floor
_WARM_UP = 10  # queries of their own before anything is measured: imports, prepared statements, models

_PHASES: dict[str, tuple[Callable[..., Any], ...]] = {
    "scope": (resolve_scope,),
    "size": (scope_size,),
    "dense": (search_children,),
    "terms": (count_terms,),
    "lexical": (search_parents,),
    "candidates": (load_families,),
    "ranking": (compare, score_parents, copies_among, to_chunks),
    "spelling": (find_spellings,),
    "rerank": (rank,),
    "redundancy": (folded,),
    "citing": (cite,),
    "proof": (prove_citations,),
}


@dataclass(slots=True)
class Clock:
    """Milliseconds by phase of one query, by the clock and in CPU time of this process and of `servers`."""

    servers: Sequence[int]
    wall: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    cpu: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    phase: str = "rest"

    @contextmanager
    def time(self, phase: str) -> Iterator[None]:
        """Adds what the block takes to `phase`, and takes it from the phase around it."""
        spent, started = self._cpu_ms(), time.perf_counter()
        before, self.phase = self.phase, "rest" if phase == "total" else phase
        try:
            yield
        finally:
            self.phase = before
            for phases, took in (
                (self.wall, (time.perf_counter() - started) * 1000),
                (self.cpu, self._cpu_ms() - spent),
            ):
                phases[phase] += took
                if before != "rest":
                    phases[before] -= took

    def _cpu_ms(self) -> float:
        return time.process_time_ns() / 1e6 + server_work.server_ms(self.servers)


@contextmanager
def timed_phases(current: Callable[[], Clock]) -> Iterator[None]:
    """While it is open every phase of a query is timed by `current()`, wherever the product calls it."""
    places = [
        (module, name, phase, function)
        for phase, functions in _PHASES.items()
        for function in functions
        for key, module in list(sys.modules.items())
        if key.startswith("webrag_core.")
        for name, value in list(vars(module).items())
        if value is function
    ]
    for module, name, phase, function in places:
        setattr(module, name, _timed(function, phase, current))
    try:
        yield
    finally:
        for module, name, _, function in places:
            setattr(module, name, function)


def _timed(function: Callable[..., Any], phase: str, current: Callable[[], Clock]) -> Callable[..., Any]:
    if asyncio.iscoroutinefunction(function):

        @functools.wraps(function)
        async def timed(*given: Any, **named: Any) -> Any:
            with current().time(phase):
                return await function(*given, **named)

    else:

        @functools.wraps(function)
        def timed(*given: Any, **named: Any) -> Any:
            with current().time(phase):
                return function(*given, **named)

    return timed


async def ask_all(corpus: Corpus, queries: Sequence[str]) -> dict[str, object]:
    """Ask every query once, one after the other; p50 and p95 by phase."""
    clocks: list[Clock] = []
    with timed_phases(lambda: clocks[-1]):
        for query in queries:
            clocks.append(Clock(await server_work.servers_of(corpus.database)))
            with clocks[-1].time("total"):
                result = await search_corpus(corpus, query)
            clocks[-1].wall["embed"] = result.timing.embed_ms
    for clock in clocks:
        for spent in (clock.wall, clock.cpu):
            spent["rest"] = 2 * spent["total"] - sum(spent.values())
    return {
        "n": len(queries),
        "ms": _table([c.wall for c in clocks]),
        "cpu_ms": _table([c.cpu for c in clocks]),
        "floor": await _floors(corpus, queries[::_FLOOR_EVERY]),
    }


async def _floors(corpus: Corpus, queries: Sequence[str]) -> dict[str, object]:
    """The mean floor of each phase over these queries."""
    sums: dict[str, server_work.Floor] = defaultdict(server_work.Floor)
    products: list[float] = []
    for query in queries:
        clock = Clock([])
        with timed_phases(partial(_itself, clock)), server_work.recorded(partial(getattr, clock, "phase")) as sent:
            result = await search_corpus(corpus, query)
        for phase, floor in (await server_work.floors(corpus.database, sent)).items():
            sums[phase].add(floor)
            sums["total"].add(floor)
        texts = [passage.chunk.text for passage in result.chunks]
        products.append(_product_ms(query, texts))
    means = {phase: floor.mean(len(queries)) for phase, floor in sums.items()}
    return {"n": len(queries), **means, "arrays": {"tokens_ms": round(float(np.mean(products)), 2)}}


def _itself(clock: Clock) -> Clock:
    return clock


def _product_ms(query: str, texts: Sequence[str]) -> float:
    """CPU time of the product that the soft token match is made of, in blocks for which BLAS starts no threads."""
    first, *others = (np.unique(ids) for ids in token_ids([query, *texts]))
    distinct = np.unique(np.concatenate([np.empty(0, np.uint16), *others]))
    rows, vectors = token_vectors()[first], token_vectors()
    step = max(1, _SMALL_PRODUCT // rows.size)
    started = time.process_time()
    for at in range(0, len(distinct), step):
        rows @ vectors[distinct[at : at + step]].T
    return (time.process_time() - started) * 1000


def _table(rows: Sequence[dict[str, float]]) -> dict[str, dict[str, float]]:
    names = list(dict.fromkeys(["total", *_PHASES, *(name for row in rows for name in row)]))
    columns = {name: [row.get(name, 0.0) for row in rows] for name in names}
    return {
        name: {f"p{at}": round(float(np.percentile(column, at)), 2) for at in (50, 95)}
        for name, column in columns.items()
        if any(column)
    }


async def measure(corpus: Corpus, by_origin: dict[str, list[str]]) -> dict[str, object]:
    """Figures by group of questions, after a warm-up with words of their own."""
    for number in range(_WARM_UP):
        await search_corpus(corpus, f"warming up for the {number}th time before questions are asked")
    async with corpus.database.connection() as connection:
        cursor = await connection.execute("SELECT level, count(*) FROM chunks GROUP BY level ORDER BY level")
        held = {f"{level}_chunks": int(count) for level, count in await cursor.fetchall()}
    figures: dict[str, object] = {**held, "load": os.getloadavg()[0]}
    for group, queries in by_origin.items():
        figures[group] = await ask_all(corpus, queries)
    return figures


def questions(goldens: Sequence[Path], others: Path, documents: Path, *, every: int) -> dict[str, list[str]]:
    """Questions about the sites (`site_queries`), and every n-th of those about other texts (`foreign`), shuffled."""
    site_queries = [golden.query for path in goldens for golden in load_goldens(path)]
    foreign = [each.question for each in load_questions(others, load_documents(documents))]
    by_origin = {"own": list(dict.fromkeys(site_queries)), "foreign": list(dict.fromkeys(foreign[::every]))}
    for queries in by_origin.values():
        random.Random(_SEED).shuffle(queries)
    return by_origin


@asynccontextmanager
async def fresh_corpus(settings: Settings, cuts: Sequence[CutPage]) -> AsyncIterator[Corpus]:
    """These documents, indexed in a database of their own."""
    async with vector_store.fresh_database(settings, "bench_query") as database:
        corpus = Corpus(database, make_acquirer(settings), settings)
        await vector_store.index_cuts(corpus, cuts)
        yield corpus


async def _run(
    arguments: argparse.Namespace, settings: Settings, cuts: Sequence[CutPage] | None, queries: dict[str, list[str]]
) -> dict[str, object]:
    async with Corpus.open(settings) if cuts is None else fresh_corpus(settings, cuts) as corpus:
        return await measure(corpus, queries)


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--site", type=Path, nargs="+", default=list(SITES), help="frozen sites, WARC")
    parser.add_argument("--golden", type=Path, nargs="+", default=list(GOLDENS), help="questions about these sites")
    parser.add_argument("--questions", type=Path, default=DEFAULT_QUESTIONS, help="questions about other texts")
    parser.add_argument("--documents", type=Path, default=DEFAULT_DOCUMENTS, help="the texts of --questions")
    parser.add_argument("--every", type=int, default=8, help="only every n-th of --questions")
    parser.add_argument("--corpus", type=Path, default=None, help="search what is indexed in this home instead")
    arguments = parser.parse_args()
    collect_rarely()  # as commands and servers do
    queries = questions(arguments.golden, arguments.questions, arguments.documents, every=arguments.every)
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(webrag_home=arguments.corpus or Path(folder), database_url=None)
        cuts = None if arguments.corpus else cut_pages(read_pages(arguments.site, settings), arguments.rows)
        print(json.dumps(asyncio.run(_run(arguments, settings, cuts, queries)), indent=2))


if __name__ == "__main__":
    main()
