"""Old events go, on both kinds of storage; what says that something is up to date, and why a run failed, stays."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
import yaml

from tests.conftest import REPOSITORY
from webrag_core.errors import InvalidInputError
from webrag_dagster.retention import prune

KEYS = dg.StaticPartitionsDefinition(["tea.example", "milk.example"])


@dg.asset(partitions_def=KEYS, check_specs=[dg.AssetCheckSpec("hot", asset="kettle")])
def kettle(context: dg.AssetExecutionContext) -> dg.MaterializeResult:  # type: ignore[type-arg]
    context.log.info("boiling")
    return dg.MaterializeResult(
        data_version=dg.DataVersion("v1"), check_results=[dg.AssetCheckResult(passed=True, check_name="hot")]
    )


@dg.op
def spill() -> None:
    raise dg.Failure("the kettle is empty")


@dg.job
def tea() -> None:
    spill()


@pytest.fixture(params=["sqlite", "postgres"])
def stored(request: pytest.FixtureRequest, tmp_path: Path, database_url: str) -> Iterator[dg.DagsterInstance]:
    """A real instance: the one of dagster.yaml, or the same with its storage in PostgreSQL."""
    settings = yaml.safe_load((REPOSITORY / "dagster.yaml").read_text())
    settings["storage"] = {"sqlite": {"base_dir": str(tmp_path / "sqlite")}}
    if request.param == "postgres":
        address = database_url.replace("postgresql://", "postgresql+psycopg2://", 1)
        settings["storage"] = {"postgres": {"postgres_url": address}}
    for part in ("local_artifact_storage", "compute_logs"):
        settings[part]["config"]["base_dir"] = str(tmp_path / part)
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(settings))
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        yield instance


def boil(instance: dg.DagsterInstance, key: str) -> str:
    done = dg.materialize([kettle], instance=instance, partition_key=key)
    assert done.success
    return str(done.run_id)


def kinds(instance: dg.DagsterInstance, run_id: str) -> set[str]:
    return {entry.dagster_event_type.value if entry.dagster_event_type else "message"
            for entry in instance.all_logs(run_id)}  # fmt: skip


def count(instance: dg.DagsterInstance) -> int:
    return len(instance.fetch_materializations(dg.AssetKey("kettle"), limit=100).records)


def test_log_rows_go_and_what_happened_to_assets_stays(stored: dg.DagsterInstance) -> None:
    run_id = boil(stored, "tea.example")
    failed = tea.execute_in_process(instance=stored, raise_on_error=False).run_id
    assert "message" in kinds(stored, run_id)
    assert prune(stored, now=datetime.now(UTC) + timedelta(days=29), log_days=30, asset_days=365).log_rows == 0
    done = prune(stored, now=datetime.now(UTC) + timedelta(days=31), log_days=30, asset_days=365)
    assert (done.runs, done.asset_rows, done.check_rows) == (2, 0, 0)
    assert done.log_rows > 10
    assert kinds(stored, run_id) == {
        "ASSET_MATERIALIZATION_PLANNED",
        "ASSET_CHECK_EVALUATION_PLANNED",
        "PIPELINE_START",
        "ASSET_MATERIALIZATION",
        "ASSET_CHECK_EVALUATION",
        "PIPELINE_SUCCESS",
    }
    assert kinds(stored, failed) == {"PIPELINE_START", "STEP_FAILURE", "PIPELINE_FAILURE"}
    again = prune(stored, now=datetime.now(UTC) + timedelta(days=31, hours=1), log_days=30, asset_days=365)
    assert (again.runs, again.log_rows) == (0, 0), "a pruned run is not visited again"


def test_of_old_asset_events_the_newest_of_each_partition_stays(stored: dg.DagsterInstance) -> None:
    runs = [boil(stored, key) for key in ("tea.example", "tea.example", "milk.example")]
    assert count(stored) == 3
    done = prune(stored, now=datetime.now(UTC) + timedelta(days=366), log_days=30, asset_days=365)
    assert done.asset_rows > 0
    records = stored.fetch_materializations(dg.AssetKey("kettle"), limit=100).records
    assert {(record.partition_key, record.run_id) for record in records} == {
        ("tea.example", runs[1]),
        ("milk.example", runs[2]),
    }
    for record in records:
        assert record.asset_materialization is not None
        assert (record.asset_materialization.tags or {})["dagster/data_version"] == "v1"
    assert stored.get_materialized_partitions(dg.AssetKey("kettle")) == set(KEYS.get_partition_keys())
    check = stored.get_latest_asset_check_evaluation_record(dg.AssetCheckKey(dg.AssetKey("kettle"), "hot"))
    assert check is not None
    assert check.run_id == runs[2]


def test_the_last_day_is_never_deleted(instance: dg.DagsterInstance) -> None:
    with pytest.raises(InvalidInputError, match="at least 1 day"):
        prune(instance, now=datetime.now(UTC), log_days=0, asset_days=365)


def test_the_job_runs_with_its_defaults_every_night(definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
    repository = definitions.get_repository_def()
    context = dg.build_schedule_context(instance=instance, scheduled_execution_time=datetime(2026, 1, 2, tzinfo=UTC))
    [request] = repository.get_schedule_def("nightly_prune").evaluate_tick(context).run_requests or []
    job = definitions.resolve_job_def("prune_events")
    assert dg.validate_run_config(job, request.run_config)
    done = job.execute_in_process(instance=instance, run_config=request.run_config)
    assert done.success
