"""The model that tells content from boilerplate: log odds of words, and boosted trees in two passes.

The first pass sees a unit's features, the second what the first says of the units around it. `evals/fitting/content.py`
fits both and writes `content_model.json`; the file says on what. Trees are evaluated here, on arrays: the library that
grew them is not needed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
from lxml.html import HtmlElement
from numpy.typing import NDArray

from webrag_core.conversion.content.context import context_rows
from webrag_core.conversion.content.features import Lexicon, PageFeatures
from webrag_core.conversion.content.units import TextUnit


@dataclass(frozen=True, slots=True)
class Forest:
    """The nodes of all trees in one row. A leaf leads to itself; `value` is 0 elsewhere."""

    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float32]
    roots: NDArray[np.int32]
    depth: int

    def probabilities(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return one probability per row of features, shape (n, features)."""
        nodes = np.repeat(self.roots[None, :], len(rows), axis=0)
        places = np.arange(len(rows))[:, None]
        for _ in range(self.depth):
            goes_left = rows[places, self.feature[nodes]] <= self.threshold[nodes]
            nodes = np.where(goes_left, self.left[nodes], self.right[nodes])
        odds = self.value[nodes].sum(axis=1)
        probabilities: NDArray[np.float32] = (1 / (1 + np.exp(-odds))).astype(np.float32)
        return probabilities


@dataclass(frozen=True, slots=True)
class ContentModel:
    """The lexicon and the forests of both passes."""

    lexicon: Lexicon
    first: Forest
    second: Forest

    def probabilities(
        self,
        root: HtmlElement,
        units: Sequence[TextUnit],
        *,
        is_declared_article: bool,
        misnamed: Set[HtmlElement] = frozenset(),
    ) -> NDArray[np.float32]:
        """Return for each unit of a page (at least one) the probability that it is content.

        The names of `misnamed` elements do not count.
        """
        page = PageFeatures(root, units, self.lexicon, is_declared_article=is_declared_article, misnamed=misnamed)
        rows = page.rows()
        return self.second.probabilities(context_rows(root, units, self.first.probabilities(rows)))


def forest_from(record: Mapping[str, Any]) -> Forest:
    """Build a forest from its record in the file, where a node that is no leaf stands before its left child."""
    right = np.array(record["right"], dtype=np.int32)
    places = np.arange(len(right), dtype=np.int32)
    return Forest(
        feature=np.array(record["feature"], dtype=np.int32),
        threshold=np.array(record["threshold"], dtype=np.float32),
        left=np.where(right == places, places, places + 1),
        right=right,
        value=np.array(record["value"], dtype=np.float32),
        roots=np.array(record["roots"], dtype=np.int32),
        depth=int(record["depth"]),
    )


@lru_cache(maxsize=1)
def content_model() -> ContentModel:
    """Return the model that ships."""
    path = resources.files("webrag_core.conversion.content").joinpath("content_model.json")
    record = json.loads(path.read_text(encoding="utf-8"))
    return ContentModel(record["lexicon"], forest_from(record["first"]), forest_from(record["second"]))
