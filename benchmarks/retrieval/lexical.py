"""BM25 in a large corpus: what bounded reading loses and costs, and what kept shares of frequent terms do in scopes.

The corpus is that of `benchmarks.retrieval.query`, or one that is indexed already (`--corpus HOME`). Reading: the share
of the best 1, 10 and 60 parents, by a search that reads every posting, that the product's search lists too, and the
server's CPU time of both. Scopes: the questions about a site, asked in all sources of this site, with the document
frequencies of frequent terms taken from the whole corpus (the product) and counted in the scope: reciprocal rank of the
first gold page among the first ten, and the difference with its 95 % interval (paired bootstrap).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from benchmarks.retrieval.query import fresh_corpus, questions
from benchmarks.retrieval.vector_data import cut_pages, read_pages
from benchmarks.retrieval.vectors import GOLDENS, SITES, cpu_ms, quantiles
from evals.retrieval.data import DEFAULT_DOCUMENTS, DEFAULT_QUESTIONS
from evals.walks.goldens import GoldenQuery, load_goldens
from evals.walks.scoring import page_of
from webrag_core.config import load_settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.terms import terms
from webrag_core.retrieval import bm25
from webrag_core.retrieval.scope import Scope
from webrag_core.retrieval.searcher import Searcher

_BEST = (1, 10, 60)
_FIRST = 10
_DRAWS = 2_000


@contextmanager
def _changed(**values: object) -> Iterator[None]:
    """Other constants of `retrieval.bm25` for a while."""
    before = {name: getattr(bm25, name) for name in values}
    try:
        for name, value in values.items():
            setattr(bm25, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(bm25, name, value)


async def _best(corpus: Corpus, queries: Sequence[str]) -> tuple[list[list[int]], list[float]]:
    """The best parents of each query in everything, and the CPU time of client and server."""
    result, spent = [], []
    for query in queries:
        async with corpus.database.snapshot() as connection:
            begun = cpu_ms(connection)
            hits = await bm25.search_parents(connection, terms(query), Scope(None, {}), limit=max(_BEST))
            spent.append(cpu_ms(connection) - begun)
        result.append([hit.parent_id for hit in hits.hits])
    return result, spent


async def reading(corpus: Corpus, queries: Sequence[str]) -> dict[str, object]:
    """What bounded reading lists of what reading everything lists, and their cost."""
    with _changed(_MAX_POSTINGS=10**9):
        every, cost = await _best(corpus, queries)
    bounded, spent = await _best(corpus, queries)
    figures: dict[str, object] = {"n": len(queries), "cpu_ms": quantiles(spent), "all_cpu_ms": quantiles(cost)}
    for best in _BEST:
        pairs = [
            (set(ranking[:best]), set(whole[:best])) for ranking, whole in zip(bounded, every, strict=True) if whole
        ]
        shares = [len(ranking & whole) / len(whole) for ranking, whole in pairs]
        figures[f"of the best {best}"] = round(float(np.mean(shares)), 4)
    return figures


async def scoped(corpus: Corpus, goldens: Sequence[GoldenQuery]) -> dict[str, object]:
    """Ranks of gold pages in scopes, by shares of the corpus and by counts in the scope."""
    settings = corpus.settings
    searcher = Searcher(corpus.database, corpus.embedder, await corpus.model_id(), settings)
    async with corpus.database.connection() as connection:
        cursor = await connection.execute("SELECT id, key FROM sources")
        sources = await cursor.fetchall()
    ranks: dict[str, list[float]] = {}
    counted = bm25._COUNTS_BY_TERM.replace("t.shares IS NOT NULL", "false")
    for name, statement in (("shares", bm25._COUNTS_BY_TERM), ("counted", counted)):
        with _changed(_COUNTS_BY_TERM=statement):
            for golden in goldens:
                host = urlsplit(golden.seed_url).netloc
                scope = Scope(None, {}, source_ids=tuple(source for source, key in sources if key.startswith(host)))
                result = await searcher.retrieve(golden.query, scope, mode="chunk")
                gold = {page_of(url) for need in golden.gold_pages for url in need}
                pages = list(dict.fromkeys(page_of(chunk.source_url) for chunk in result.chunks))[:_FIRST]
                rank = next((at for at, page in enumerate(pages, start=1) if page in gold), None)
                ranks.setdefault(name, []).append(1 / rank if rank else 0.0)
    difference = np.array(ranks["shares"]) - np.array(ranks["counted"])
    draws = np.random.default_rng(1).choice(difference, (_DRAWS, len(difference))).mean(axis=1)
    return {
        "n": len(goldens),
        **{name: round(float(np.mean(values)), 4) for name, values in ranks.items()},
        "difference": [round(float(value), 4) for value in (difference.mean(), *np.quantile(draws, (0.025, 0.975)))],
    }


async def measure(corpus: Corpus, by_origin: dict[str, list[str]], goldens: Sequence[GoldenQuery]) -> dict[str, object]:
    """All figures."""
    figures: dict[str, object] = {"load": round(os.getloadavg()[0], 1)}
    for group, queries in by_origin.items():
        figures[group] = await reading(corpus, queries)
    figures["scoped"] = await scoped(corpus, [golden for golden in goldens if golden.kind != "unanswerable"])
    return figures


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--corpus", type=Path, default=None, help="search what is indexed in this home instead")
    arguments = parser.parse_args()
    queries = questions(GOLDENS, DEFAULT_QUESTIONS, DEFAULT_DOCUMENTS, every=8)
    goldens = [golden for path in GOLDENS for golden in load_goldens(path)]
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(webrag_home=arguments.corpus or Path(folder), database_url=None)
        cuts = None if arguments.corpus else cut_pages(read_pages(list(SITES), settings), arguments.rows)

        async def run() -> dict[str, object]:
            async with Corpus.open(settings) if cuts is None else fresh_corpus(settings, cuts) as corpus:
                return await measure(corpus, queries, goldens)

        print(json.dumps(asyncio.run(run()), indent=2))


if __name__ == "__main__":
    main()
