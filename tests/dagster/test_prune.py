"""Old runs go, on both kinds of storage; newest events of assets and partitions, and scores of gates, stay."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest
import yaml

from tests.conftest import REPOSITORY
from webrag_dagster.defs import prune
from webrag_dagster.evaluation.gate import SCORES

pytestmark = pytest.mark.slow

KEYS = dg.StaticPartitionsDefinition(["tea.example", "milk.example"])


@dg.asset(partitions_def=KEYS)
def kettle(context: dg.AssetExecutionContext) -> dg.MaterializeResult:  # type: ignore[type-arg]
    context.log.info("boiling")
    return dg.MaterializeResult(data_version=dg.DataVersion("v1"))


@dg.asset
def taste() -> dg.MaterializeResult:  # type: ignore[type-arg]
    return dg.MaterializeResult(metadata={SCORES: dg.MetadataValue.json({})})


@dg.asset
def cup() -> None:
    """Nothing."""


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


def make(instance: dg.DagsterInstance, asset: dg.AssetsDefinition, key: str | None = None) -> str:
    done = dg.materialize([asset], instance=instance, partition_key=key)
    assert done.success
    return str(done.run_id)


def run_prune(instance: dg.DagsterInstance, days: int) -> dg.ExecuteInProcessResult:
    job = dg.GraphDefinition("only_runs", node_defs=[prune.prune_runs]).to_job()
    config = {"ops": {"prune_runs": {"config": {"days": days}}}}
    return job.execute_in_process(instance=instance, run_config=config, raise_on_error=False)


def test_old_runs_go_and_what_is_up_to_date_stays(stored: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    superseded = make(stored, kettle, "tea.example")
    newest = [make(stored, kettle, "tea.example"), make(stored, kettle, "milk.example")]
    scores = [make(stored, taste) for _ in range(2)]
    old_cup, new_cup = make(stored, cup), make(stored, cup)
    assert run_prune(stored, 90).success
    assert stored.get_run_by_id(superseded) is not None, "nothing is 90 days old"

    monkeypatch.setattr(prune, "datetime", _InHundredDays)
    done = run_prune(stored, 90)
    assert done.success
    assert [run_id for run_id in (superseded, old_cup) if stored.get_run_by_id(run_id) is not None] == []
    assert stored.all_logs(superseded) == []
    assert all(stored.get_run_by_id(run_id) is not None for run_id in (*newest, *scores, new_cup))
    records = stored.fetch_materializations(dg.AssetKey("kettle"), limit=100).records
    assert {record.partition_key: record.run_id for record in records} == {
        "tea.example": newest[0],
        "milk.example": newest[1],
    }
    assert stored.get_materialized_partitions(dg.AssetKey("kettle")) == set(KEYS.get_partition_keys())
    assert len(stored.fetch_materializations(dg.AssetKey("taste"), limit=10).records) == 2


class _InHundredDays(datetime):
    @classmethod
    def now(cls, tz: object = None) -> datetime:
        return datetime.fromtimestamp(datetime.now(UTC).timestamp() + 100 * 86400, UTC)


def test_days_below_one_are_refused(stored: dg.DagsterInstance) -> None:
    assert not run_prune(stored, 0).success


@pytest.mark.usefixtures("corpus_environment")
def test_the_job_runs_with_its_defaults_every_night(definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
    repository = definitions.get_repository_def()
    with dg.build_schedule_context(
        instance=instance, scheduled_execution_time=datetime(2026, 1, 2, tzinfo=UTC)
    ) as context:
        [request] = repository.get_schedule_def("nightly_prune").evaluate_tick(context).run_requests or []
    job = definitions.resolve_job_def("prune")
    assert dg.validate_run_config(job, request.run_config)
    done = job.execute_in_process(instance=instance, run_config=request.run_config)
    assert done.success


def test_runs_of_another_code_location_stay(stored: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        dg.materialize([cup], instance=stored, tags={".dagster/repository": "__repository__@kitchen"})
    foreign = {run.run_id for run in stored.get_runs()}
    ours = [make(stored, cup) for _ in range(2)]
    monkeypatch.setattr(prune, "datetime", _InHundredDays)
    assert run_prune(stored, 90).success
    remaining = {run.run_id for run in stored.get_runs()}
    assert foreign <= remaining
    assert ours[0] not in remaining
