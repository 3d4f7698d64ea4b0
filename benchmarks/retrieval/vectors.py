"""Dense search at 10,000, 100,000 and more real vectors: recall against exact search, time, cost of loading.

The pages of two frozen sites are cut and embedded by the product (`vector_data`), loaded into the real tables of an
embedded server and searched as the product searches: by the server alone, and by codes in memory
(RETRIEVAL_RESIDENT_MB). Recall@10: the share of the ten best vectors of the scope, by an exact search of our own, that
come back among the first ten. Times are those of `scope_size` and `search_children` in one snapshot, in ms: by the
clock, and the CPU time of client and server, which a busy machine does not blur. Questions of `own` ask about these
sites, those of `foreign` about other texts: their answers are not there, the best vectors lie far away and scattered.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection

from benchmarks.retrieval import vector_store
from benchmarks.retrieval.vector_data import CutPage, cut_pages, embed_texts, read_pages
from evals.retrieval.data import DEFAULT_DOCUMENTS, DEFAULT_QUESTIONS, load_documents, load_questions
from evals.walks.goldens import EVALS, load_goldens
from webrag_core.config import Settings, load_settings
from webrag_core.retrieval.coded_vectors import CodedVectors, code_part, joined
from webrag_core.retrieval.dense import search_children
from webrag_core.retrieval.held_rows import Held
from webrag_core.retrieval.scope import Scope, scope_size
from webrag_core.store.database import Database

SITES = (EVALS / "sites" / "python-3.11.warc.gz", EVALS / "sites" / "rust-1.63.warc.gz")
GOLDENS = tuple(EVALS / "golden" / f"sitewalk-{site.name.split('.warc')[0]}.jsonl" for site in SITES)
SELECTIVITIES = (0.5, 0.1, 0.01, 0.001, 0.0001)

_AT = 10
_DRAWS = 5  # different scopes per kind and selectivity
_TOLERANCE = 1e-6  # of a cosine that the server computed


@dataclass(frozen=True, slots=True)
class Question:
    """A question's vector, and whether it asks about this corpus (`own`) or other texts (`foreign`)."""

    group: str
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Corpus:
    """What the server holds: `vectors` of shape (rows, dimensions), and the document of each row."""

    documents: Sequence[CutPage]
    vectors: NDArray[np.float32]
    owners: NDArray[np.int64]


async def measure(
    database: Database,
    settings: Settings,
    cuts: Sequence[CutPage],
    vectors: NDArray[np.float32],
    batch: list[Question],
) -> dict[str, object]:
    """Load everything, search it in every scope, return the figures."""
    corpus = _Corpus(cuts, vectors, np.repeat(np.arange(len(cuts)), [len(cut.pieces) for cut in cuts]))
    ids = await vector_store.load_corpus(database, cuts)
    model_id, load = await vector_store.load_vectors(database, settings, ids, vectors)
    everything = np.arange(len(cuts))
    rounds = {"unfiltered": [everything]}
    for share in SELECTIVITIES:
        for kind, drawn in draw_scopes(cuts, share).items():
            rounds[f"{kind} {share * 100:g} %"] = drawn
    codes = _codes(corpus, ids)
    results = []
    for name, scopes in rounds.items():
        for group in dict.fromkeys(question.group for question in batch):
            mine = [question.vector for question in batch if question.group == group]
            for way, held in (("server", None), ("codes", codes)):
                row = await _search(database, settings, model_id, corpus, ids.documents, scopes, mine, held)
                results.append({"scope": name, "questions": group, "by": way, **row})
                print(json.dumps(results[-1]), flush=True)
    return {"rows": len(vectors), "documents": len(cuts), **load, "searches": results}


def _codes(corpus: _Corpus, ids: vector_store.Ids) -> CodedVectors:
    chunks, documents = np.array(ids.children).T
    part = code_part(Held(chunks, documents, *(np.zeros_like(chunks),) * 3), corpus.vectors)
    assert part is not None
    return joined([part])


def draw_scopes(cuts: Sequence[CutPage], share: float) -> dict[str, list[NDArray[np.int64]]]:
    """Sets of documents (positions) with about this share of the rows: single documents, whole sources, and half of
    each. Kinds that have nothing small enough are left out."""
    target = share * sum(len(cut.pieces) for cut in cuts)
    sources: dict[str, list[int]] = {}
    for at, cut in enumerate(cuts):
        sources.setdefault(cut.source, []).append(at)
    singles, groups = [[at] for at in range(len(cuts))], list(sources.values())
    results: dict[str, list[NDArray[np.int64]]] = {}
    for seed in range(_DRAWS):
        dice = random.Random(seed)
        for kind, parts in (
            ("documents", [(singles, target)]),
            ("sources", [(groups, target)]),
            ("mixed", [(groups, target / 2), (singles, target / 2)]),
        ):
            chosen: set[int] = set()
            whole = True
            for units, wanted in parts:
                taken = _take(units, cuts, wanted, dice)
                whole = whole and bool(taken)
                chosen.update(taken)
            if whole:
                results.setdefault(kind, []).append(np.array(sorted(chosen)))
    return results


def _take(units: list[list[int]], cuts: Sequence[CutPage], wanted: float, dice: random.Random) -> list[int]:
    rows, chosen = 0, []
    for unit in dice.sample(units, len(units)):
        size = sum(len(cuts[at].pieces) for at in unit)
        if rows + size <= wanted * 1.1 or (rows < wanted / 2 and size <= wanted * 1.5):
            rows += size
            chosen += unit
    return chosen if rows >= wanted / 2 else []


