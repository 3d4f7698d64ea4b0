"""Record the evidence of golden questions, so that answers can be composed from it again and again.

    python -m evals.answers.evidence --split fitting --out runs/evidence-fitting.jsonl

Each question is asked as by `webrag eval sitewalk --twins`, and its whole result is one line. Sites whose snapshot is
absent (`make sites`) are named and left out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, get_args

from evals.walks.goldens import GoldenQuery, load_goldens
from evals.walks.sitewalk import request_of, suite_settings
from evals.walks.suites import Split, Suite, own_suites
from evals.walks.twins import with_twins
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.cli.output import progress
from webrag_core.config import load_settings
from webrag_core.errors import FetchError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import OrchestratorEngine
from webrag_core.orchestration.models import OrchestrationResult


@dataclass(frozen=True, slots=True)
class RecordedEvidence:
    """A golden question (or twin), the suite that it is of, and the evidence that the loop returned."""

    suite: str
    golden: GoldenQuery
    result: OrchestrationResult


async def record(suite: Suite, out: TextIO) -> None:
    """Ask every golden and twin of a suite; write one line for each."""
    settings = suite_settings(load_settings(), suite.warc)
    goldens = with_twins(load_goldens(suite.golden))
    async with Corpus.open(settings, WarcAcquirer(suite.warc)) as corpus:
        engine = OrchestratorEngine(corpus)
        with progress(len(goldens), suite.name) as advance:
            for golden in goldens:
                try:
                    result = await engine.run(request_of(golden))
                except FetchError as error:
                    print(f"{golden.id}: {error.message}", file=sys.stderr)
                else:
                    line = {"suite": suite.name, "id": golden.id, "result": result.model_dump(mode="json")}
                    out.write(json.dumps(line, ensure_ascii=False) + "\n")
                advance(golden.id)


def load_evidence(path: Path) -> Iterator[RecordedEvidence]:
    """Read what `record` wrote."""
    suites = own_suites()
    goldens = {one.id: one for suite in suites.values() for one in with_twins(load_goldens(suite.golden))}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield RecordedEvidence(row["suite"], goldens[row["id"]], OrchestrationResult.model_validate(row["result"]))


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=get_args(Split), required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with arguments.out.open("w", encoding="utf-8") as out:
        for suite in own_suites(arguments.split).values():
            if suite.warc.is_file():
                asyncio.run(record(suite, out))
            else:
                print(f"{suite.name}: no snapshot (`make sites`)", file=sys.stderr)


if __name__ == "__main__":
    main()
