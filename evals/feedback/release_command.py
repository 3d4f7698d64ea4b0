"""`webrag feedback release`: judge weights of the scorer at the gate, and put them in force where they pass."""

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
    from webrag_core.retrieval.weights import ScoreWeights


def register() -> None:
    """Add the command to `webrag feedback`, unless it is there."""
    if not any(command.callback is release for command in feedback_app.registered_commands):
        feedback_app.command()(release)


def release(
    file: Annotated[Path, typer.Argument(help='JSON: {"weights": {"lexical": 0.3, …}}, all six.')],
    questions: Annotated[Path, typer.Option(help="Golden questions that must not fall, JSONL.")] = DEFAULT_QUESTIONS,
    documents: Annotated[Path, typer.Option(help="Their documents, JSONL.")] = DEFAULT_DOCUMENTS,
    tolerance: Annotated[float, typer.Option(min=0, max=1, help="Maximum drop of a mean.")] = 0.04,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Judge only.")] = False,
    as_json: Json = False,
) -> None:
    """Judge other weights of the scorer, and put them in force if they pass; exit 1 if not.

    No metric may fall, of the package's golden questions and of the accepted local ones.
    """
    from webrag_core.feedback.releases import check_releasable, put_in_force, read_weights
    from webrag_core.retrieval.weights import weights_in_force

    proposed = read_weights(file)
    settings = load_settings()
    current = weights_in_force(settings)
    check_releasable(proposed, current)
    verdict = asyncio.run(_judge(settings, current, proposed, (questions, documents), tolerance))
    report = _report(verdict)
    if verdict.passes and not dry_run:
        put_in_force(settings, proposed, by=getpass.getuser(), verdict=report)
    if as_json:
        print_json({**report, "released": verdict.passes and not dry_run, "weights": proposed.by_name()})
    else:
        _print(verdict)
        if verdict.passes:
            done = "it would pass" if dry_run else f"in force: {proposed.digest}; `webrag feedback withdraw` goes back"
            print_line(done, style="green")
    if not verdict.passes:
        raise typer.Exit(1)


async def _judge(
    settings: Settings, current: ScoreWeights, proposed: ScoreWeights, shipped: tuple[Path, Path], tolerance: float
) -> ReleaseVerdict:
    from evals.feedback.gate import judge
    from webrag_core.feedback.goldens import golden_files, write_goldens
    from webrag_core.store.database import Database

    async with await Database.open(settings) as database:
        local = await write_goldens(database, settings)
    goldens = {"the package's questions": await _candidates(settings, *shipped)}
    if local.golden_questions:
        goldens["the local questions"] = await _candidates(settings, *golden_files(settings))
    return judge(current, proposed, goldens, tolerance)


async def _candidates(settings: Settings, questions: Path, documents: Path) -> list[Candidates]:
    from evals.feedback.features import candidates_of

    pages = load_documents(documents)
    queries = load_questions(questions, pages)
    with progress(len(queries), "golden questions") as advance:
        return await candidates_of(pages, queries, settings, advance)


def _report(verdict: ReleaseVerdict) -> dict[str, Any]:
    return {
        "passes": verdict.passes,
        "why": list(verdict.why),
        "goldens": {
            name: {change.metric: dataclasses.asdict(change.difference) for change in compared.changes}
            for name, compared in verdict.goldens.items()
        },
    }


def _print(verdict: ReleaseVerdict) -> None:
    rows = [
        (name, change.metric, change.difference.n, f"{change.difference.mean:+.4f}",
         f"[{change.difference.low:+.4f}, {change.difference.high:+.4f}]", "FALLS" if change.fails else "")
        for name, compared in verdict.goldens.items()
        for change in compared.changes
    ]  # fmt: skip
    print_table(("of", "metric", "n", "change", "95 % interval", ""), rows)
    for reason in verdict.why:
        print_line(f"refused: {reason}", style="red")
