"""`webrag replay`: decide recorded rounds again, with any stop policy and any thresholds."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webrag_core.cli.output import Json, out, print_json, print_line, print_table
from webrag_core.config import Settings, load_settings
from webrag_core.errors import InvalidInputError

if TYPE_CHECKING:  # every `webrag` command imports this module
    from evals.intervals import Interval
    from evals.walks.recorded import RecordedRun
    from evals.walks.replay import Replayed

_ITEM_SCORES = ("pages", "success", "quotes", "utility")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(replay)


def replay(
    run: Annotated[str, typer.Argument(help="A run log (JSONL), or the number of an answer in the database.")],
    policy: Annotated[str | None, typer.Option(help="Decide with this stop policy; unset = the recorded one.")] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="A setting to decide under, NAME=VALUE; repeatable.")
    ] = None,
    budget: Annotated[int | None, typer.Option(min=0, help="Expansion rounds allowed; unset = as recorded.")] = None,
    golden: Annotated[
        Path | None, typer.Option(help="Golden queries to score by, JSONL; unset = this package's own.")
    ] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Compose the answer in prose of that number again; nobody is asked.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Decide recorded runs again, perhaps under another policy.

    With an answer's number its own rounds are decided again; `--answers`
    composes an answer in prose again.
    """
    if answers:
        _recompose(run, as_json=as_json)
        return
    from evals.judging.score_tables import print_scores, score_cells
    from evals.walks.prefixes import PrefixScores
    from evals.walks.recorded import load_run_log
    from evals.walks.replay import replay_all
    from evals.walks.scoring import METRICS, summarise
    from evals.walks.suites import goldens_of

    settings = load_settings()
    path = Path(run)
    stored = run.isascii() and run.isdigit() and not path.exists()
    runs = [asyncio.run(_stored_run(int(run), settings))] if stored else load_run_log(path)
    changes = changed_settings(change or [], settings)
    started = time.perf_counter()
    replayed = replay_all(runs, policy, settings, changes=changes, budget=budget)
    scores: dict[str, dict[str, Interval]] = {}
    so_far: dict[str, dict[str, float]] = {}
    if not stored:
        goldens = goldens_of(runs, golden)
        judged, known = {golden.id for golden in goldens}, PrefixScores(goldens)
        so_far = {replay.run.id: known.of(replay) for replay in replayed if replay.run.id in judged}
    seconds = time.perf_counter() - started
    if not stored:
        stopped = {replay.run.id for replay in replayed if replay.end == "stopped"}
        scores = summarise(goldens, {item: score for item, score in so_far.items() if item in stopped}, METRICS)
    steps = [step for replay in replayed for step in replay.steps]
    ends = Counter(replay.end for replay in replayed)
    figures: dict[str, object] = {
        "runs": len(replayed),
        "rounds": len(steps),
        "same_action": sum(step.same_action for step in steps),
        "identical": sum(step.agrees for step in steps),
        **{end: ends[end] for end in ("stopped", "beyond", "elsewhere")},
        "evaluations_per_minute": round(60 * len(replayed) / max(seconds, 1e-9)),
    }
    items = [
        {
            "id": replay.run.id,
            "recorded": replay.run.policy,
            "policy": replay.policy,
            "first_difference": replay.first_difference,
            "end": replay.end,
            "round": replay.last,
            "rule": replay.decision.rule,
            "reason": replay.decision.reason,
            "probability_complete": replay.decision.probability_complete,
            **{name: float(value) for name, value in so_far.get(replay.run.id, {}).items() if name in _ITEM_SCORES},
        }
        for replay in replayed
    ]
    if as_json:
        print_json({**figures, "items": items, "scores": score_cells(scores)})
        return
    same = sum(replay.first_difference is None for replay in replayed)
    print_line(
        _verdict(replayed[0]) if len(replayed) == 1 else f"{same} of {len(replayed)} runs decide as recorded", "bold"
    )
    print_table(("", ""), list(figures.items()))
    own_scores = () if stored else _ITEM_SCORES
    columns = ("id", "first_difference", "end", "round", "rule", "probability_complete", *own_scores)
    print_table(columns, [[_cell(item.get(name)) for name in columns] for item in items])
    if ends["beyond"] or ends["elsewhere"]:
        out.print(
            "beyond: goes on where the recorded run ended; elsewhere: expands in another way than the recorded run."
            " What more they would have found is not known: an item's scores are those of the shared rounds,"
            " and the means leave it out."
        )
    if scores:
        print_scores(scores, METRICS)


def _verdict(replayed: Replayed) -> str:
    """What becomes of a single run, in one line."""
    decision = replayed.decision
    end = f"round {replayed.last} decides {decision.action} [{decision.rule}]: {decision.reason}"
    begin = "As recorded" if replayed.first_difference is None else f"Differs from round {replayed.first_difference} on"
    return f"{begin}; {end}"


def _recompose(run: str, *, as_json: bool) -> None:
    from webrag_core.answering.replay import Recomposed, recompose
    from webrag_core.showing.plan_lines import task_lines
    from webrag_core.showing.wording import sentence_case
    from webrag_core.store.database import Database

    if not (run.isascii() and run.isdigit()):
        raise InvalidInputError(f"--answers composes an answer by its number again, not {run!r}")
    settings = load_settings()

    async def work() -> Recomposed:
        async with await Database.open(settings) as database:
            return await recompose(database, settings, int(run))

    made = asyncio.run(work())
    verdict = "the same answer" if made.same else "another answer"
    if as_json:
        print_json(
            {
                "answer_id": made.answer.answer_id,
                "same": made.same,
                "sentences": made.sentences,
                "stored": [sentence.text for sentence in made.answer.sentences],
                "confidence": made.confidence,
                "stored_confidence": made.answer.confidence,
                "unproved": made.unproved,
            }
        )
    else:
        print_line(f"{sentence_case(verdict)} Sentences not proved: {len(made.unproved)}", style="bold")
        for line in task_lines(made.answer.tasks):
            print_line(f"  {line}", style="dim")
        for sentence in made.answer.sentences if made.sentences is None else made.sentences:
            print_line(sentence if isinstance(sentence, str) else sentence.text)
        if made.sentences is None:
            print_line(f"The sentences were chosen by {made.answer.composer}, which was not asked again.", style="dim")
    if not made.same:
        raise typer.Exit(1)


def _cell(value: object) -> object:
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else value


async def _stored_run(answer_id: int, settings: Settings) -> RecordedRun:
    from evals.walks.recorded import run_of_answer
    from webrag_core.orchestration.answers import load_stored_run
    from webrag_core.store.database import Database

    async with await Database.open(settings) as database, database.connection() as connection:
        run = run_of_answer(await load_stored_run(connection, answer_id))
    if not run.rounds:
        raise InvalidInputError(f"answer {answer_id} ended before its first round: there is nothing to replay")
    return run


def changed_settings(changes: Sequence[str], settings: Settings) -> dict[str, object]:
    """Parse NAME=VALUE settings. Raises InvalidInputError for an unknown name or an invalid value."""
    from pydantic import ValidationError

    settings_by_name: dict[str, object] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        name = name.strip().lower()
        if not equals or name not in Settings.model_fields:
            raise InvalidInputError(f"{change!r} does not name a setting and its value")
        try:
            checked = Settings.model_validate({**settings.model_dump(), name: value.strip()})
        except ValidationError as error:
            raise InvalidInputError(f"{change!r}: {error.errors()[0]['msg']}") from error
        settings_by_name[name] = getattr(checked, name)
    return settings_by_name
