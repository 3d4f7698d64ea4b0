"""What the graph adds to a search (P6), on whole frozen sites: are the gold pages among the first pages?

    python -m evals.graph.boost --split fitting|reporting [--site NAME …] [--out items.jsonl]

Each site is stored whole, once. Each answerable golden is asked of P4, whose candidates are ranked to the last one;
a page stands where its best passage does. recall@k is the share of questions for which every need has one of its gold
pages among the first k pages. The systems:

    reranked            P4, the baseline
    graph, bonus B      P6 with its bonus weighted B; 0 = candidates from the graph alone
    seed-boost          the specification's: P4's scores times 1.5, at most 1, on pages one step from the best hits
    titles, bonus B     no graph: g is the share of the query in the title of a page, beside the best such share
    told the gold       P6 with the largest bonus on the gold pages that the graph reaches, and on no other: the ceiling
    random pages        P6 with as many pages as the graph reaches, drawn from the site, and the same bonuses

Intervals are 95 %, by bootstrap over seed pages; differences are paired with P4.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median, quantiles

from psycopg import AsyncConnection

from evals.intervals import interval
from evals.walks.goldens import GoldenQuery, cluster_of, load_goldens
from evals.walks.scoring import page_of
from evals.walks.sitewalk import suite_settings
from evals.walks.suites import Suite, own_suites
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import load_settings
from webrag_core.corpus.ingestor import gather_bounded
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.graph.boost import BONUS, MAX_BONUS, lift
from webrag_core.retrieval.graph.reach import Reached, reach_pages, share_of
from webrag_core.retrieval.models import RetrievedChunk
from webrag_core.retrieval.patterns import RetrievalContext, run_pattern
from webrag_core.retrieval.request import Pattern
from webrag_core.retrieval.scope import Scope, list_documents, scope_size
from webrag_core.retrieval.searcher import Searcher

FIRST = (1, 5, 10)
BONUSES = (0.0, 0.1, 0.2, 0.3)
BASELINE = "reranked"
GROUPS: Mapping[str, tuple[str, ...]] = {
    "two_hop, multi_page": ("two_hop", "multi_page"),
    "on_seed, one_hop": ("on_seed", "one_hop"),
}
_SEED_FACTOR = 1.5


@dataclass(slots=True)
class Results:
    """Answered goldens with the pages that each system lists, best first; the milliseconds that P6 added, and the share
    of the site that the graph reached."""

    goldens: list[GoldenQuery] = field(default_factory=list)
    pages: list[dict[str, list[str]]] = field(default_factory=list)
    added_ms: list[float] = field(default_factory=list)
    reached: list[float] = field(default_factory=list)


def recall(golden: GoldenQuery, pages: Sequence[str], first: int) -> float:
    """1 when every need has one of its gold pages among the first pages, else 0."""
    listed = set(pages[:first])
    return float(all(any(page_of(url) in listed for url in need) for need in golden.gold_pages))


def pages_in_order(chunks: Sequence[RetrievedChunk]) -> list[str]:
    """The distinct pages of chunks, best first."""
    return list(dict.fromkeys(page_of(chunk.source_url) for chunk in chunks))


def seed_boosted(chunks: Sequence[RetrievedChunk], neighbours: Mapping[int, Reached]) -> list[RetrievedChunk]:
    """Chunks by the specification's boost, best first."""

    def score(chunk: RetrievedChunk) -> float:
        return min(1.0, chunk.score * (_SEED_FACTOR if chunk.document_id in neighbours else 1.0))

    return sorted(chunks, key=lambda chunk: -score(chunk))


def by_titles(chunks: Sequence[RetrievedChunk], term_idf: Mapping[str, float]) -> dict[int, Reached]:
    """The pages of the chunks, as close as their titles are to the query."""
    shares = {chunk.document_id: share_of(chunk.title or "", term_idf) for chunk in chunks}
    best = max(shares.values(), default=0.0) or 1.0
    return {document: Reached(share, share / best, "", ()) for document, share in shares.items()}


def at_random(reached: Mapping[int, Reached], scope: Scope, draw: random.Random) -> dict[int, Reached]:
    """As many pages of the scope, with the same paths."""
    return dict(zip(draw.sample(scope.document_ids or (), len(reached)), reached.values(), strict=True))


def told(golden: GoldenQuery, reached: Mapping[int, Reached], names: Mapping[int, str]) -> dict[int, Reached]:
    """The gold pages among those reached, as close as can be. `names` gives each document's page."""
    gold = {page_of(url) for need in golden.gold_pages for url in need}
    return {document: replace(way, closeness=1.0) for document, way in reached.items() if names[document] in gold}


