"""Score recorded runs as if stopped earlier: truncate the run-log line after a round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evals.walks.goldens import GoldenQuery
from evals.walks.recorded import RecordedRun
from evals.walks.replay import Replayed
from evals.walks.scoring import score_item
from evals.walks.sitewalk import stop_kind
from webrag_core.orchestration.models import COMPLETE_AT, ExpansionDecision
from webrag_core.retrieval.redundancy import redundant_indices

_CEILING = 0.85


def cut_after(run: RecordedRun, last: int, decision: ExpansionDecision | None = None) -> dict[str, Any]:
    """The run-log line of `run` stopped after round `last` by `decision`, None = by the one that was recorded there.

    The evidence of the recorded end is the recorded one. That of an earlier round is what the round ranked best (20
    passages by default, RERANKER_TOP_N), without those that a better one covers; None when the round does not tell.
    """
    recorded = run.rounds[last]
    rule = recorded.rule if decision is None else decision.rule
    probability = recorded.probability if decision is None else decision.probability_complete
    if probability is None:
        probability = float(run.record["confidence"] or 0.0)
    ended = last == len(run.rounds) - 1
    return {
        "id": run.id,
        "fetched": [page for page in run.record["fetched"] if page.get("round", 0) <= last],
        "stop": stop_kind(rule, probability),
        "claimed_found": probability >= COMPLETE_AT,
        "confidence": probability,
        "evidence": run.record["evidence"] if ended else passages_after(run, last),
    }


def passages_after(run: RecordedRun, last: int) -> list[Mapping[str, Any]] | None:
    """The passages that round `last` ranked, best first, none twice; None when they were not recorded."""
    ranked = run.rounds[last].evidence
    if ranked is None:
        return None
    passages = [*run.record["evidence"], *run.record.get("dropped", ())]
    chosen = [passages[index] for index, _ in ranked]
    ceiling = float(run.settings.get("redundancy_ceiling", _CEILING))
    repeated = set(redundant_indices([passage["text"] for passage in chosen], ceiling))
    return [passage for place, passage in enumerate(chosen) if place not in repeated]


class PrefixScores:
    """Scores of stopped-earlier runs. Remembers each (run, round, outcome), so that many policies cost little."""

    def __init__(self, goldens: Sequence[GoldenQuery]) -> None:
        self._goldens = {golden.id: golden for golden in goldens}
        self._known: dict[tuple[int, int, str, bool], dict[str, float]] = {}
        self._runs: dict[int, RecordedRun] = {}  # by id(): kept alive, so that no other object gets the same one

    def of(self, replayed: Replayed) -> dict[str, float]:
        """Scores of a run that `replayed` ends. For one that is not `stopped` they are those of the shared part."""
        decision = replayed.decision
        claimed = decision.probability_complete >= COMPLETE_AT
        key = (id(replayed.run), replayed.last, stop_kind(decision.rule, decision.probability_complete), claimed)
        if key not in self._known:
            self._runs[id(replayed.run)] = replayed.run
            record = cut_after(replayed.run, replayed.last, decision)
            self._known[key] = score_item(self._goldens[replayed.run.id], record)
        return self._known[key]
