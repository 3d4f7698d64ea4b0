"""Can words certify a paraphrase? Sentences of Wikipedia against the pages that they cite (WiCE, Kamoi et al. 2023).

    python -m evals.fitting.paraphrase DEV TEST

Both files are `entailment_inputs/oracle_chunks/claim/{dev,test}.jsonl` of the data set (ODC-BY; not part of this
repository). Features of a sentence and its evidence (words and names that are missing, numbers, negation, the reading
model's score) are fitted on DEV; a threshold would be the least value from which on the sentences of DEV are supported
with a lower 95 % bound of .95. Printed: ranking, precision of the surest, and the threshold, null where there is none.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from evals.fitting.fits import Array, fit_plain
from evals.reliability import auc
from webrag_core.indexing.terms import terms
from webrag_core.providers.static_model import word_rarities
from webrag_core.retrieval.reader import reading_scores

LEAST_PRECISION = 0.95
_NEGATION = re.compile(r"\b(?:not|no|never|none|cannot|without)\b|n't", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][\w-]+")
_READ = 1_500  # characters of the evidence
_SUREST = (10, 20, 40, 80)


def features_of(sentence: str, evidence: Sequence[str]) -> list[float]:
    """What may tell whether `evidence` supports `sentence`."""
    text = " ".join(evidence)
    words = list(dict.fromkeys(terms(sentence)))
    weights = np.array(word_rarities(words)) + 0.5
    known = set(terms(text))
    present = np.array([word in known for word in words])
    best = max(
        (sum(weights[[word in set(terms(passage)) for word in words]]) / weights.sum() for passage in evidence),
        default=0.0,
    )
    pairs, bigrams = (list(pairwise(row)) for row in (terms(text), terms(sentence)))
    return [
        float((weights * present).sum() / weights.sum()),
        float(best),
        sum(number not in text for number in _NUMBER.findall(sentence)),
        sum(name.casefold() not in text.casefold() for name in _NAME.findall(sentence)),
        float(np.mean([pair in set(pairs) for pair in bigrams])) if bigrams else 0.0,
        bool(_NEGATION.search(sentence)) != bool(_NEGATION.search(text)),
        float((weights * ~present).max()),
        float(np.log(len(words) + 1)),
        max(reading_scores(sentence, [text[:_READ]])),
    ]


def load(path: Path) -> tuple[Array, NDArray[np.bool_]]:
    """Features and labels, one row a sentence: of its pieces of evidence the one that shares most words."""
    pieces: dict[str, list[dict[str, Any]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        pieces.setdefault(row["claim"], []).append(row)
    rows, labels = [], []
    for sentence, candidates in pieces.items():
        scored = [
            (features_of(sentence, candidate["evidence"]), candidate["label"] == "supported")
            for candidate in candidates
        ]
        features, label = max(scored, key=lambda item: item[0][0])
        rows.append(features)
        labels.append(label)
    return np.array(rows), np.array(labels)


def lower_bound(right: int, n: int) -> float:
    """The lower 95 % bound of a share (Clopper and Pearson 1934)."""
    return float(beta.ppf(0.05, right, n - right + 1)) if right else 0.0


def threshold_of(predicted: Array, labels: NDArray[np.bool_]) -> float | None:
    """The least prediction from which on LEAST_PRECISION is certain enough, if any."""
    order = np.argsort(-predicted, kind="stable")
    right = np.cumsum(labels[order])
    reached = [n for n in range(1, len(order) + 1) if lower_bound(int(right[n - 1]), n) >= LEAST_PRECISION]
    return float(predicted[order][max(reached) - 1]) if reached else None


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dev", type=Path)
    parser.add_argument("test", type=Path)
    arguments = parser.parse_args()
    fitted: tuple[float, tuple[float, ...]] | None = None
    report: dict[str, Any] = {}
    for name, path in (("dev", arguments.dev), ("test", arguments.test)):
        rows, labels = load(path)
        fitted = fitted or fit_plain(rows, labels.astype(float), np.ones(len(labels)), 0.01, digits=4)
        predicted = 1 / (1 + np.exp(-(fitted[0] + rows @ np.array(fitted[1]))))
        order = np.argsort(-predicted, kind="stable")
        report[name] = {
            "sentences": len(labels),
            "supported": round(float(labels.mean()), 3),
            "auc": round(auc(predicted, labels.astype(float)), 3),
            "precision of the surest": {n: round(float(labels[order][:n].mean()), 3) for n in _SUREST},
        }
        if name == "dev":
            report["threshold"] = threshold_of(predicted, labels)
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
