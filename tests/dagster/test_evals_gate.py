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


def judged(
    base: Base | None, now: Mapping[str, Mapping[str, float]], *, accept: bool = False
) -> tuple[dg.AssetCheckResult, Metadata]:
    return gate("gate", base, now, clusters=CLUSTERS, metrics=("success",), accept=accept)


def kept(metadata: Metadata) -> tuple[object, object]:
    return metadata[PASSED].value, metadata[SCORES].value


def store(instance: dg.DagsterInstance, metadata: Metadata) -> None:
    instance.report_runless_asset_event(dg.AssetMaterialization("suite", metadata=metadata))


def test_the_first_run_passes_and_is_what_the_next_must_match() -> None:
    result, metadata = judged(None, scores(6))
    assert result.passed
    assert kept(metadata) == (True, scores(6))


def test_a_fall_fails_and_names_the_items() -> None:
    result, metadata = judged(Base("0" * 32, scores(6)), scores(3))
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
    result, metadata = judged(Base("0" * 32, scores(6)), scores(3), accept=True)
    assert result.passed
    assert str(result.description).startswith("Accepted although it fell")
    assert kept(metadata) == (True, scores(3))


def test_a_smaller_sample_is_compared_on_the_items_that_both_asked() -> None:
    few = {item: scores(6)[item] for item in ITEMS[:4]}
    result, _ = judged(Base("0" * 32, scores(6)), few)
    assert result.passed
    assert result.metadata["items_compared"].value == 4


def test_the_base_is_the_newest_run_that_passed(instance: dg.DagsterInstance) -> None:
    assert last_passing(instance, "suite") is None
    store(instance, judged(None, scores(6))[1])
    store(instance, judged(Base("0" * 32, scores(6)), scores(3))[1])
    base = last_passing(instance, "suite")
    assert base is not None
    assert base.scores == scores(6), "a run that fell is nothing to be measured by"
    store(instance, judged(base, scores(7))[1])
    newest = last_passing(instance, "suite")
    assert newest is not None
    assert newest.scores == scores(7)