async def _search(
    database: Database,
    settings: Settings,
    model_id: int,
    corpus: _Corpus,
    ids: Sequence[int],
    scopes: Sequence[NDArray[np.int64]],
    queries: Sequence[NDArray[np.float32]],
    held: CodedVectors | None,
) -> dict[str, object]:
    recalls: list[float] = []
    clock: list[float] = []
    cpu: list[float] = []
    short = 0
    resolved = [Scope.of({ids[int(at)]: 0 for at in drawn}) for drawn in scopes]
    inside = [np.flatnonzero(np.isin(corpus.owners, drawn)) for drawn in scopes]
    limit = settings.retrieval_top_k_children_limit
    # all of them first: reading every vector between two searches would empty the processor's caches
    best_of = [_best(corpus.vectors, inside[number % len(scopes)], query) for number, query in enumerate(queries)]
    for number, query in enumerate(queries):
        scope, rows, best = resolved[number % len(scopes)], inside[number % len(scopes)], best_of[number]
        async with database.snapshot() as connection:
            await connection.execute("SELECT 1")
            spent, started = cpu_ms(connection), time.perf_counter()
            size = await scope_size(connection, scope)
            hits = await search_children(
                connection,
                model_id,
                query,
                scope,
                matching_rows=size.children,
                limit=limit,
                ef_search=settings.retrieval_hnsw_ef_search,
                held=held,
            )
            clock.append((time.perf_counter() - started) * 1000)
            cpu.append(cpu_ms(connection) - spent)
        short += len(hits) < min(limit, len(rows))
        recalls.append(sum(hit.similarity >= best[-1] - _TOLERANCE for hit in hits[:_AT]) / len(best))
    return {
        "rows_in_scope": round(float(np.mean([len(rows) for rows in inside]))),
        "n": len(queries),
        "recall": round(float(np.mean(recalls)), 4),
        "too_few": short,
        "ms": quantiles(clock),
        "cpu_ms": quantiles(cpu),
    }


def _best(vectors: NDArray[np.float32], rows: NDArray[np.int64], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """The ten highest cosines among these rows, best first; fewer where there are fewer."""
    cosines = vectors @ query if len(rows) == len(vectors) else vectors[rows] @ query
    return np.sort(np.partition(cosines, -_AT)[-_AT:] if len(cosines) > _AT else cosines)[::-1]


def cpu_ms(connection: AsyncConnection) -> float:
    """CPU time so far of this process and of the server's for this connection (nanoseconds in its first field)."""
    server = Path(f"/proc/{connection.info.backend_pid}/schedstat").read_text().split()[0]
    return time.process_time() * 1000 + int(server) / 1e6


def quantiles(values: Sequence[float]) -> dict[str, float]:
    return {f"p{at}": round(float(np.percentile(values, at)), 2) for at in (50, 95)}


def remembered_vectors(texts: Sequence[str], settings: Settings, folder: Path) -> NDArray[np.float32]:
    """Vectors of these texts, remembered in `folder`."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    kept = folder / f"{digest.hexdigest()[:16]}.npy"
    if not kept.exists():
        np.save(kept, embed_texts(texts, settings))
    return np.asarray(np.load(kept), dtype=np.float32)


def read_questions(arguments: argparse.Namespace, settings: Settings) -> list[Question]:
    """The questions of `add_inputs` with their vectors."""
    site_queries = [golden.query for path in arguments.golden for golden in load_goldens(path)]
    foreign = [each.question for each in load_questions(arguments.questions, load_documents(arguments.documents))]
    every = [*site_queries, *foreign[:: arguments.every]]
    vectors = embed_texts(every, settings)
    return [Question("own" if at < len(site_queries) else "foreign", vector) for at, vector in enumerate(vectors)]


async def _run(
    settings: Settings, rows: int, cuts: list[CutPage], vectors: NDArray[np.float32], batch: list[Question]
) -> dict[str, object]:
    async with vector_store.fresh_database(settings, f"bench_{rows}") as database:
        return await measure(database, settings, cuts, vectors, batch)


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """The options that say what is searched, and with which questions."""
    parser.add_argument("--site", type=Path, nargs="+", default=list(SITES), help="frozen sites, WARC")
    parser.add_argument("--golden", type=Path, nargs="+", default=list(GOLDENS), help="questions about these sites")
    parser.add_argument("--questions", type=Path, default=DEFAULT_QUESTIONS, help="questions about other texts")
    parser.add_argument("--documents", type=Path, default=DEFAULT_DOCUMENTS, help="the texts of --questions")
    parser.add_argument("--every", type=int, default=8, help="only every n-th of --questions")
    parser.add_argument("--home", type=Path, default=None, help="keep vectors and databases here")


@contextmanager
def inputs(arguments: argparse.Namespace) -> Iterator[tuple[Path, Settings, list[Question]]]:
    """The folder for vectors and databases, which is there as long, the settings with it, and the questions."""
    with tempfile.TemporaryDirectory() as folder:
        home = arguments.home or Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        settings = load_settings(webrag_home=home, database_url=None)
        yield home, settings, read_questions(arguments, settings)


def main() -> None:
    """Print the figures of every size: a line per kind of scope, then one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    add_inputs(parser)
    arguments = parser.parse_args()
    with inputs(arguments) as (home, settings, batch):
        pages = read_pages(arguments.site, settings)
        figures = []
        for rows in sorted(arguments.rows):
            cuts = cut_pages(pages, rows)
            vectors = remembered_vectors([piece.text for cut in cuts for piece in cut.pieces], settings, home)
            figures.append(asyncio.run(_run(settings, rows, cuts, vectors, batch)))
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
