"""Fit the support of sentences (`webrag_core.answering.confidence`).

    python -m evals.answers.evidence --split fitting --out runs/evidence-fitting.jsonl
    python -m evals.fitting.support runs/evidence-fitting.jsonl [--write]

Rows are the units that the reader read, of every question; their label is that they hold half of a gold quote. Each
question weighs the same, each unanswerable twin `TWIN_WEIGHT`.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evals.answers.evidence import RecordedEvidence, load_evidence
from evals.answers.scoring import HIT, gold_shares
from evals.fitting.completeness import TWIN_WEIGHT
from evals.fitting.fits import Array, fit_plain, print_table, provenance, table_of
from evals.walks.twins import is_twin
from webrag_core.answering import confidence
from webrag_core.answering.compose.draft import Draft, draft_of
from webrag_core.answering.compose.sentence_scores import UnitScores
from webrag_core.answering.confidence import SUPPORT_FEATURES, SUPPORT_TABLE, Logistic
from webrag_core.config import load_settings
from webrag_core.providers.reading_model import NAME
from webrag_core.retrieval.reader import Reader

_RIDGE = 0.002


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows with labels and weights, of one question each or of several."""

    rows: Array
    labels: Array
    weights: Array


def fit(samples: Sequence[Sample]) -> Logistic:
    """The ridge falls on standardised features."""
    rows = np.vstack([sample.rows for sample in samples])
    labels = np.concatenate([sample.labels for sample in samples])
    weights = np.concatenate([sample.weights for sample in samples])
    return Logistic(*fit_plain(rows, labels, weights, _RIDGE, digits=4))


def support_sample(item: RecordedEvidence, draft: Draft, scores: UnitScores) -> Sample:
    """The units of one question that can have support."""
    rows, chosen = confidence.support_features(scores)
    units = [draft.units[index] for index in chosen]
    shares = [gold_shares(item.golden, unit.chunk.source_url, unit.text) for unit in units]
    labels = np.array([max(share.values(), default=0.0) >= HIT for share in shares], dtype=np.float64)
    return Sample(rows, labels, np.full(len(rows), weight_of(item) / max(1, len(rows))))


def weight_of(item: RecordedEvidence) -> float:
    """Of a question among all."""
    return TWIN_WEIGHT if is_twin(item.golden.id) else 1.0


async def drafts_of(questions: Sequence[RecordedEvidence], *, read: bool) -> list[tuple[RecordedEvidence, Draft]]:
    """The units of each question that has any, scored with or without the reader."""
    drafts = []
    for item in questions:
        draft = await draft_of(item.golden.query, item.gathered.parts, item.gathered.ranked, Reader() if read else None)
        if draft.units:
            drafts.append((item, draft))
    return drafts


def main() -> None:
    """Print one JSON object; --write replaces the tables that the core ships."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evidence", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    walked = list(load_evidence(arguments.evidence))
    tables: dict[str, Any] = {"support": {}}
    for name in ("unread", "read"):
        drafts = asyncio.run(drafts_of(walked, read=name == "read"))
        whole = [(item, draft) for item, draft in drafts if len(draft.scores) == 1]
        support = fit([support_sample(draft_of, draft, draft.scores[0]) for draft_of, draft in whole])
        tables["support"][name] = table_of(support, SUPPORT_FEATURES[name])
    tables["provenance"] = provenance(
        load_settings(),
        label="the unit holds half of a gold quote (evals.answers.scoring)",
        features=SUPPORT_FEATURES["read"],
        data=list(dict.fromkeys(item.suite for item in walked)),
        n=len(walked),
        rows=len(walked),
        figures={},
        reader=NAME,
    )
    print_table(tables, SUPPORT_TABLE, write=arguments.write)


if __name__ == "__main__":
    main()
