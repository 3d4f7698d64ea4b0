"""What a search of stored pages is expected to bring: a fitted table (`routes.json`), made by `python -m
evals.fitting.routes`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("routes.json")
COMPLETE_FEATURES = ("logit of the best passage's relevance", "coverage")
_LEAST = 1e-3


def complete_features(top_score: float, coverage: float) -> tuple[float, float]:
    """Features of `stored_complete`."""
    top = min(max(top_score, _LEAST), 1 - _LEAST)
    return math.log(top / (1 - top)), coverage


def stored_complete(top_score: float, coverage: float = 1.0) -> float:
    """Probability in [0, 1] that the passages of a search hold all that answers: of the relevance in [0, 1] of the best
    one, and the share in [0, 1] of the site that is stored. 0 without a passage."""
    if not top_score:
        return 0.0
    row, inputs = _stored()["complete"], complete_features(top_score, coverage)
    terms = (float(slope) * value for slope, value in zip(row["coefficients"], inputs, strict=True))
    return float(1 / (1 + math.exp(-float(row["constant"]) - sum(terms))))


@lru_cache(maxsize=1)
def _stored() -> Mapping[str, Any]:
    tables: Mapping[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return tables
