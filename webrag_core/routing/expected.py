"""What agents are expected to bring and cost: fitted tables (`routes.json`), made by `python -m evals.routing.fit`."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from webrag_core.retrieval.calibration import Provenance
from webrag_core.routing.features import RouteFeatures

TABLE = Path(__file__).with_name("routes.json")
Arm = Literal["search", "walk", "both"]
"""Ways to evidence for a question with an address: search what is stored of its site, read pages, or both at once."""
COST_PER_PAGE = 0.02
COST_PER_SECOND = 0.01
"""What a page fetched (previews included) and a second count against a full answer, which counts 1."""
COMPLETE_FEATURES = ("logit of the best passage's relevance", "coverage")
ARM_FEATURES = ("page stored", "coverage", "site known", "several parts", "ln words")
_LEAST = 1e-3


@dataclass(frozen=True, slots=True)
class Expected:
    """What an arm is expected to bring: the probability of all quotes, pages fetched, seconds."""

    found: float
    pages: float
    seconds: float

    @property
    def utility(self) -> float:
        """The probability less the costs."""
        return self.found - COST_PER_PAGE * self.pages - COST_PER_SECOND * self.seconds


def complete_features(top_score: float, coverage: float) -> tuple[float, float]:
    """Features of `stored_complete`."""
    top = min(max(top_score, _LEAST), 1 - _LEAST)
    return math.log(top / (1 - top)), coverage


def stored_complete(top_score: float, coverage: float = 1.0) -> float:
    """Probability in [0, 1] that the passages of a search hold all that answers: of the relevance in [0, 1] of the best
    one, and the share in [0, 1] of the site that is stored. 0 without a passage."""
    if not top_score:
        return 0.0
    return _logistic(_stored()["complete"], complete_features(top_score, coverage))


def arm_features(features: RouteFeatures) -> tuple[float, ...]:
    """Features of `expected`."""
    return (
        float(features.urls > 0 and features.stored_urls == features.urls),
        features.stored_links,
        float(features.site_pages > 0),
        float(features.parts > 1),
        math.log(max(1, features.words)),
    )


def expected(arm: Arm, features: RouteFeatures) -> Expected:
    """What an arm is expected to bring for a question with these features."""
    row, inputs = _stored()["arms"][arm], arm_features(features)
    return Expected(
        _logistic(row["found"], inputs),
        max(0.0, _linear(row["pages"], inputs)),
        max(0.0, _linear(row["seconds"], inputs)),
    )


def digest() -> str:
    """Names the tables in force."""
    return hashlib.sha256(TABLE.read_bytes()).hexdigest()[:12]


def provenance() -> Provenance:
    """What the tables were fitted on, and the models they hold for."""
    return Provenance.of(_stored())


@lru_cache(maxsize=1)
def _stored() -> Mapping[str, Any]:
    tables: Mapping[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return tables


def _linear(row: Mapping[str, Any], inputs: tuple[float, ...]) -> float:
    terms = (float(slope) * value for slope, value in zip(row["coefficients"], inputs, strict=True))
    return float(row["constant"]) + sum(terms)


def _logistic(row: Mapping[str, Any], inputs: tuple[float, ...]) -> float:
    return float(1 / (1 + math.exp(-_linear(row, inputs))))
