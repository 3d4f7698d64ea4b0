"""How the scores of the evidence went, from round to round."""

from __future__ import annotations

from collections.abc import Sequence

from webrag_core.drawing.figure import DataTable, Figure
from webrag_core.drawing.lines import Series, score_lines
from webrag_core.orchestration.models import Round


def score_figure(rounds: Sequence[Round]) -> Figure:
    """Best and mean reranked score of each round, in [0, 1], with the action that led to the round."""
    places = [(f"round {done.round}", (done.action_taken or "seed").replace("_", " ")) for done in rounds]
    best = Series("best", "full", [done.signals.top_score for done in rounds])
    mean = Series("mean", "hollow", [done.signals.score_mean for done in rounds])
    rows = tuple(
        (*place, f"{high:.2f}", f"{low:.2f}") for place, high, low in zip(places, best.scores, mean.scores, strict=True)
    )
    table = DataTable(("Round", "Action", "Best score", "Mean score"), rows)
    return score_lines("Best and mean score per round", places, [best, mean], table)
