"""`webrag eval answers`: ask questions with answer keys of frozen sites, and count the answers that state the fact."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

import typer

from evals.jsonl import new_file
from webrag_core.cli.output import Json, out, print_json, print_table
from webrag_core.cli.progress import progress
from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evals.answers.answer_suite import AskedKey
    from evals.answers.suite_list import KeySet
    from evals.walks.suites import Split


def register(eval_app: typer.Typer) -> None:
    """Add the command of this module."""
    eval_app.command()(answers)


def answers(
    split: Annotated[
        Literal["fitting", "reporting"] | None, typer.Option(help="The suites of one split; unset = both.")
    ] = None,
    suite: Annotated[
        list[str] | None, typer.Option(help="A suite of this package, by its name; repeatable. Unset = all.")
    ] = None,
    keys: Annotated[Path | None, typer.Option(help="Your own answer keys, JSONL, instead of this package's.")] = None,
    warc: Annotated[
        Path | None, typer.Option(help="WARC snapshot for --keys; unset = this package's, by the site that they name.")
    ] = None,
    items: Annotated[int | None, typer.Option(help="Questions of each suite, every kind in turn; unset = all.")] = None,
    again: Annotated[
        Path | None, typer.Option(help="Ask nothing: judge the answers in this earlier --out file by the keys of now.")
    ] = None,
    results: Annotated[Path, typer.Option("--out", help="File for every question with its verdict, JSONL.")] = Path(
        "runs/answers.jsonl"
    ),
    as_json: Json = False,
) -> None:
    """Ask questions with answer keys of stored sites; count right, wrong and refused, and print the figures."""
    from evals.answers.answer_suite import ask_suite
    from evals.answers.key_report import by_kind, cells, grouped
    from evals.answers.recorded_answers import judge_again
    from evals.answers.suite_list import present
    from evals.walks.suites import sample_goldens

    chosen = _chosen(split, suite or [], keys, warc)
    chosen = chosen if again else present(chosen)
    answered_keys = judge_again(again, chosen) if again else []

    async def ask(stream: TextIO) -> None:
        for choice in chosen:
            sample = choice.keys if items is None else sample_goldens(choice.keys, items)
            with progress(len(sample), choice.name) as advance:
                async for item in ask_suite(choice, sample, load_settings()):
                    stream.write(json.dumps(item.line(), ensure_ascii=False) + "\n")
                    answered_keys.append(item)
                    advance(item.key.id)

    if again is None:
        with new_file(results) as stream:
            asyncio.run(ask(stream))
    if as_json:
        print_json(
            {
                "results": str(again or results),
                "all": cells(answered_keys),
                "kinds": {name: cells(group) for name, group in by_kind(answered_keys).items()},
                "suites": {
                    name: cells(group) for name, group in grouped(answered_keys, lambda item: item.suite).items()
                },
            }
        )
        return
    _print(answered_keys, chosen)
    out.print(f"every question: {again or results}", markup=False, highlight=False)


def _chosen(split: Split | None, names: Sequence[str], keys: Path | None, warc: Path | None) -> list[KeySet]:
    from evals.answers.suite_list import key_set, own_key_sets

    if keys is None:
        if warc is not None:
            raise InvalidInputError("--warc FILE goes with --keys FILE")
        return own_key_sets(split, names)
    if split is not None or names:
        raise InvalidInputError("--keys FILE is a suite by itself: it goes neither with --suite nor with --split")
    return [key_set(keys, warc)]


def _print(answered_keys: Sequence[AskedKey], chosen: Sequence[KeySet]) -> None:
    """Verdicts by kind of question, figures by suite, then every share."""
    from evals.answers.key_report import SUITE_SHARES, VERDICTS, by_kind, calibrations, grouped, shares, verdicts

    kinds = {**by_kind(answered_keys), "all": answered_keys}
    print_table(
        ("kind", "n", *VERDICTS),
        [(name, len(group), *(count or "" for count in verdicts(group).values())) for name, group in kinds.items()],
    )
    listed = {choice.name: choice.listed for choice in chosen}
    rows: list[tuple[object, ...]] = []
    for name, group in grouped(answered_keys, lambda item: item.suite).items():
        suite, figures = listed[name], shares(group)
        about = ("", "", "") if suite is None else (suite.kind, suite.split, suite.language)
        rows.append((name, *about, len(group), *(figures[share] for share in SUITE_SHARES)))
    print_table(("suite", "site", "split", "language", "n", *SUITE_SHARES.values()), rows)
    for share, figure in shares(answered_keys).items():
        out.print(f"{share}: {figure}", markup=False, highlight=False)
    for what, calibration in calibrations(answered_keys).items():
        error = "–" if calibration.ece is None else f"{calibration.ece:.3f}"
        out.print(f"ECE of {what}: {error} over {calibration.n}", markup=False, highlight=False)
