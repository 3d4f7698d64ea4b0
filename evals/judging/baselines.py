"""Baselines: what simple policies, the specification's and the oracle score on the same items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evals.intervals import Interval
from evals.judging.oracle import oracle_scores
from evals.walks.goldens import GoldenQuery
from evals.walks.prefixes import PrefixScores
from evals.walks.recorded import RecordedRun
from evals.walks.replay import replay_all
from evals.walks.scoring import METRICS, summarise
from webrag_core.config import Settings

BASELINES = ("stop-at-once", "fixed-k:1", "fixed-k:3", "fixed-k:5", "seed-matrix")


@dataclass(frozen=True, slots=True)
class System:
    """Scores by item of one way to stop. `unknown` items are those that the recording cannot tell: the policy would
    have gone on longer, or in another way."""

    name: str
    scores: Mapping[str, Mapping[str, float]]
    unknown: tuple[str, ...] = ()


def replayed_system(
    name: str, goldens: Sequence[GoldenQuery], recording: Sequence[RecordedRun], settings: Settings, known: PrefixScores
) -> System:
    """The policy called `name` on the recorded runs. Exact for the items it does not list as unknown."""
    items = {golden.id for golden in goldens}
    replayed = replay_all([run for run in recording if run.id in items], name, settings)
    return System(
        name,
        {replay.run.id: known.of(replay) for replay in replayed if replay.end == "stopped"},
        tuple(replay.run.id for replay in replayed if replay.end != "stopped"),
    )


def baselines(goldens: Sequence[GoldenQuery], recording: Sequence[RecordedRun], settings: Settings) -> list[System]:
    """All baselines; the oracle last. A recording of `webrag eval sitewalk --until-cap` tells most."""
    known = PrefixScores(goldens)
    systems = [replayed_system(name, goldens, recording, settings, known) for name in BASELINES]
    return [*systems, System("oracle", oracle_scores(goldens))]


def baseline_table(
    goldens: Sequence[GoldenQuery], recording: Sequence[RecordedRun], settings: Settings
) -> dict[str, dict[str, Interval]]:
    """Intervals over all items per baseline and metric. A name ends in "(n of N known)" where some are unknown."""
    table = {}
    for system in baselines(goldens, recording, settings):
        known = len(system.scores)
        name = f"{system.name} ({known} of {known + len(system.unknown)} known)" if system.unknown else system.name
        table[name] = summarise(goldens, system.scores, METRICS)["all"]
    return table
