"""The gate between evaluation runs: what passes, what it says, what the next run is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
import numpy as np
import pytest

from webrag_dagster.evaluation.gate import PASSED, RECENT, SCORES, Base, gate, last_passing
from webrag_dagster.metadata import Metadata

pytestmark = pytest.mark.slow

ITEMS = [f"item-{number}" for number in range(10)]
CLUSTERS = {item: item for item in ITEMS}


def scores(found: int) -> dict[str, dict[str, float]]:
    """Ten items of which the first `found` succeed."""
    return {item: {"success": float(place < found)} for place, item in enumerate(ITEMS)}


def earlier(found: int) -> Base:
    """A base of ten items, all of one run."""
    return Base(scores(found), dict.fromkeys(ITEMS, "0" * 32))


def judged(
    base: Base | None, now: Mapping[str, Mapping[str, float]], *, accept: bool = False, policy: str | None = None
) -> tuple[dg.AssetCheckResult, Metadata]:
    return gate("gate", base, now, clusters=CLUSTERS, metrics=("success",), accept=accept, policy=policy)


def kept(metadata: Metadata) -> tuple[object, object]:
    return metadata[PASSED].value, metadata[SCORES].value


def store(instance: dg.DagsterInstance, metadata: Metadata) -> str:
    """A run that stores the scores as the asset would. Returns the run's id."""

    @dg.asset
    def suite() -> dg.MaterializeResult[None]:
        return dg.MaterializeResult(metadata=metadata)

    return dg.materialize([suite], instance=instance).run_id


def night(
    instance: dg.DagsterInstance, now: Mapping[str, Mapping[str, float]], policy: str | None = None
) -> tuple[dg.AssetCheckResult, str]:
    """Compare and store, as the assets do. Returns the check's result and the run's id."""
    result, metadata = judged(last_passing(instance, "suite", policy, now), now, policy=policy)
    return result, store(instance, metadata)


def test_the_first_run_passes_and_is_what_the_next_must_match() -> None:
    result, metadata = judged(None, scores(6))
    assert result.passed
    assert kept(metadata) == (True, scores(6))


def test_the_same_thirds_again_are_no_movement(instance: dg.DagsterInstance) -> None:
    for third in (1 / 3, 2 / 3):  # stored rounded, one down and one up
        night(instance, {item: {"success": third} for item in ITEMS})
        result, _ = night(instance, {item: {"success": third} for item in ITEMS})
        assert str(result.description).startswith("Nothing moved.")
        assert result.passed


def test_a_fall_fails_and_names_the_items() -> None:
    result, metadata = judged(earlier(6), scores(3))
    assert not result.passed
    assert result.severity is dg.AssetCheckSeverity.ERROR
    assert "success -0.30" in str(result.description)
    assert "worse: item-3, item-4, item-5" in str(result.description)
    moved = result.metadata["moved"]
    assert isinstance(moved, dg.TableMetadataValue)
    assert [(row.data["item"], row.data["before"], row.data["now"]) for row in moved.records] == [
        (item, 1.0, 0.0) for item in ITEMS[3:6]
    ]
    assert result.metadata["compared_with"] == dg.MetadataValue.dagster_run("0" * 32)
    assert kept(metadata)[0] is False


def test_a_fall_can_be_accepted_on_purpose() -> None:
    result, metadata = judged(earlier(6), scores(3), accept=True)
    assert result.passed
    assert str(result.description).startswith("Accepted although it fell")
    assert kept(metadata) == (True, scores(3))


def test_a_smaller_sample_is_compared_on_the_items_that_both_asked() -> None:
    few = {item: scores(6)[item] for item in ITEMS[:4]}
    result, _ = judged(earlier(6), few)
    assert result.passed
    assert result.metadata["items_compared"].value == 4


def test_the_base_is_the_newest_run_that_passed(instance: dg.DagsterInstance) -> None:
    assert last_passing(instance, "suite") is None
    store(instance, judged(None, scores(6))[1])
    store(instance, judged(earlier(6), scores(3))[1])
    base = last_passing(instance, "suite")
    assert base is not None
    assert base.scores == scores(6), "a run that fell is nothing to be measured by"
    store(instance, judged(base, scores(7))[1])
    newest = last_passing(instance, "suite")
    assert newest is not None
    assert newest.scores == scores(7)


def test_a_run_on_one_item_does_not_empty_the_base(instance: dg.DagsterInstance) -> None:
    _, first = night(instance, scores(10))
    alone, second = night(instance, {ITEMS[0]: scores(10)[ITEMS[0]]})
    assert alone.passed
    fallen, _ = night(instance, scores(1))
    assert not fallen.passed
    assert "success -0.90" in str(fallen.description)
    assert f"Base: 1 items of run {second[:8]}, 9 items of run {first[:8]}." in str(fallen.description)
    assert fallen.metadata["items_compared"].value == 10
    assert fallen.metadata["compared_with"] == dg.MetadataValue.dagster_run(second)
    assert not night(instance, scores(1))[0].passed, "and a run that fell does not, either"


def test_items_that_nobody_asked_before_are_said_to_have_no_base(instance: dg.DagsterInstance) -> None:
    night(instance, {item: scores(10)[item] for item in ITEMS[:4]})
    result, _ = night(instance, scores(4))
    assert result.passed
    assert result.metadata["items_compared"].value == 4
    assert "6 items have none yet" in str(result.description)
    assert not night(instance, scores(3))[0].passed
    assert night(instance, scores(4))[0].metadata["items_compared"].value == 10