async def ask_site(suite: Suite, results: Results, advance: Callable[[str], None]) -> None:
    """Store the site unless it is, and ask its answerable goldens of every system."""
    settings = suite_settings(load_settings(), suite.warc, stored=True)
    acquirer = WarcAcquirer(suite.warc)
    async with Corpus.open(settings, acquirer) as corpus:
        await gather_bounded(acquirer.page_urls(), corpus.add, lambda url, outcome: None)
        await corpus.indexer.finish_bulk()
        model_id = await corpus.indexer.model_id()
        searcher = Searcher(corpus.database, corpus.indexer.embedder, model_id, settings)
        for golden in load_goldens(suite.golden):
            if golden.kind == "unanswerable":
                continue
            vector = (await corpus.indexer.embedder.embed([golden.query], "query"))[0]
            async with corpus.database.snapshot() as connection:
                scope = Scope.of(dict.fromkeys(await list_documents(connection, Scope(None, {})), 0))
                names = await _names(connection)
                context = searcher.context(golden.query, vector, scope, await scope_size(connection, scope))
                await _ask(connection, context, golden, names, results)
            advance(golden.id)


async def _names(connection: AsyncConnection) -> dict[int, str]:
    cursor = await connection.execute("SELECT id, canonical_url FROM documents")
    return {document: page_of(url) for document, url in await cursor.fetchall()}


async def _ask(
    connection: AsyncConnection,
    context: RetrievalContext,
    golden: GoldenQuery,
    names: Mapping[int, str],
    results: Results,
) -> None:
    """Ask one golden of every system."""
    base = await run_pattern(connection, Pattern.RERANKED, context)
    started = time.perf_counter()
    reached = await reach_pages(connection, context.query, base.term_idf, base.chunks, context.scope)
    await lift(connection, context, base, reached)
    results.added_ms.append((time.perf_counter() - started) * 1000)
    results.reached.append(len(reached) / len(context.scope.document_ids or ()))
    pages = {BASELINE: pages_in_order(base.chunks)}
    for bonus in BONUSES:
        lifted = await lift(connection, context, base, reached, bonus=bonus)
        pages[f"graph, bonus {bonus:g}"] = pages_in_order(lifted.chunks)
    near = await reach_pages(connection, context.query, base.term_idf, base.chunks, context.scope, depth=1)
    pages["seed-boost"] = pages_in_order(seed_boosted(base.chunks, near))
    titles = by_titles(base.chunks, base.term_idf)
    for bonus in BONUSES[1:]:
        titled = await lift(connection, context, base, titles, bonus=bonus)
        pages[f"titles, bonus {bonus:g}"] = pages_in_order(titled.chunks)
    best = await lift(connection, context, base, told(golden, reached, names), bonus=MAX_BONUS)
    pages["told the gold"] = pages_in_order(best.chunks)
    elsewhere = at_random(reached, context.scope, random.Random(golden.id))
    drawn = await lift(connection, context, base, elsewhere)
    pages[f"random pages, bonus {BONUS:g}"] = pages_in_order(drawn.chunks)
    results.goldens.append(golden)
    results.pages.append(pages)


def table(results: Results) -> list[str]:
    """Lines: recall by system and group, and the paired difference from the baseline."""
    lines = []
    for group, kinds in GROUPS.items():
        chosen = [index for index, golden in enumerate(results.goldens) if golden.kind in kinds]
        clusters = [cluster_of(results.goldens[index]) for index in chosen]
        lines.append(f"{group}: {len(chosen)} questions, {len(set(clusters))} seed pages")
        for system in results.pages[0] if chosen else ():
            line = f"  {system:24}"
            for first in FIRST:
                own, base = (
                    [recall(results.goldens[index], results.pages[index][name], first) for index in chosen]
                    for name in (system, BASELINE)
                )
                gain = interval([a - b for a, b in zip(own, base, strict=True)], clusters)
                won, lost = (sum(a > b for a, b in zip(*pair, strict=True)) for pair in ((own, base), (base, own)))
                line += f"  @{first} {sum(own) / len(own):.3f}"
                if system != BASELINE:
                    line += f" ({gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}], {won} won, {lost} lost)"
            lines.append(line)
    return lines


async def run(suites: Sequence[Suite]) -> Results:
    """Ask all sites, one after the other."""
    results = Results()
    for suite in suites:
        started, before = time.perf_counter(), len(results.goldens)
        await ask_site(suite, results, lambda item: None)
        seconds = time.perf_counter() - started
        print(f"{suite.name}: {len(results.goldens) - before} questions, {seconds:.0f} s", flush=True)
    return results


def main() -> None:
    """Print the table; with `--out` write one JSON line for each question, with the pages by system."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=["fitting", "reporting"], required=True)
    parser.add_argument("--site", action="append", help="only this site of the split; repeatable")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    suites = [
        suite for name, suite in own_suites(options.split).items() if options.site in (None, []) or name in options.site
    ]
    results = asyncio.run(run(suites))
    print("\n".join(table(results)))
    steps = quantiles(results.added_ms, n=20)
    print(f"P6 adds to P4: p50 {steps[9]:.0f} ms, p95 {steps[18]:.0f} ms")
    print(f"pages reached: {median(results.reached):.0%} of the site (median)")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        with options.out.open("w", encoding="utf-8") as out:
            for golden, pages in zip(results.goldens, results.pages, strict=True):
                line = {
                    "id": golden.id,
                    "kind": golden.kind,
                    "pages": {name: some[:20] for name, some in pages.items()},
                }
                out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
