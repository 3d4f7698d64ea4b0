"""The gate of a release of scorer weights: no metric of any golden set may fall, in a paired comparison with the
weights in force (`evals.judging.gate.compare`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evals.feedback.features import METRICS, Candidates, score
from evals.judging.gate import TOLERANCE, Verdict, compare
from webrag_core.retrieval.weights import ScoreWeights


@dataclass(frozen=True, slots=True)
class ReleaseVerdict:
    """`goldens` by set; `why` says in words what fails."""

    goldens: Mapping[str, Verdict]
    why: Sequence[str]

    @property
    def passes(self) -> bool:
        """True when nothing fails."""
        return not self.why


def judge(
    current: ScoreWeights,
    proposed: ScoreWeights,
    goldens: Mapping[str, Sequence[Candidates]],
    tolerance: float = TOLERANCE,
) -> ReleaseVerdict:
    """Judge `proposed` against `current`. `goldens` are question sets by name."""
    verdicts = {
        name: compare(
            score(candidates, proposed),
            score(candidates, current),
            clusters={question.question: question.cluster for question in candidates},
            metrics=METRICS,
            tolerance=tolerance,
        )
        for name, candidates in goldens.items()
        if candidates
    }
    why = [
        f"{change.metric} of {name} falls by {-change.difference.mean:.3f}"
        f" [{change.difference.low:+.3f}, {change.difference.high:+.3f}]"
        for name, verdict in verdicts.items()
        for change in verdict.changes
        if change.fails
    ]
    return ReleaseVerdict(verdicts, why)
