"""Redundancy between passages: the one definition that the evaluator and the merger share."""

from __future__ import annotations

import string
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

SHINGLE_WORDS = 3
"""Words per shingle: long enough that two passages on one topic share few, short enough to survive small
edits."""

_SPACE = ord(" ")
_SPACES = tuple(filter(str.isspace, map(chr, range(128, 0x3001))))  # the last one of all is the ideographic space
_BLANKS = (string.punctuation + "".join(filter(str.isspace, map(chr, range(128))))).encode()
_PUNCTUATION = bytes.maketrans(_BLANKS + b"\0", b" " * len(_BLANKS) + b"\xff")  # a 0 would count for nothing
_SMALL_PRODUCT = 2**18  # multiplications
_FACTOR = 0xFF51AFD7ED558CCD  # odd, of the hash of a word
_ODD = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))  # factors that mix the hashes of three words


def text_overlap(text: str, other: str) -> float:
    """Share of the three-word shingles of `text` that also occur in `other`, in [0, 1].

    Directed (containment, Broder 1997): a short passage quoted inside a long one is covered by it, while the
    long one still adds something. Case and ASCII punctuation, so also Markdown marks, are ignored. 0 when
    `text` has no words.
    """
    shingles = _shingles(text)
    shared = np.intersect1d(shingles, _shingles(other), assume_unique=True)
    return len(shared) / len(shingles) if len(shingles) else 0.0


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
    retained: list[int] = []
    for index, size in enumerate(sizes):
        most = float(shared[index, retained].max(initial=0))
        if most and most / int(size) >= ceiling:
            dropped.append(index)
        else:
            retained.append(index)
    return dropped


def alike_groups(texts: Sequence[str], least: float) -> list[int]:
    """The group of each text, named by the position of its first member: a text joins the first earlier one with which
    it shares at least `least` of the shingles of both. Texts without words are alone."""
    if len(texts) < 2:
        return list(range(len(texts)))
    shared, sizes = _shared_shingles(texts)
    groups: list[int] = []
    for index, size in enumerate(sizes):
        alike = (
            other
            for other in range(index)
            if groups[other] == other and shared[index, other] >= least * max(1, int(size), int(sizes[other]))
        )
        groups.append(next(alike, index))
    return groups


def text_overlaps(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """`text_overlap` of each text (row) with each other one (column), shape (n, n); 0 for texts without words."""
    if len(texts) < 2:
        return np.zeros((len(texts), len(texts)))
    shared, sizes = _shared_shingles(texts)
    return np.asarray(shared / np.maximum(sizes, 1)[:, None], dtype=np.float64)


@lru_cache(maxsize=32)  # one for each length of a text, rounded up
def _powers(number: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """So many powers of a factor modulo 2^64, from the first on, and of its inverse."""
    factors = (_FACTOR, pow(_FACTOR, -1, 2**64))
    up, down = (np.cumprod(np.full(number, factor, np.uint64), dtype=np.uint64) for factor in factors)
    return up, down


def _word_hashes(text: str) -> npt.NDArray[np.uint64]:
    """A hash of each word, at least `SHINGLE_WORDS` of them (0 = no word): the sum of its bytes, each times a power of
    its place in the word. All at once take half of the time of a string and a hash for each."""
    spaced = text.lower()
    if not spaced.isascii():
        for space in _SPACES:
            spaced = spaced.replace(space, " ")
    spaces = spaced.encode("utf-8", "surrogatepass").translate(_PUNCTUATION)
    letters = np.frombuffer(b" %b " % spaces, np.uint8)
    ends = np.flatnonzero(np.diff(letters == _SPACE))  # the last place before a word, the last place of it, and so on
    up, down = _powers(1 << len(letters).bit_length())
    sums = np.cumsum(letters * up[: len(letters)])[ends]
    hashes = (sums[1::2] - sums[::2]) * down[ends[::2]]
    missing = SHINGLE_WORDS - len(hashes)
    return hashes if missing <= 0 else np.append(hashes, np.zeros(missing, np.uint64))


@lru_cache(maxsize=1024)  # rounds of an answer and the next questions find many of the same passages: at most 8 MB
def _shingles(text: str) -> npt.NDArray[np.uint64]:
    """The distinct shingles of a text, ascending; none without words."""
    hashes = _word_hashes(text)
    hashed = np.sort((hashes[:-2] * _ODD[0] + hashes[1:-1]) * _ODD[1] + hashes[2:])
    is_first = np.concatenate([hashed[:1] != 0, hashed[1:] != hashed[:-1]])  # 0: no word at all
    return np.asarray(hashed[is_first], dtype=np.uint64)


def _shared_shingles(texts: Sequence[str]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Matrix of the number of distinct shingles each pair of texts shares, and each text's own number.

    A shingle is one integer, mixed from the hashes of its words; among ten thousand two that differ are the same once
    in 10^11 times. Sorting integers takes a third of the time of comparing sets of words, and the loop does this after
    every round.
    """
    sorted_shingles = [_shingles(text) for text in texts]
    sizes = np.array([len(hashed) for hashed in sorted_shingles])

    every = np.concatenate(sorted_shingles)
    order = np.argsort(every, kind="stable")  # quick on texts that are in order each
    ranked = every[order]
    group = np.cumsum(np.concatenate([[False], ranked[1:] != ranked[:-1]]))[: len(ranked)]
    common = np.bincount(group) > 1
    shared_rows = common[group]
    table = np.zeros((len(texts), int(common.sum())), np.float32)
    table[np.repeat(np.arange(len(texts)), sizes)[order[shared_rows]], (np.cumsum(common) - 1)[group[shared_rows]]] = 1
    # in blocks too small for BLAS to start threads, which wait for each other on a busy machine
    step = max(1, _SMALL_PRODUCT // len(texts) ** 2)
    shared = np.zeros((len(texts), len(texts)), np.float32)
    for at in range(0, table.shape[1], step):
        block = table[:, at : at + step]
        shared += block @ block.T
    return shared, sizes
