"""Redundancy between passages: the one definition that the evaluator and the merger share."""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count

import numpy as np
import numpy.typing as npt

SHINGLE_WORDS = 3
"""Words per shingle: long enough that two passages on one topic share few, short enough to survive small
edits."""

_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation, " "))
_TOO_SHORT: list[list[str]] = [["", "", ""], ["", ""], [""]]  # fills texts of 0, 1, 2 words up to one shingle


def _words(text: str) -> list[str]:
    words = text.lower().translate(_PUNCTUATION).split()
    return words + _TOO_SHORT[len(words)] if len(words) < SHINGLE_WORDS else words


def text_overlap(text: str, other: str) -> float:
    """Share of the three-word shingles of `text` that also occur in `other`, in [0, 1].

    Directed (containment, Broder 1997): a short passage quoted inside a long one is covered by it, while the
    long one still adds something. Case and ASCII punctuation, so also Markdown marks, are ignored. 0 when
    `text` has no words.
    """
    own, others = (set(zip(w, w[1:], w[2:], strict=False)) for w in (_words(text), _words(other)))
    own.discard(("", "", ""))
    return len(own & others) / len(own) if own else 0.0


def redundant_indices(texts: Sequence[str], ceiling: float) -> list[int]:
    """Positions, ascending, of the texts that an earlier kept text covers: `text_overlap(text, kept) >=
    ceiling`.

    Greedy in the given order, so pass the texts best first. A dropped text covers nothing. Texts without
    words are never redundant. `ceiling` in [0, 1]; at 0 any shared shingle is enough.
    """
    if len(texts) < 2:
        return []
    shared, sizes = _shared_shingles(texts)
    dropped: list[int] = []
    kept: list[int] = []
    for index, size in enumerate(sizes):
        most = float(shared[index, kept].max(initial=0))
        if most and most / int(size) >= ceiling:
            dropped.append(index)
        else:
            kept.append(index)
    return dropped


def _shared_shingles(texts: Sequence[str]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Matrix of the number of distinct shingles each pair of texts shares, and each text's own number.

    Words become integers and shingles one integer each, all texts at once: building and comparing sets of
    word tuples takes twice as long, and the loop does this after every round.
    """
    numbers: defaultdict[str, int] = defaultdict(count(1).__next__)
    numbers[""] = 0
    words = [_words(text) for text in texts]
    lengths = np.array([len(w) for w in words])
    ids = np.fromiter(map(numbers.__getitem__, chain.from_iterable(words)), np.int64, int(lengths.sum()))
    base = len(numbers)  # below 2,000,000 distinct words no two shingles share an integer
    shingles = (ids[:-2] * base + ids[1:-1]) * base + ids[2:]
    owner = np.repeat(np.arange(len(texts)), lengths)
    inside = (owner[:-2] == owner[2:]) & (shingles != 0)

    _, column = np.unique(shingles[inside], return_inverse=True)
    width = int(column.max()) + 1 if column.size else 0
    cells = np.unique(owner[:-2][inside] * width + column)  # one entry per text and distinct shingle
    rows, column = np.divmod(cells, max(width, 1))
    sizes = np.bincount(rows, minlength=len(texts))
    common = np.bincount(column, minlength=width) > 1
    held = common[column]
    rows, column = rows[held], (np.cumsum(common) - 1)[column[held]]
    table = np.zeros((len(texts), int(common.sum())), np.float32)
    table[rows, column] = 1
    return table @ table.T, sizes
