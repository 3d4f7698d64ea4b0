"""Features of a unit from the probabilities of what stands around it: a sidebar goes as a whole, an article stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from lxml.html import HtmlElement
from numpy.typing import NDArray

from webrag_core.conversion.content.units import TextUnit, elements_around

_LEVELS = (0, 1, 2, 3, 4, 6)
_NEIGHBOURS = (-3, -2, -1, 1, 2, 3)
_WINDOW = 8  # units to each side


@dataclass(slots=True)
class _Box:
    """An element below the root: the size of the text in it, the part that is probably content, its units."""

    size: float = 0.0
    content: float = 0.0
    units: int = 0

    @property
    def share(self) -> float:
        return self.content / self.size


def context_rows(
    root: HtmlElement, units: Sequence[TextUnit], probabilities: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the features, shape (units, features), from a first probability per unit."""
    sizes = np.array([unit.size for unit in units], dtype=np.float64)
    content: NDArray[np.float64] = sizes * probabilities
    boxes: dict[HtmlElement, _Box] = {}
    chains = [[boxes.setdefault(each, _Box()) for each in elements_around(root, unit.block)] for unit in units]
    for chain, size, part in zip(chains, sizes, content, strict=True):
        for box in chain:
            box.size += size
            box.content += part
            box.units += 1
    page = _Box(float(sizes.sum()), float(content.sum()), len(units))
    best = int(np.argmax(content))
    rows = np.array([_chain_row(chain, chains[best], page) for chain in chains])
    return np.column_stack([probabilities, sizes, rows, _line_rows(probabilities, sizes, content, best)]).astype(
        np.float32
    )


def _chain_row(chain: Sequence[_Box], best: Sequence[_Box], page: _Box) -> list[float]:
    row: list[float] = []
    for level in _LEVELS:
        box = chain[level] if level < len(chain) else page
        row += (box.share, box.size, box.units)
    shares = [box.share for box in chain] or [page.share]
    around_best = {id(box) for box in best}
    apart = next((level for level, box in enumerate(chain) if id(box) in around_best), len(chain))
    return [*row, page.share, min(shares), max(shares), apart]


def _line_rows(
    probabilities: NDArray[np.float32], sizes: NDArray[np.float64], content: NDArray[np.float64], best: int
) -> NDArray[np.float64]:
    """What the units before and after say, and how far the unit with the most content is."""
    n, order = len(sizes), np.arange(len(sizes))
    reach = max(_NEIGHBOURS)
    padded = np.pad(probabilities, reach, constant_values=-1)
    sums = np.concatenate([[0.0], np.cumsum(content)])
    all_sizes = np.concatenate([[0.0], np.cumsum(sizes)])
    start, end = np.maximum(order - _WINDOW, 0), np.minimum(order + _WINDOW + 1, n)
    return np.column_stack(
        [
            *(padded[reach + shift : reach + shift + n] for shift in _NEIGHBOURS),
            (sums[end] - sums[start]) / (all_sizes[end] - all_sizes[start]),
            sums[:-1] / sums[-1],
            (order - best) / n,
            content / content[best],
        ]
    )
