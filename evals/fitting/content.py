"""Fit the model that tells the content of a page from boilerplate, and write the file that the core ships.

    pip install lightgbm==4.7.0
    python -m evals.fitting.content FOLDER... [--out FILE]

FOLDERs are the sets that `page_sets` reads; only their dev halves are used. Each unit of text is labelled by the share
of its word trigrams in the marked text, or by the snippets in it. Words vote once per domain; trees see the words' log
odds as counted on the other four fifths of the domains.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import webrag_core.conversion.content
from evals.fitting.fits import made_now
from evals.fitting.page_sets import MarkedPage, read_set
from webrag_core.conversion.content.context import context_rows
from webrag_core.conversion.content.declared import is_declared_article
from webrag_core.conversion.content.features import WORD_KINDS, Lexicon, PageFeatures
from webrag_core.conversion.content.units import TextUnit, text_units
from webrag_core.conversion.html import parse_html
from webrag_core.conversion.main_content import body_of, strip_marked_boilerplate
from webrag_core.errors import FetchError

FILE = Path(webrag_core.conversion.content.__file__).parent / "content_model.json"
_WORD = re.compile(r"\w+")
_GRAM = 3
_SHORT = 6  # words: such a unit is content only near one that is
_MIN_DOMAINS = 8
_FOLDS = 5
_MAX_UNITS = 4_000
_TREES = 100
_PARAMETERS = {
    "objective": "cross_entropy",
    "learning_rate": 0.1,
    "num_leaves": 31,
    "max_depth": 8,
    "min_data_in_leaf": 80,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "seed": 1,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,  # threads wait for each other on a machine with other work
    "verbose": -1,
}
_CONTEXT_TREES = 60
_CONTEXT_PARAMETERS = {"num_leaves": 15, "max_depth": 6}


@dataclass(slots=True)
class _Page:
    """One page of the fit: labels (0 to 1) and weights of its units, and the words of each kind that they show."""

    marked: MarkedPage
    labels: NDArray[np.float64]
    weights: NDArray[np.float64]
    words: list[dict[str, set[str]]]

    @property
    def fold(self) -> int:
        return hashlib.sha256(f"fold {self.marked.domain}".encode()).digest()[0] % _FOLDS


def labelled(page: MarkedPage, units: Sequence[TextUnit]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return labels and weights of units; the weights of a page sum to 1, or are all 0 where nothing is known."""
    pairs = _by_snippets(page, units) if page.text is None else _by_text(page.text, units)
    labels, weights = np.array([label for label, _ in pairs]), np.array([weight for _, weight in pairs], dtype=float)
    return labels, weights / (weights.sum() or 1.0)


def _by_snippets(page: MarkedPage, units: Sequence[TextUnit]) -> list[tuple[float, float]]:
    within = [" ".join(text.split()) for text in page.within]
    outside = [" ".join(text.split()) for text in page.outside]
    pairs = []
    for unit in units:
        hits = sum(text in unit.text for text in within)
        misses = sum(text in unit.text for text in outside)
        pairs.append((float(hits > 0), float(hits or misses)) if not (hits and misses) else (0.0, 0.0))
    return pairs


def _by_text(text: str, units: Sequence[TextUnit]) -> list[tuple[float, float]]:
    reference = _WORD.findall(text.lower())
    grams, line = set(_grams(reference)), f" {' '.join(reference)} "
    pairs = []
    for unit in units:
        words = _WORD.findall(unit.text.lower())
        if len(words) <= _GRAM:
            label = float(f" {' '.join(words)} " in line)
        else:
            parts = _grams(words)
            label = sum(part in grams for part in parts) / len(parts)
        pairs.append((label, float(len(words))))
    for i, (_, count) in enumerate(pairs):
        if count < _SHORT and not any(_long_content(pairs, i, step) for step in (-1, 1)):
            pairs[i] = (0.0, count)
    return pairs


def _long_content(pairs: Sequence[tuple[float, float]], start: int, step: int) -> bool:
    """Whether one of the next three long units is content."""
    place = start + step
    left = 3
    while 0 <= place < len(pairs) and left:
        label, count = pairs[place]
        if count >= _SHORT:
            if label >= 0.5:
                return True
            left -= 1
        place += step
    return False


def _grams(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + _GRAM]) for i in range(max(1, len(words) - _GRAM + 1))]


def features_of(page: MarkedPage, lexicon: Lexicon) -> tuple[list[TextUnit], PageFeatures] | None:
    """Return the units of a page and their features; None for a page that cannot be parsed or has too many units."""
    try:
        root = body_of(parse_html(page.html, None))
    except FetchError:
        return None
    declared = is_declared_article(root)
    strip_marked_boilerplate(root)
    units = text_units(root)
    if not units or len(units) > _MAX_UNITS:
        return None
    return units, PageFeatures(root, units, lexicon, is_declared_article=declared)


def read_pages(pages: Iterable[MarkedPage]) -> Iterator[_Page]:
    """Yield what the fit needs of each page."""
    empty: Lexicon = {kind: {} for kind in WORD_KINDS}
    for marked in pages:
        result = features_of(marked, empty)
        if result is not None:
            units, features = result
            labels, weights = labelled(marked, units)
            yield _Page(marked, labels, weights, features.words())


