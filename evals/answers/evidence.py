"""Record the evidence of golden questions, so that answers can be composed from it again and again.

    python -m evals.answers.evidence --split fitting --out runs/evidence-fitting.jsonl [--stored]

Each question is asked as by `webrag eval sitewalk --twins`, and what was gathered is one line. With `--stored` the
whole site is indexed first and asked without an address; of a twin's results, those of its missing pages are left out.
Sites whose snapshot is absent (`make sites`) are named and left out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, get_args

from pydantic import TypeAdapter

from evals.storing import store_site
from evals.walks.goldens import GoldenQuery, load_goldens
from evals.walks.sitewalk import request_of, suite_settings
from evals.walks.suites import Split, Suite, own_suites
from evals.walks.twins import Twin, with_twins
from webrag_core.acquisition.urls import page_key
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.answering.gathering import Gathered, gathered_of
from webrag_core.cli.progress import progress
from webrag_core.config import Settings, load_settings
from webrag_core.errors import FetchError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import OrchestratorEngine
from webrag_core.retrieval.models import RankedChunk
from webrag_core.routing.agents.all import make_agents
from webrag_core.routing.budget import Ledger
from webrag_core.routing.execute import Executor
from webrag_core.routing.question import Question
from webrag_core.routing.router import Router

_GATHERED = TypeAdapter(Gathered)
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecordedEvidence:
    """A golden question (or twin), the suite that it is of, and the evidence that was gathered for it."""

    suite: str
    golden: GoldenQuery
    gathered: Gathered


async def evidence_of(
    suite: Suite, goldens: Sequence[GoldenQuery], settings: Settings, *, stored: bool = False
) -> AsyncIterator[RecordedEvidence]:
    """Ask goldens of a suite, each from an empty corpus, or all of them of the `stored` site. Those whose page cannot
    be fetched are logged and left out."""
    suite_options = suite_settings(settings, suite.warc, stored=stored)
    async with Corpus.open(suite_options, WarcAcquirer(suite.warc)) as corpus:
        engine = OrchestratorEngine(corpus)
        agents = make_agents()
        router, executor = Router(corpus, agents), Executor(corpus, engine, agents)
        if stored:
            await store_site(corpus, suite.name, WarcAcquirer(suite.warc).page_urls())
        for golden in goldens:
            try:
                if stored:
                    gathered = await search_stored(executor, router, Question(golden.query))
                    gathered.ranked = _without(gathered.ranked, golden)
                    # as if the pages that a twin does without had never been there
                    gathered.complete = max((passage.reranked_score for passage in gathered.ranked), default=0.0)
                else:
                    gathered = gathered_of(await engine.run(request_of(golden)))
            except FetchError as error:
                logger.warning("%s: %s", golden.id, error.message)
            else:
                yield RecordedEvidence(suite.name, golden, gathered)


async def search_stored(executor: Executor, router: Router, question: Question) -> Gathered:
    """What the first plan for a question brings, from what is stored."""
    plan = await router.plan(question)
    gathered = Gathered()
    gathered.add(await executor.execute(plan, Ledger(plan.budget)))
    return gathered


def _without(ranked: Sequence[RankedChunk], golden: GoldenQuery) -> list[RankedChunk]:
    """The results that are not from pages which a twin does without."""
    excluded = {page_key(url) for url in golden.excluded} if isinstance(golden, Twin) else set()
    return [passage for passage in ranked if page_key(passage.chunk.source_url) not in excluded]


async def record(suite: Suite, out: TextIO, *, stored: bool) -> None:
    """Ask every golden and twin of a suite; write one line for each."""
    goldens = with_twins(load_goldens(suite.golden))
    with progress(len(goldens), suite.name) as advance:
        async for item in evidence_of(suite, goldens, load_settings(), stored=stored):
            line = {
                "suite": suite.name,
                "id": item.golden.id,
                "gathered": _GATHERED.dump_python(item.gathered, mode="json"),
            }
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
            advance(item.golden.id)


def load_evidence(path: Path) -> Iterator[RecordedEvidence]:
    """Read what `record` wrote."""
    suites = own_suites()
    goldens = {twin.id: twin for suite in suites.values() for twin in with_twins(load_goldens(suite.golden))}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield RecordedEvidence(row["suite"], goldens[row["id"]], _GATHERED.validate_python(row["gathered"]))


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=get_args(Split), required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--stored", action="store_true", help="index the site first, and ask what is stored")
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with arguments.out.open("w", encoding="utf-8") as out:
        for suite in own_suites(arguments.split).values():
            if suite.warc.is_file():
                asyncio.run(record(suite, out, stored=arguments.stored))
            else:
                print(f"{suite.name}: no snapshot (`make sites`)", file=sys.stderr)


if __name__ == "__main__":
    main()
