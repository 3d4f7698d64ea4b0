"""Record the evidence of questions with answer keys, so that answers can be composed from it again and again.

    python -m evals.answers.key_evidence --split fitting --out runs/keys-fitting.jsonl

The whole site of a suite is stored first; what was gathered for a question is one line. Suites whose snapshot is absent
are named and left out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, get_args

from pydantic import TypeAdapter

from evals.answers.answer_suite import stored_site
from evals.answers.evidence import search_stored
from evals.answers.keys import AnswerKey
from evals.answers.suite_list import KeySet, own_key_sets, present
from evals.walks.suites import Split
from webrag_core.answering.gathering import Gathered
from webrag_core.cli.progress import progress
from webrag_core.config import load_settings
from webrag_core.orchestration.engine import OrchestratorEngine
from webrag_core.routing.agents.all import make_agents
from webrag_core.routing.execute import Executor
from webrag_core.routing.question import Question
from webrag_core.routing.router import Router

_GATHERED = TypeAdapter(Gathered)


@dataclass(frozen=True, slots=True)
class KeyEvidence:
    """A key, the suite that it is of, and the evidence that was gathered for its question."""

    suite: str
    key: AnswerKey
    gathered: Gathered


async def record(chosen: KeySet, out: TextIO) -> None:
    """Ask every question of a suite of its stored site; write one line for each."""
    async with stored_site(chosen, load_settings()) as site:
        agents = make_agents()
        router = Router(site.corpus, agents)
        executor = Executor(site.corpus, OrchestratorEngine(site.corpus), agents)
        with progress(len(chosen.keys), chosen.name) as advance:
            for key in chosen.keys:
                gathered = await search_stored(executor, router, Question(key.question, sources=site.sources))
                line = {
                    "suite": chosen.name,
                    "key": key.model_dump(mode="json", by_alias=True),
                    "gathered": _GATHERED.dump_python(gathered, mode="json"),
                }
                out.write(json.dumps(line, ensure_ascii=False) + "\n")
                advance(key.id)


def load_key_evidence(path: Path) -> Iterator[KeyEvidence]:
    """Read what `record` wrote."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield KeyEvidence(
                row["suite"], AnswerKey.model_validate(row["key"]), _GATHERED.validate_python(row["gathered"])
            )


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=get_args(Split), required=True)
    parser.add_argument("--suite", action="append", default=[], help="this suite alone; repeatable")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with arguments.out.open("w", encoding="utf-8") as out:
        for chosen in present(own_key_sets(arguments.split, arguments.suite)):
            asyncio.run(record(chosen, out))


if __name__ == "__main__":
    main()