def test_every_policy_has_a_base_of_its_own(instance: dg.DagsterInstance) -> None:
    night(instance, scores(8), "calibrated")
    other, run_id = night(instance, scores(4), "fixed-k:4")
    assert other.passed
    assert (
        other.description == "No earlier run under policy fixed-k:4 that passed: this one is what the next must match."
    )
    result, _ = night(instance, scores(4), "calibrated")
    assert not result.passed
    assert "Base under policy calibrated: " in str(result.description)
    result, _ = night(instance, scores(4), "fixed-k:4")
    assert result.description == f"Nothing moved. Base under policy fixed-k:4: 10 items of run {run_id[:8]}."
    assert last_passing(instance, "suite") is None, "scores without a policy are none of them"


def test_many_runs_that_fell_do_not_bury_the_base(instance: dg.DagsterInstance) -> None:
    store(instance, judged(None, scores(6))[1])
    fell = judged(earlier(6), scores(3))[1]
    for _ in range(110):
        instance.report_runless_asset_event(dg.AssetMaterialization("suite", metadata=fell))
    base = last_passing(instance, "suite", items=ITEMS)
    assert base is not None
    assert base.scores == scores(6)


MANY = [f"item-{number:03}" for number in range(100)]


def many(right: frozenset[int]) -> dict[str, dict[str, float]]:
    """A hundred items, of which these succeed."""
    return {item: {"success": float(place in right)} for place, item in enumerate(MANY)}


def judged_many(base: Base | None, right: frozenset[int], *, accept: bool = False) -> tuple[bool, str, Metadata]:
    clusters = {item: item for item in MANY}
    result, metadata = gate(
        "gate", base, many(right), clusters=clusters, metrics=("success",), accept=accept, policy=None
    )
    return bool(result.passed), str(result.description), metadata


def test_ten_steps_down_of_two_points_are_caught_by_the_third(instance: dg.DagsterInstance) -> None:
    """Each step loses three items and regains one, so that none falls by much against the night before."""
    right = frozenset(range(100))
    store(instance, judged_many(None, right)[2])
    verdicts = []
    for step in range(10):
        lost = {3 * step, 3 * step + 1, 3 * step + 2}
        right = right - lost | ({3 * step - 3} if step else set())
        passed, said, metadata = judged_many(last_passing(instance, "suite", items=MANY), right)
        verdicts.append(passed)
        store(instance, metadata)
    assert verdicts == [True] + [False] * 9 or verdicts == [True, True] + [False] * 8
    assert "against run " in said
    assert "against the run that was accepted last, or the first one" in said


def test_steps_that_outlast_the_memory_are_caught_by_the_floor(instance: dg.DagsterInstance) -> None:
    right = frozenset(range(100))
    floor = {"success": 1.0}
    assert judged_many(None, right)[2]["gate_floor"].value == floor
    bases = Base(many(right - {0, 1, 2}), dict.fromkeys(MANY, "0" * 32), {}, floor)  # the best run is forgotten
    assert judged_many(bases, right - {0, 1, 2, 3})[0]
    passed, said, metadata = judged_many(bases, right - {0, 1, 2, 3, 4})
    assert not passed
    assert "success is -0.05 against the run that was accepted last" in said
    assert metadata["gate_floor"].value == floor
    accepted = judged_many(bases, right - {0, 1, 2, 3, 4}, accept=True)
    assert accepted[0]
    assert accepted[2]["gate_floor"].value == {"success": 0.95}


def test_what_a_person_accepted_is_what_later_runs_are_measured_by(instance: dg.DagsterInstance) -> None:
    store(instance, judged_many(None, frozenset(range(100)))[2])
    for accept, passes in ((False, False), (True, True), (False, True)):
        base = last_passing(instance, "suite", items=MANY)
        passed, _, metadata = judged_many(base, frozenset(range(80)), accept=accept)
        assert passed is passes
        store(instance, metadata)
    few = last_passing(instance, "suite", items=MANY[:10])
    assert few is not None
    assert (few.recent, few.floor) == ({}, {})  # another sample is nothing to take a mean of


@pytest.mark.slow
@pytest.mark.parametrize(("items", "uncertain"), [(120, 0.0), (240, 0.05), (240, 0.1), (480, 0.1)])
def test_a_loss_of_five_points_is_caught_and_unchanged_nights_are_not(items: int, uncertain: float) -> None:
    """Of `items` a share is uncertain: right on some nights with a probability of its own. 30 nights before, then one
    that is unchanged and one on which a twentieth of all items fail that were right."""
    random = np.random.default_rng(items)
    names = [f"item-{number}" for number in range(items)]
    caught = false = 0
    nights = 100
    for _ in range(nights):
        sure = random.random(items) < 0.8
        unsure = random.choice(items, round(uncertain * items), replace=False)
        chance = random.uniform(0.5, 0.95, items)

        def night(
            lost: Sequence[int] = (),
            sure: Any = sure,
            unsure: Any = unsure,
            chance: Any = chance,
        ) -> dict[str, dict[str, float]]:
            right = sure.astype(float)
            right[unsure] = random.random(len(unsure)) < chance[unsure]
            right[list(lost)] = 0.0
            return {name: {"success": float(value)} for name, value in zip(names, right, strict=True)}

        before = {f"{number:032}": night() for number in range(RECENT)}
        newest = next(iter(before))
        floor = {"success": float(np.mean([row["success"] for row in night().values()]))}
        base = Base(before[newest], dict.fromkeys(names, newest), before, floor)
        certain = np.flatnonzero(sure & ~np.isin(np.arange(items), unsure))
        lost = random.choice(certain, round(0.05 * items), replace=False)
        clusters = {name: name for name in names}
        for now, is_worse in ((night(), False), (night(lost.tolist()), True)):
            result, _ = gate("gate", base, now, clusters=clusters, metrics=("success",), accept=False)
            caught += is_worse and not result.passed
            false += not is_worse and not result.passed
    assert caught >= 0.95 * nights
    assert false <= 0.01 * nights
