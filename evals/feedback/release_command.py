"""`webrag feedback release`: judge a proposal of scorer weights at the gate, and put it in force where it passes."""

from __future__ import annotations

import asyncio
import dataclasses
import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evals.retrieval.data import DEFAULT_DOCUMENTS, DEFAULT_QUESTIONS, load_documents, load_questions
from webrag_core.cli.feedback import feedback_app
from webrag_core.cli.output import Json, print_json, print_line, print_table
from webrag_core.cli.progress import progress
from webrag_core.config import Settings, load_settings

if TYPE_CHECKING:
    from evals.feedback.features import Candidates
    from evals.feedback.gate import ReleaseVerdict


def register() -> None:
    """Add the command to `webrag feedback`, unless it is there."""
    if not any(one.callback is release for one in feedback_app.registered_commands):
        feedback_app.command()(release)


def release(
    file: Annotated[Path, typer.Argument(help="A proposal, as `webrag feedback propose --out` writes it.")],
    questions: Annotated[Path, typer.Option(help="Golden questions that must not fall, JSONL.")] = DEFAULT_QUESTIONS,
    documents: Annotated[Path, typer.Option(help="Their documents, JSONL.")] = DEFAULT_DOCUMENTS,
    tolerance: Annotated[float, typer.Option(min=0, max=1, help="Maximum drop of a mean.")] = 0.05,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Judge only.")] = False,
    as_json: Json = False,
) -> None:
    """Judge a proposal, and put it in force if it passes; exit 1 if not.

    No golden metric may fall, of the package's questions and of the accepted local ones; ratings that fitted nothing
    must rise for certain, with and without any one actor.
    """
    from webrag_core.feedback.proposals import read_proposal
    from webrag_core.feedback.releases import check_releasable, put_in_force
    from webrag_core.retrieval.weights import ScoreWeights, weights_in_force

    proposal = read_proposal(file)
    settings = load_settings()
    current, proposed = weights_in_force(settings), ScoreWeights.of(proposal.weights)
    check_releasable(proposal, current)
    shipped = (questions, documents)
    verdict = asyncio.run(_judge(settings, current, proposed, set(proposal.fitted), proposal.half, shipped, tolerance))
    report = _report(verdict)
    if verdict.passes and not dry_run:
        put_in_force(settings, proposal, by=getpass.getuser(), verdict=report)
    if as_json:
        print_json({**report, "released": verdict.passes and not dry_run, "weights": proposal.weights})
    else:
        _print(verdict)
        if verdict.passes:
            done = "it would pass" if dry_run else f"in force: {proposed.digest}; `webrag feedback withdraw` goes back"
            print_line(done, style="green")
    if not verdict.passes:
        if not as_json:
            print_line(f"`webrag feedback propose --half {3 - proposal.half}` fits the other half of the ratings")
        raise typer.Exit(1)


async def _judge(
    settings: Settings,
    current: Any,
    proposed: Any,
    fitted: set[int],
    half: int,
    shipped: tuple[Path, Path],
    tolerance: float,
) -> ReleaseVerdict:
    from evals.feedback.gate import judge
    from webrag_core.feedback.estimate import half_of
    from webrag_core.feedback.goldens import golden_files, write_goldens
    from webrag_core.feedback.ratings import load_evidence
    from webrag_core.indexing.pipeline import Corpus

    async with Corpus.open(settings) as corpus:
        evidence = await load_evidence(corpus)
        local = await write_goldens(corpus.database, settings)
    held = [one for one in evidence.ratings if one.id not in fitted and half_of(one.answer) != half]
    goldens = {"the package's questions": await _candidates(settings, *shipped)}
    if local.golden_questions:
        goldens["the local questions"] = await _candidates(settings, *golden_files(settings))
    return judge(current, proposed, goldens=goldens, held=held, agreements=evidence.agreements, tolerance=tolerance)


async def _candidates(settings: Settings, questions: Path, documents: Path) -> list[Candidates]:
    from evals.feedback.features import candidates_of

    own = load_documents(documents)
    asked = load_questions(questions, own)
    with progress(len(asked), "golden questions") as advance:
        return await candidates_of(own, asked, settings, advance)


def _report(verdict: ReleaseVerdict) -> dict[str, Any]:
    return {
        "passes": verdict.passes,
        "why": list(verdict.why),
        "turned_by": list(verdict.turned_by),
        "feedback": None if verdict.feedback is None else dataclasses.asdict(verdict.feedback),
        "beyond_chance": None if verdict.beyond is None else dataclasses.asdict(verdict.beyond),
        "goldens": {
            name: {change.metric: dataclasses.asdict(change.difference) for change in one.changes}
            for name, one in verdict.goldens.items()
        },
    }


def _print(verdict: ReleaseVerdict) -> None:
    rows = [
        (name, change.metric, change.difference.n, f"{change.difference.mean:+.4f}",
         f"[{change.difference.low:+.4f}, {change.difference.high:+.4f}]", "FALLS" if change.fails else "")
        for name, one in verdict.goldens.items()
        for change in one.changes
    ]  # fmt: skip
    for name, change in (("held ratings", verdict.feedback), ("held ratings, beyond chance", verdict.beyond)):
        if change is not None:
            cells = (f"{change.mean:+.4f}", f"[{change.low:+.4f}, {change.high:+.4f}]")
            rows.append((name, "utility", change.n, *cells, "" if change.low > 0 else "NOT CERTAIN"))
    print_table(("of", "metric", "n", "change", "95 % interval", ""), rows)
    for reason in verdict.why:
        print_line(f"refused: {reason}", style="red")
