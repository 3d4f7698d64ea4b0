"""How well a judge tells evidence that answers from evidence that does not, beside the loop's own probability.

    python -m evals.answers.evidence --split reporting --out runs/evidence-reporting.jsonl
    python -m benchmarks.judge.walks runs/evidence-reporting.jsonl --recorded FOLDER [--seconds 3600]

Each line of evidence is judged by the chat model of the settings, or by what is recorded in a folder
(`benchmarks.judge.recorded_chat`), to which `verdicts.jsonl` is copied: verdicts given by careful reading. Label: the
evidence holds a gold quote of every need. Questions without a verdict are counted and left out. Nobody is waited for
without --seconds: a first run writes the requests, the next reads the answers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.judge.recorded_chat import Recorder, serving
from evals.answers.evidence import RecordedEvidence, load_evidence
from evals.reliability import auc
from evals.walks.scoring import squash
from evals.walks.twins import is_twin
from webrag_core.answering.composition import compose
from webrag_core.answering.judgement import best_chunks, probability_of
from webrag_core.config import Settings, load_settings
from webrag_core.errors import ChatError
from webrag_core.judging.chat_judge import PROMPT_VERSION, ChatJudge
from webrag_core.orchestration.models import COMPLETE_AT
from webrag_core.providers.chat import ChatEndpoints
from webrag_core.reliability import expected_calibration_error
from webrag_core.routing.question import Question

VERDICTS = Path(__file__).with_name("verdicts.jsonl")
_AT_ONCE = 64  # requests that wait for an answer


@dataclass(frozen=True, slots=True)
class Row:
    """A question: its kind, whether its evidence holds the gold, the loop's probability, and the judge's."""

    kind: str
    holds: bool
    local: float
    judge: float


def holds_gold(item: RecordedEvidence) -> bool:
    """Whether the evidence holds a quote of every need; never so for an unanswerable question."""
    texts = [squash(passage.chunk.text) for passage in item.gathered.ranked]
    needs = item.golden.gold_quotes
    return bool(needs) and all(any(squash(quote) in text for quote in quotes for text in texts) for quotes in needs)


async def row_of(item: RecordedEvidence, judge: ChatJudge, settings: Settings, turns: asyncio.Semaphore) -> Row | None:
    """One question judged; None where the judge gives no verdict."""
    async with turns:
        composition = await compose(Question(item.golden.query), item.gathered, settings)
        parts = item.gathered.parts if len(item.gathered.parts) > 1 else []
        try:
            verdict = await judge.judge(item.golden.query, parts, best_chunks(composition))
        except ChatError:
            return None
    kind = "twin" if is_twin(item.golden.id) else item.golden.kind
    return Row(kind, holds_gold(item), item.gathered.complete, probability_of(verdict))


def figures(rows: Sequence[Row]) -> dict[str, object]:
    """Ranking, calibration and claims of both judges."""
    holds = np.array([row.holds for row in rows], dtype=np.float64)
    answerable = np.array([row.kind not in ("unanswerable", "twin") for row in rows])
    claimed = np.array([row.local for row in rows]) >= COMPLETE_AT
    report: dict[str, object] = {"questions": len(rows), "answerable": int(answerable.sum()), "hold": int(holds.sum())}
    for name in ("local", "judge"):
        values = np.array([getattr(row, name) for row in rows])
        claims = values >= COMPLETE_AT
        report[name] = {
            "AUC": round(auc(values, holds), 3),
            "AUC among what the numbers claim": round(auc(values[claimed], holds[claimed]), 3),
            "ECE": round(expected_calibration_error(values, holds), 3),
            "claimed and held": round(float((claims & (holds > 0))[answerable].mean()), 3),
            "false claims": round(float((claims & (holds == 0))[answerable].mean()), 3),
            "unanswerable claimed": f"{int(claims[~answerable].sum())} of {int((~answerable).sum())}",
        }
    return report


def unpack(folder: Path) -> None:
    """Copy the verdicts of `VERDICTS` to the answers of a folder."""
    for line in VERDICTS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        answer = json.dumps(row["answer"], ensure_ascii=False)
        (folder / "answers" / f"{row['digest']}.txt").write_text(answer, encoding="utf-8")


async def run(evidence: Path, settings: Settings) -> list[Row | None]:
    """Judge every line."""
    judge, turns = ChatJudge(ChatEndpoints(settings)), asyncio.Semaphore(_AT_ONCE)
    return list(await asyncio.gather(*(row_of(item, judge, settings, turns) for item in load_evidence(evidence))))


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evidence", type=Path)
    parser.add_argument("--recorded", type=Path, help="folder of answers; unset = the chat model of the settings")
    parser.add_argument("--seconds", type=float, default=0.0, help="longest wait for an answer that is not recorded")
    arguments = parser.parse_args()
    settings = load_settings()
    if arguments.recorded is None:
        rows = asyncio.run(run(arguments.evidence, settings))
    else:
        recorder = Recorder(arguments.recorded, prompts=str(PROMPT_VERSION), seconds=arguments.seconds)
        unpack(arguments.recorded)
        with serving(recorder) as url:
            wait = arguments.seconds + 600
            changes = {"orchestration_llm_base_url": url, "orchestration_llm_timeout": wait, "judge": "llm"}
            rows = asyncio.run(run(arguments.evidence, settings.model_copy(update=changes)))
    judged_rows = [row for row in rows if row is not None]
    report = figures(judged_rows) if judged_rows else {}
    print(json.dumps({"without a verdict": len(rows) - len(judged_rows), **report}, indent=2))


if __name__ == "__main__":
    main()
