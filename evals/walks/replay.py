"""Replay: decide every recorded round again, with the policy that was recorded or with any other.

What replay knows: the signals of every recorded round, so what any policy says there. What it cannot know: what a run
would have found that goes on where the recorded one ended (`beyond`), or that expands in another way than the recorded
one did (`elsewhere`). Such a run is followed to the last round that both share, and counted apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evals.walks.recorded import RecordedRound, RecordedRun
from evals.walks.sitewalk import UNTIL_CAP
from webrag_core.config import Settings
from webrag_core.orchestration.judged import decide
from webrag_core.orchestration.limits import COST, TIMEOUT, bounded, limit_of
from webrag_core.orchestration.models import EvaluationSignals, ExpansionDecision
from webrag_core.orchestration.policies import StopPolicy, get_policy

End = Literal["stopped", "beyond", "elsewhere"]


@dataclass(frozen=True, slots=True)
class Step:
    """What a policy, under the loop's limits, decides in a recorded round. `same_action`: the recorded run did the
    same; `agrees`: with the same rule, reason and probability."""

    round: int
    decision: ExpansionDecision
    same_action: bool
    agrees: bool


@dataclass(frozen=True, slots=True)
class Replayed:
    """One run decided again. `steps` cover every recorded round; the replayed run itself lasts until `last`, the round
    it stops in (`stopped`) or the last one that it shares with the recording."""

    run: RecordedRun
    policy: str
    steps: tuple[Step, ...]
    end: End
    last: int

    @property
    def first_difference(self) -> int | None:
        """The first round in which something else would be done; None when there is none."""
        return next((step.round for step in self.steps if not step.same_action), None)

    @property
    def decision(self) -> ExpansionDecision:
        """What is decided in the round `last`."""
        return self.steps[self.last].decision


def replay(
    run: RecordedRun,
    policy: StopPolicy,
    settings: Settings,
    *,
    budget: int,
) -> Replayed:
    """Decide `run` again under `settings`, with `budget` expansion rounds. Pure. `run` has at least one round."""
    history: list[EvaluationSignals] = []
    steps = []
    for recorded in run.rounds:
        left = max(0, budget - recorded.signals.round)
        signals = recorded.signals
        if signals.expansion_rounds_left != left:
            signals = signals.model_copy(update={"expansion_rounds_left": left})
        history.append(signals)
        decision = bounded_as_recorded(decide(policy, history), recorded, signals, settings, budget)
        same = decision.action == recorded.action
        steps.append(Step(recorded.signals.round, decision, same, same and _agrees(decision, recorded)))
    end, last = _followed(run, steps)
    return Replayed(run, policy.name, tuple(steps), end, last)


def replay_all(
    runs: Sequence[RecordedRun],
    policy: str | None,
    settings: Settings,
    *,
    changes: Mapping[str, object] | None = None,
    budget: int | None = None,
) -> list[Replayed]:
    """Decide all runs again with the policy called `policy`, None = each with its own.

    Settings are the recorded ones where there are any, then `changes`. A run's own policy gets the recorded budget;
    another gets MAX_EXPANSION_DEPTH, and never more than was recorded. Runs without a round (their seed could not be
    had) are left out. Raises InvalidInputError for an unknown policy.
    """
    replayed = []
    policies: dict[tuple[str, tuple[tuple[str, object], ...]], tuple[Settings, StopPolicy]] = {}
    for run in runs:
        if not run.rounds:
            continue
        policy_of_run = f"fixed-k:{run.budget}" if run.policy == UNTIL_CAP else run.policy
        name = policy or policy_of_run
        key = (name, tuple(run.settings.items()))
        if key not in policies:
            decided = run.settings_of(settings, changes)
            policies[key] = decided, get_policy(name, decided)
        used, chosen = policies[key]
        rounds = run.budget if name == policy_of_run else min(run.budget, used.max_expansion_depth)
        replayed.append(replay(run, chosen, used, budget=rounds if budget is None else budget))
    return replayed


def bounded_as_recorded(
    decision: ExpansionDecision, recorded: RecordedRound, signals: EvaluationSignals, settings: Settings, budget: int
) -> ExpansionDecision:
    """`decision` under the limits of the loop, as far as the recording tells them.

    Time and cost are not replayed: a round that was recorded as out of time, or too dear, is so for every policy. Where
    the number of pages was not recorded, the page limit is reached where the recorded run met it.
    """
    pages = recorded.pages
    if pages is None:
        pages = settings.webrag_max_pages if recorded.rule == "page-limit" else 0
    return bounded(
        decision,
        signals,
        settings,
        budget=budget,
        pages=pages,
        out_of_time=limit_of(recorded.reason) if recorded.rule == TIMEOUT else None,
        too_dear=limit_of(recorded.reason) if recorded.rule == COST else None,
    )


def _agrees(decision: ExpansionDecision, recorded: RecordedRound) -> bool:
    same = (decision.rule, decision.reason) == (recorded.rule, recorded.reason)
    return same and recorded.probability in (None, decision.probability_complete)


def _followed(run: RecordedRun, steps: Sequence[Step]) -> tuple[End, int]:
    for step, recorded in zip(steps, run.rounds, strict=True):
        if step.decision.action == "stop":
            return "stopped", step.round
        if recorded.action == "stop":
            return "beyond", step.round
        if step.decision.action != recorded.action:
            return "elsewhere", step.round
    return "beyond", steps[-1].round  # cut off while it ran
