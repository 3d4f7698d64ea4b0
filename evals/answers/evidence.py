"""Record the evidence of golden questions, so that answers can be composed from it again and again.

    python -m evals.answers.evidence --split fitting --out runs/evidence-fitting.jsonl

Each question is asked as by `webrag eval sitewalk --twins`, and its whole result is one line. Sites whose snapshot is
absent (`make sites`) are named and left out.
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

from evals.walks.goldens import GoldenQuery, load_goldens
from evals.walks.sitewalk import request_of, suite_settings
from evals.walks.suites import Split, Suite, own_suites
from evals.walks.twins import with_twins
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.cli.output import progress
from webrag_core.config import Settings, load_settings
from webrag_core.errors import FetchError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import OrchestratorEngine
from webrag_core.orchestration.models import OrchestrationResult

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecordedEvidence:
    """A golden question (or twin), the suite that it is of, and the evidence that the loop returned."""

    suite: str
    golden: GoldenQuery
    result: OrchestrationResult


async def evidence_of(
    suite: Suite, goldens: Sequence[GoldenQuery], settings: Settings
) -> AsyncIterator[RecordedEvidence]:
    """Ask goldens of a suite, each from an empty corpus. Those whose page cannot be fetched are logged and left out."""
    own = suite_settings(settings, suite.warc)
    async with Corpus.open(own, WarcAcquirer(suite.warc)) as corpus:
        engine = OrchestratorEngine(corpus)
        for golden in goldens:
            try:
                result = await engine.run(request_of(golden))
            except FetchError as error:
                logger.warning("%s: %s", golden.id, error.message)
            else:
                yield RecordedEvidence(suite.name, golden, result)


async def record(suite: Suite, out: TextIO) -> None:
    """Ask every golden and twin of a suite; write one line for each."""
    goldens = with_twins(load_goldens(suite.golden))
    with progress(len(goldens), suite.name) as advance:
        async for item in evidence_of(suite, goldens, load_settings()):
            line = {"suite": suite.name, "id": item.golden.id, "result": item.result.model_dump(mode="json")}
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
            advance(item.golden.id)


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
