"""The weights of the retrieval scorer (`scoring`): those that ship, or those of a release.

A release is a file (`WEBRAG_HOME/feedback/weights.json` unless RETRIEVAL_WEIGHTS_FILE names another) that
`webrag feedback release` writes after the gate and `webrag feedback withdraw` removes. Every search looks whether it
changed, so that a release holds at once, in servers that run already too.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from webrag_core.config.retrieval import RetrievalSettings
from webrag_core.errors import IntegrityError, InvalidInputError

LEAST, MOST = 0.01, 0.60
"""Bounds of a weight: none of the six signals is ever silenced, none decides alone."""

_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class ScoreWeights:
    """Weight of each signal of a passage; each lies within [LEAST, MOST], together they are 1, so that scores stay
    within [0, 1]. The values that ship are round and were not fitted."""

    lexical: float = 0.30
    coverage: float = 0.20
    proximity: float = 0.10
    token_match: float = 0.15
    sibling: float = 0.10
    cosine: float = 0.15

    @classmethod
    def of(cls, values: Mapping[str, float]) -> Self:
        """Weights by name. Raises InvalidInputError for other names, and values that cannot be weights."""
        if set(values) != set(NAMES):
            raise InvalidInputError(f"the weights are {', '.join(NAMES)}, not {', '.join(sorted(values)) or 'none'}")
        weights = cls(**{name: float(value) for name, value in values.items()})
        wrong = [name for name in NAMES if not LEAST <= getattr(weights, name) <= MOST]
        if wrong:
            raise InvalidInputError(f"weights outside [{LEAST}, {MOST}]: {', '.join(wrong)}")
        if not math.isclose(sum(astuple(weights)), 1.0, abs_tol=_SUM_TOLERANCE):
            raise InvalidInputError(f"the weights add up to {sum(astuple(weights)):.6f}, not to 1")
        return weights

    def trusting(self, words: float, cosine: float) -> Self:
        """The weights where the models behind the scores know a question's language only so far, both in [0, 1]:
        `words` halves what lies beside BM25 at 0, `cosine` takes the cosine away. BM25's share takes what they leave,
        even above `MOST`."""
        half = (1 + words) / 2
        less = {name: getattr(self, name) * half for name in ("coverage", "proximity", "token_match", "sibling")}
        less["cosine"] = self.cosine * cosine
        return self if words == cosine == 1 else replace(self, lexical=1 - math.fsum(less.values()), **less)

    def by_name(self) -> dict[str, float]:
        """The weights, by name."""
        return {name: getattr(self, name) for name in NAMES}

    def vector(self) -> NDArray[np.float64]:
        """The weights in the order of `NAMES`."""
        return np.array(astuple(self))

    @property
    def digest(self) -> str:
        """Sixteen hex digits of the sha256 of the weights."""
        return hashlib.sha256(json.dumps(self.by_name()).encode()).hexdigest()[:16]


NAMES = tuple(field.name for field in fields(ScoreWeights))
"""The signals, in the order of the formula in `scoring`."""

SHIPPED = ScoreWeights()


def weights_file(settings: RetrievalSettings) -> Path:
    """Where the release in force lies, if there is one."""
    return settings.retrieval_weights_file or settings.webrag_home / "feedback" / "weights.json"


def weights_in_force(settings: RetrievalSettings) -> ScoreWeights:
    """The released weights, or those that ship. Raises IntegrityError for a file that is no release."""
    path = weights_file(settings)
    try:
        stamp = path.stat().st_mtime_ns
    except FileNotFoundError:
        return SHIPPED
    return _read(path, stamp)


@lru_cache(maxsize=8)
def _read(path: Path, stamp: int) -> ScoreWeights:
    """`stamp` makes a changed file another one."""
    try:
        release = json.loads(path.read_text(encoding="utf-8"))
        weights = ScoreWeights.of(release["weights"])
    except (OSError, ValueError, KeyError, TypeError, InvalidInputError) as error:
        raise IntegrityError(
            f"{path} is no release of weights ({error}); `webrag feedback withdraw` removes it"
        ) from None
    if release.get("weights_digest") != weights.digest:
        raise IntegrityError(f"{path} was changed after its release; `webrag feedback withdraw` removes it")
    return weights