def lexicon_of(pages: Iterable[_Page]) -> dict[str, dict[str, float]]:
    """Return the log odds of words: every domain votes with the mean label of its units that show a word."""
    votes: dict[str, dict[str, dict[str, list[float]]]] = {
        kind: defaultdict(lambda: defaultdict(list)) for kind in WORD_KINDS
    }
    for page in pages:
        for label, weight, words in zip(page.labels, page.weights, page.words, strict=True):
            if weight:
                for kind, shown in words.items():
                    for word in shown:
                        votes[kind][word][page.marked.domain].append(label)
    return {
        kind: {
            word: round(_log_odds([sum(labels) / len(labels) for labels in domains.values()]), 2)
            for word, domains in sorted(by_word.items())
            if len(domains) >= _MIN_DOMAINS
        }
        for kind, by_word in votes.items()
    }


def _log_odds(votes: Sequence[float]) -> float:
    share = (sum(votes) + 0.8) / (len(votes) + 2)  # a prior of two domains with two fifths of content
    return math.log(share / (1 - share))


def fit(pages: Sequence[_Page]) -> dict[str, Any]:
    """Return the lexicon and the forests of both passes as the file of the model holds them."""
    parts = [lexicon_of(page for page in pages if page.fold != fold) for fold in range(_FOLDS)]
    results = [(page, result) for page in pages if (result := features_of(page.marked, parts[page.fold]))]
    rows = [units.rows() for _, (_, units) in results]
    folds = np.concatenate(
        [np.full(len(page_rows), page.fold) for (page, _), page_rows in zip(results, rows, strict=True)]
    )
    labels = np.concatenate([page.labels for page, _ in results])
    weights = np.concatenate([page.weights for page, _ in results])
    features = np.concatenate(rows)
    unseen = np.zeros(len(labels), dtype=np.float32)
    for fold in range(_FOLDS):  # the second pass learns from probabilities of pages that the first did not see
        inside = folds == fold
        booster = _boosted(features[~inside], labels[~inside], weights[~inside], _TREES)
        unseen[inside] = booster.predict(features[inside])
    context, place = [], 0
    for (_, (units, page_features)), page_rows in zip(results, rows, strict=True):
        context.append(context_rows(page_features.root, units, unseen[place : place + len(page_rows)]))
        place += len(page_rows)
    first = _boosted(features, labels, weights, _TREES)
    second = _boosted(np.concatenate(context), labels, weights, _CONTEXT_TREES, **_CONTEXT_PARAMETERS)
    return {"lexicon": lexicon_of(pages), "first": _flat(first), "second": _flat(second)}


def _boosted(
    rows: NDArray[np.float32], labels: NDArray[np.float64], weights: NDArray[np.float64], trees: int, **more: float
) -> Any:
    """Grow trees on the rows that have a label."""
    import lightgbm

    known = weights > 0
    data = lightgbm.Dataset(rows[known], labels[known], weight=weights[known] / weights[known].mean())
    return lightgbm.train({**_PARAMETERS, **more}, data, num_boost_round=trees)


def _flat(booster: Any) -> dict[str, Any]:
    """Return the nodes of all trees in one row each of feature, threshold, right child and value.

    A left child comes right after its parent. A leaf is its own right child.
    """
    trees: Sequence[Mapping[str, Any]] = booster.dump_model()["tree_info"]
    nodes: dict[str, list[Any]] = {name: [] for name in ("feature", "threshold", "right", "value")}

    def add(node: Mapping[str, Any], depth: int) -> tuple[int, int]:
        place = len(nodes["feature"])
        if "leaf_value" in node:
            for name, value in zip(nodes, (0, 0.0, place, round(node["leaf_value"], 4)), strict=True):
                nodes[name].append(value)
            return place, depth
        split = (node["split_feature"], float(f"{node['threshold']:.6g}"), 0, 0.0)
        for name, value in zip(nodes, split, strict=True):
            nodes[name].append(value)
        _, left = add(node["left_child"], depth + 1)
        nodes["right"][place], right = add(node["right_child"], depth + 1)
        return place, max(left, right)

    roots, depth = [], 0
    for tree in trees:
        root, tree_depth = add(tree["tree_structure"], 0)
        roots.append(root)
        depth = max(depth, tree_depth)
    return {**nodes, "roots": roots, "depth": depth}


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=FILE)
    arguments = parser.parse_args()
    sets = [read_set(folder) for folder in arguments.folders]
    pages = list(read_pages(page for _, pages in sets for page in pages if page.half == "dev"))
    record = {
        "provenance": {
            "label": "share of a unit's word trigrams in the marked text, or a snippet of it",
            "data": [f"{name}, dev half by domain" for name, _ in sets],
            "pages": len(pages),
            "units": int(sum((page.weights > 0).sum() for page in pages)),
            **made_now(),
        },
        **fit(pages),
    }
    arguments.out.write_text(json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(record["provenance"], indent=2))


if __name__ == "__main__":
    main()
