"""Fit the confidence in answers, and how probably a passage holds the answer
(`webrag_core.answering.confidence`, `webrag_core.answering.likelihood`).

    python -m evals.answers.key_evidence --split fitting --out runs/keys-fitting.jsonl
    python -m evals.fitting.confidence runs/keys-fitting.jsonl --labelled passages.jsonl.gz [--write]

A row is a question. Of answer keys, the label of the confidence is that the sentences state all facts and nothing
contrary, that of the passage that it holds all facts; of labelled passages both are that the passage of the best
sentence, or the first that is shown, states the answer. Each site weighs the same. Printed: the tables, and how they
hold on each site left out.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evals.answers.given_answer import GivenAnswer, GivenPassage, GivenQuote, GivenSentence
from evals.answers.key_evidence import load_key_evidence
from evals.answers.key_verdicts import judge
from evals.answers.keys import AnswerKey
from evals.answers.labelled_passages import STATES, load_labelled
from evals.fitting.fits import Array, fit_plain, print_table, provenance, table_of
from evals.reliability import auc
from webrag_core.answering.composition import Composition, choose
from webrag_core.answering.confidence import (
    ANSWERED_AT,
    CONFIDENCE_FEATURES,
    TABLE,
    Logistic,
    confidence_features,
    within_meaning,
)
from webrag_core.answering.likelihood import LIKELY_AT, passage_features
from webrag_core.config import Settings, load_settings
from webrag_core.providers.reading_model import NAME
from webrag_core.reliability import expected_calibration_error
from webrag_core.routing.question import Question

_RIDGE = 0.002
_WEIGHT_OF_KEYS = 2.0  # of a question with a key, beside a labelled one: the key judges the sentences themselves


@dataclass(frozen=True, slots=True)
class Row:
    """A question of a site: features and label of its sentences (NaN for none), and of the first passage shown.
    `is_answerable`: the site, or a passage, states the answer. `is_capped`: the sentences cannot mean the answer."""

    site: str
    said: Array
    is_right: bool
    shown: Array
    holds: bool
    is_answerable: bool
    is_capped: bool
    weight: float


async def rows_of(keys: Sequence[Path], labelled: Path | None, every: int, settings: Settings) -> list[Row]:
    """A row for each question whose evidence holds a unit; of the labelled ones for every so many-th."""
    rows = []
    for item in chain.from_iterable(map(load_key_evidence, keys)):
        composition = await choose(Question(item.key.question), item.gathered, settings)
        if composition.passages:
            is_right, holds = _by_key(item.key, composition)
            row = _row(item.suite, composition, is_right=is_right, holds=holds)
            rows.append(replace(row, is_answerable=item.key.answerable, weight=_WEIGHT_OF_KEYS))
    for question in () if labelled is None else islice(load_labelled(labelled), 0, None, every):
        composition = await choose(Question(question.question), question.gathered, settings)
        if composition.passages:
            best = max(composition.choices, key=lambda choice: choice.support, default=None)
            is_right = best is not None and question.labels[best.saying.unit.chunk.chunk_id] == STATES
            first = composition.draft.units[composition.passages[0].units[0]].chunk.chunk_id
            holds = question.labels[first] == STATES
            row = _row(question.site, composition, is_right=is_right, holds=holds)
            rows.append(replace(row, is_answerable=STATES in question.labels.values()))
    return rows


def _row(site: str, composition: Composition, *, is_right: bool, holds: bool) -> Row:
    draft, choices = composition.draft, composition.choices
    features = confidence_features(choices, draft)[1]
    shown = passage_features(composition.passages[0], draft, composition.supports)[1]
    means = within_meaning(1.0, choices, composition.form, draft.things, draft.facts) >= ANSWERED_AT
    if not choices:
        features = np.full(len(features), np.nan)
    return Row(site, features, is_right, shown, holds, is_answerable=False, is_capped=not means, weight=1.0)


def _by_key(key: AnswerKey, composition: Composition) -> tuple[bool, bool]:
    """Whether the sentences are right, and whether the first passage holds the facts."""
    units = composition.draft.units
    sentences = tuple(GivenSentence(text=choice.saying.text) for choice in composition.choices)
    given_answer = GivenAnswer(status="answered", band="high", confidence=1.0, sentences=sentences)
    first, last = (units[composition.passages[0].units[place]] for place in (0, -1))
    quote = GivenQuote(
        number=1,
        url=first.chunk.source_url,
        title=first.chunk.title,
        heading=first.heading,
        quote=first.slice((first.start, last.end)),
    )
    shown = GivenAnswer(
        status="likely", band="likely", confidence=1.0, likely=(GivenPassage(citation=1),), citations=(quote,)
    )
    return bool(sentences) and judge(key, given_answer).verdict == "right", judge(key, shown).first_passage


def fit(rows: Sequence[Row], kind: str) -> Logistic:
    """The table of sentences (`said`) or of passages (`shown`)."""
    complete = [row for row in rows if not np.isnan(_features(row, kind)).any()]
    sizes = {site: sum(row.weight for row in complete if row.site == site) for site in {row.site for row in complete}}
    features = np.array([_features(row, kind) for row in complete])
    labels = np.array([_label(row, kind) for row in complete], dtype=np.float64)
    weights = np.array([row.weight * _weight(row, sizes) for row in complete])
    return Logistic(*fit_plain(features, labels, weights, _RIDGE, digits=4))


def _weight(row: Row, sizes: dict[str, float]) -> float:
    """A site of keys weighs as much as its questions say; labelled sites are larger, and weigh as a site of keys."""
    return 100 / max(100.0, sizes[row.site])


def _features(row: Row, kind: str) -> Array:
    return row.said if kind == "said" else row.shown


def _label(row: Row, kind: str) -> bool:
    return row.is_right if kind == "said" else row.holds


def rounded_mean(values: NDArray[Any]) -> float | None:
    """Rounded; None of nothing."""
    return round(float(values.mean()), 3) if len(values) else None


def left_out(rows: Sequence[Row]) -> dict[str, Any]:
    """Each site judged by a fit to the others: what is said, what is shown as likely, and how right it is."""
    sure, probable = np.zeros(len(rows)), np.zeros(len(rows))
    for site in {row.site for row in rows}:
        others = [row for row in rows if row.site != site]
        fitted = fit(others, "said")
        shown = fit(others, "shown")
        for place, row in enumerate(rows):
            if row.site == site:
                sure[place] = 0.0 if np.isnan(row.said).any() or row.is_capped else fitted.of(row.said[None, :])[0]
                probable[place] = shown.of(row.shown[None, :])[0]
    figures = {"all": _figures(rows, sure, probable)}
    for site in dict.fromkeys(row.site for row in rows):
        places = [place for place, row in enumerate(rows) if row.site == site]
        figures[site] = _figures([rows[place] for place in places], sure[places], probable[places])
    return figures


def _figures(rows: Sequence[Row], sure: Array, probable: Array) -> dict[str, Any]:
    right = np.array([row.is_right for row in rows], dtype=np.float64)
    holds = np.array([row.holds for row in rows], dtype=np.float64)
    answerable = np.array([row.is_answerable for row in rows])
    claims = sure >= ANSWERED_AT
    likely = ~claims & (probable >= LIKELY_AT)
    return {
        "questions": len(rows),
        "answerable": int(answerable.sum()),
        "AUC of confidence; of likely": [round(auc(sure, right), 3), round(auc(probable, holds), 3)],
        "answered": rounded_mean(claims),
        "right of answered": rounded_mean(right[claims]),
        "right of high": rounded_mean(right[sure >= 0.8]),
        "unanswerable answered": rounded_mean(claims[~answerable]),
        "likely": rounded_mean(likely),
        "holds of likely": rounded_mean(holds[likely]),
        "ECE of likely": round(expected_calibration_error(probable[likely], holds[likely]), 3)
        if likely.any()
        else None,
        "unanswerable likely": rounded_mean(likely[~answerable]),
        "answerable: right or likely with it": rounded_mean(
            ((claims & (right > 0)) | (likely & (holds > 0)))[answerable]
        ),
    }


def main() -> None:
    """Print one JSON object; --write replaces the tables that the core ships."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("keys", type=Path, nargs="+", help="what evals.answers.key_evidence wrote")
    parser.add_argument("--labelled", type=Path, help="passages labelled by reading")
    parser.add_argument("--every", type=int, default=1, help="of the labelled questions every so many-th")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    settings = load_settings()
    tables: dict[str, Any] = {"confidence": {}, "likely": {}}
    for name, features in reversed(CONFIDENCE_FEATURES.items()):  # the figures are those with the reader
        reader: Literal["none", "minilm"] = "none" if name == "unread" else "minilm"
        rows = asyncio.run(
            rows_of(
                arguments.keys,
                arguments.labelled,
                arguments.every,
                settings.model_copy(update={"webrag_reader": reader}),
            )
        )
        for kind, table in (("said", "confidence"), ("shown", "likely")):
            tables[table][name] = table_of(fit(rows, kind), features)
    tables["provenance"] = provenance(
        settings,
        label="the sentences state what the answer key demands, or come from a passage that states the answer",
        features=CONFIDENCE_FEATURES["read"],
        data=list(dict.fromkeys(row.site for row in rows)),
        n=len(rows),
        rows=len(rows),
        figures={"site left out": left_out(rows)},
        reader=NAME,
    )
    print_table(tables, TABLE, write=arguments.write)


if __name__ == "__main__":
    main()
