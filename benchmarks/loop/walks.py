"""Walks over generated sites (`graph_making`): every stop policy under random limits, every invariant (`walk_checks`).

On each site every policy walks once, in random order; a walk without a deadline is then asked again, with every page
stored by now, and must end the same. Afterwards the whole corpus is verified. A site that breaks something comes back
with `--first N --graphs 1`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from benchmarks.loop.graph_making import generated, question
from benchmarks.loop.graph_sites import GraphSite
from benchmarks.loop.walk_checks import Walked, differences, off_site, violations
from webrag_core.cli.progress import progress
from webrag_core.config import Settings, load_settings
from webrag_core.corpus.verification import VerificationCounts, verify_corpus
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.models import OrchestrationResult
from webrag_core.providers.embedder import Embedder, make_embedder
from webrag_core.store.database import Database

POLICIES = ("calibrated", "seed-matrix", "fixed-k", "stop-at-once")
_PATIENCE = 90.0  # seconds after which a walk counts as one that never ends


@dataclass(slots=True)
class Tally:
    """What was walked and what did not hold; `elsewhere` are pages that a link on the site led to."""

    walks: int = 0
    rounds: int = 0
    pages: int = 0
    elsewhere: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[tuple[Database, Embedder]]:
    """The database and the embedding model that all walks share. Raises StoreError."""
    embedder = make_embedder(settings)
    try:
        async with await Database.open(settings) as database:
            yield database, embedder
    finally:
        await embedder.aclose()


async def walk_graphs(
    database: Database,
    embedder: Embedder,
    settings: Settings,
    seeds: Sequence[int],
    advance: Callable[[str], None],
    *,
    per_graph: int = len(POLICIES),
) -> Tally:
    """Walk the sites of these numbers, each under `per_graph` of the policies, then verify the corpus."""
    tally = Tally()
    for seed in seeds:
        random = Random(f"walks of {seed}")
        site = generated(seed)
        for policy in random.sample(POLICIES, k=per_graph):
            await _walk_and_check(database, embedder, settings, site, policy, random, tally, f"graph {seed}")
        advance(str(seed))
    async for broken in verify_corpus(database, VerificationCounts()):
        tally.violations.append(f"corpus: {broken.rule} at {broken.where}: {broken.found}")
    return tally


async def _walk_and_check(
    database: Database,
    embedder: Embedder,
    settings: Settings,
    site: GraphSite,
    policy: str,
    random: Random,
    tally: Tally,
    name: str,
) -> None:
    request, limited = _request_of(site, policy, random, settings)
    site.hangs = limited.webrag_answer_timeout < settings.webrag_answer_timeout
    walked = await _walk(Corpus(database, site, limited, embedder), site, request)
    async with database.connection() as connection:
        result = await violations(connection, walked)
    if walked.result is not None:
        tally.rounds += len(walked.result.rounds)
        tally.pages += len(walked.requested)
        tally.elsewhere += len(off_site(walked.request, walked.result))
        tally.rules[walked.result.final_decision.rule] += 1
        if not site.hangs:
            again = await _walk(Corpus(database, site, limited, embedder), site, request)
            result += ["asked again, it raised"] if again.result is None else differences(walked.result, again.result)
    else:
        tally.rules[type(walked.error).__name__] += 1
    tally.walks += 1
    tally.violations += [f"{name}, {request.policy}: {line}" for line in result]


async def _walk(corpus: Corpus, site: GraphSite, request: AnswerRequest) -> Walked:
    site.requests.clear()
    result: OrchestrationResult | None = None
    error: BaseException | None = None
    try:
        async with asyncio.timeout(_PATIENCE):
            result = await OrchestratorEngine(corpus).run(request)
    except Exception as raised:  # noqa: BLE001 - whatever it is, `violations` says whether it may be
        error = raised
    return Walked(request, corpus.settings, tuple(site.requests), result, error)


def _request_of(site: GraphSite, policy: str, random: Random, settings: Settings) -> tuple[AnswerRequest, Settings]:
    """A request for pages of this site, and limits: often the defaults, often tight, sometimes absurd."""
    paths = sorted({*site.pages, *site.redirects, *site.refused})
    seeds = tuple(site.root + path for path in ["/", *random.sample(paths, k=min(2, len(paths)))])
    request = AnswerRequest(
        urls=random.choice((*[seeds[:1]] * 5, seeds[1:2], seeds)),
        question=question(random),
        expansion_budget=random.choice((None, None, None, 0, 1, 3, 8, 20)),
        policy=f"fixed-k:{random.choice((0, 1, 3, 9, 9, 20, 20))}" if policy == "fixed-k" else policy,
        mode=random.choice(("auto", "auto", "auto", "chunk", "full_context")),
        scope="run",  # asked again, it must take the same walk
    )
    tight: dict[str, tuple[object, ...]] = {
        "webrag_max_pages": (1, 2, 3, 7, 60),
        "max_candidates_per_iteration": (1, 2, 20),
        "webrag_previews": (0, 1, 30),
        "max_expansion_depth": (0, 2, 20),
        "retrieval_context_budget": (1, 300),
        "retrieval_full_context_threshold": (0,),
        "expansion_min_candidate_score": (0.0, 0.3, 1.0),
        "webrag_link_scorer": ("seed-weights",),
        "plateau_top_n": (2, 50),
        "reranker_top_n": (1, 200),
        "locality_expansion_radius": (0, 5),
    }
    limits = {name: random.choice(values) for name, values in tight.items() if random.random() < 0.25}
    if random.random() < 0.1:
        limits["webrag_answer_timeout"] = random.choice((1e-6, 0.1, 0.3, 1.0))
    elif random.random() < 0.1:
        limits["webrag_max_age"] = 0.0
    return request, settings.model_copy(update=limits)


async def _main(home: Path, seeds: Sequence[int]) -> dict[str, object]:
    settings = load_settings(webrag_home=home, database_url=None)
    wall, cpu = time.perf_counter(), time.process_time()
    async with opened(settings) as (database, embedder):
        with progress(len(seeds), "walks") as advance:
            tally = await walk_graphs(database, embedder, settings, seeds, advance)
    return {
        "graphs": len(seeds),
        "walks": tally.walks,
        "rounds": tally.rounds,
        "pages_asked_for": tally.pages,
        "pages_of_other_sites": tally.elsewhere,
        "ends": dict(tally.rules.most_common()),
        "violations": len(tally.violations),
        "violated": tally.violations,
        "wall_s": round(time.perf_counter() - wall, 1),
        "cpu_s_this_process": round(time.process_time() - cpu, 1),
    }


def main() -> None:
    """Print one JSON object; exit 1 when an invariant was broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seeds = range(arguments.first, arguments.first + arguments.graphs)
        figures = asyncio.run(_main(Path(folder), seeds))
    print(json.dumps(figures, indent=2))
    sys.exit(1 if figures["violations"] else 0)


if __name__ == "__main__":
    main()
