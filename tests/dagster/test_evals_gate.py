"""The gate between evaluation runs: what passes, what it says, what the next run is compared with."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from webrag_dagster.evaluation.gate import PASSED, SCORES, Base, gate, last_passing
from webrag_dagster.metadata import Metadata

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
