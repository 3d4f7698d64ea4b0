"""The work of `answer_scores`."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import dagster as dg

from evals.answers.answer_suite import AskedKey, ask_suite
from evals.answers.key_report import SUITE_SHARES, WRONG, by_kind, calibrations, grouped, shares, verdicts
from evals.answers.suite_list import KeySet, own_key_sets, present
from evals.walks.suites import sample_goldens
from webrag_core.drawing.reliability import reliability_diagram
from webrag_dagster.evaluation.run_files import run_files
from webrag_dagster.evaluation.scores import number
from webrag_dagster.evaluation.suite import Scored
from webrag_dagster.markdown import rows_markdown
from webrag_dagster.metadata import Metadata, table
from webrag_dagster.pictures import picture

if TYPE_CHECKING:
    from webrag_core.config import Settings

NAME = "answer_scores"
RIGHT, NOT_WRONG = "right", "not_wrong"
"""What the gate compares, more being better: whether an answerable question is answered rightly, and whether nobody is
misled by an answer; a refusal misleads nobody."""


async def score_answers(context: dg.AssetExecutionContext, settings: Settings, *, items: int) -> Scored:
    """One run over `items` questions of each suite whose site is present. Raises InvalidInputError where none is."""
    suites = present(own_key_sets())
    files = run_files(settings, NAME, context.run.run_id)
    started = time.perf_counter()
    answered_keys: list[AskedKey] = []
    with files.log.open("w", encoding="utf-8") as stream:
        for suite in suites:
            async for item in ask_suite(suite, sample_goldens(suite.keys, items), settings):
                stream.write(json.dumps(item.line(), ensure_ascii=False) + "\n")
                answered_keys.append(item)
                context.log.info(f"{_name(item)}: {item.judgement.verdict}")
    return Scored(
        metadata={
            **_numbers(answered_keys, suites),
            "verdicts": dg.MetadataValue.md(_verdicts(answered_keys)),
            "suites": dg.MetadataValue.md(_by_suite(answered_keys, suites)),
            **_calibration(answered_keys),
            "questions": dg.MetadataValue.int(len(answered_keys)),
            "seconds": number(time.perf_counter() - started),
            "item_list": table(
                _row(item) for item in sorted(answered_keys, key=lambda item: item.judgement.verdict == "right")
            ),
            "run_log": dg.MetadataValue.path(files.keep(files.log)),
        },
        scores={_name(item): _scores(item) for item in answered_keys},
        clusters={_name(item): _cluster(item) for item in answered_keys},
    )


def _name(item: AskedKey) -> str:
    return f"{item.suite}/{item.key.id}"


def _cluster(item: AskedKey) -> str:
    """Questions that one page answers stand or fall together."""
    return f"{item.suite}/{item.key.page[0]}" if item.key.page else _name(item)


def _scores(item: AskedKey) -> dict[str, float]:
    verdict = item.judgement.verdict
    scores = {NOT_WRONG: float(verdict not in WRONG)}
    return {RIGHT: float(verdict == "right"), **scores} if item.key.answerable else scores


def _is_good(item: AskedKey) -> bool:
    return all(_scores(item).values())


def _numbers(answered_keys: Sequence[AskedKey], suites: Sequence[KeySet]) -> Metadata:
    """Shares that the UI plots: of the reporting sites by their short names, of the fitting ones beside them."""
    splits = {suite.name: suite.listed.split for suite in suites if suite.listed is not None}
    numbers: Metadata = {}
    for split, mine in grouped(answered_keys, lambda item: splits.get(item.suite, "fitting")).items():
        figures = shares(mine)
        for share, short in SUITE_SHARES.items():
            interval = figures[share].interval
            if interval is not None:
                name = short.replace(" ", "_")
                numbers[name if split == "reporting" else f"{split}_{name}"] = number(interval.mean)
    return numbers


def _verdicts(answered_keys: Sequence[AskedKey]) -> str:
    groups = {**by_kind(answered_keys), "all": answered_keys}
    return "\n".join(
        rows_markdown([{"kind": kind, "n": len(group), **verdicts(group)} for kind, group in groups.items()])
    )


def _by_suite(answered_keys: Sequence[AskedKey], suites: Sequence[KeySet]) -> str:
    listed = {suite.name: suite.listed for suite in suites}
    rows: list[dict[str, object]] = []
    for name, group in grouped(answered_keys, lambda item: item.suite).items():
        suite, figures = listed[name], shares(group)
        about = {} if suite is None else {"site": suite.kind, "split": suite.split, "language": suite.language}
        rows.append(
            {"suite": name, **about, "n": len(group), **{word: figures[share] for share, word in SUITE_SHARES.items()}}
        )
    return "\n".join(rows_markdown(rows))


def _calibration(answered_keys: Sequence[AskedKey]) -> Metadata:
    """Stated against observed, of answers; the errors of answers and of likely passages where there are any."""
    curves = calibrations(answered_keys)
    errors: Metadata = {f"ece_{what}": number(curve.ece) for what, curve in curves.items() if curve.ece is not None}
    if curves["answered"].ece is None:
        return errors
    diagram = reliability_diagram(curves["answered"], stated="confidence", observed="right", cases="answers")
    return {**errors, "calibration": picture(diagram)}


def _row(item: AskedKey) -> dict[str, str | int | float | bool | None]:
    return {
        "question": item.key.question,
        "suite": item.suite,
        "item": item.key.id,
        "kind": item.key.kind,
        "verdict": item.judgement.verdict,
        "band": item.band or "",
        "facts": f"{item.judgement.said} of {item.judgement.facts}",
        "contrary": ", ".join(item.judgement.contrary),
    }
