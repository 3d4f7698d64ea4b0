"""Sensor `corpus_changes`: writers outside Dagster become visible, nothing is lost, nothing is said twice."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import CodeType, FunctionType

import dagster as dg
import psycopg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest

from tests.dagster.corpus_runs import (
    GREEN,
    KEY,
    LATER,
    LAYERS,
    OTHER,
    SITE,
    add,
    materialized,
    run_job,
    tea_site,
    version,
)
from tests.dagster.small_warc import write_site
from tests.local_site import page
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import load_settings
from webrag_core.indexing.pipeline import Corpus
from webrag_dagster.corpus.runs import ANSWERS, activity
from webrag_dagster.defs.corpus_changes import corpus_changes
from webrag_dagster.resources import CorpusResource

pytestmark = pytest.mark.slow


class Sensor:
    """Ticks of the sensor, as the daemon makes them."""

    def __init__(self, instance: dg.DagsterInstance, definitions: dg.Definitions) -> None:
        self.instance, self.definitions = instance, definitions
        self.cursor: str | None = None

    def tick(self) -> tuple[list[tuple[str, str]], list[dg.RunRequest]]:
        """(asset, partition) of the events, which are stored, and the run requests."""
        with dg.build_sensor_context(
            instance=self.instance,
            instance_ref=self.instance.get_ref(),
            cursor=self.cursor,
            repository_def=self.definitions.get_repository_def(),
            resources={"corpus": CorpusResource()},
        ) as context:
            result = corpus_changes.evaluate_tick(context)
        self.cursor = result.cursor
        events = []
        for event in result.asset_events:
            assert isinstance(event, dg.AssetMaterialization)
            self.instance.report_runless_asset_event(event)
            events.append((event.asset_key.to_user_string(), str(event.partition)))
        return events, list(result.run_requests or [])


@pytest.fixture
def instance(stored_instance: dg.DagsterInstance) -> dg.DagsterInstance:
    """Run requests for partitions want one that can be opened again."""
    return stored_instance


@pytest.fixture
def sensor(instance: dg.DagsterInstance, definitions: dg.Definitions, corpus_environment: str) -> Sensor:
    """The sensor before its first tick."""
    return Sensor(instance, definitions)


def all_of(key: str) -> list[tuple[str, str]]:
    return [(name, key) for name in LAYERS]


def test_what_the_command_line_brought_appears_with_its_partition_once(
    sensor: Sensor, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    tea_site(tmp_path)
    assert sensor.tick() == (all_of(KEY), [])
    assert instance.get_dynamic_partitions("webrag_source") == [KEY]
    assert sensor.tick() == ([], [])


def test_only_layers_with_other_content_are_told(sensor: Sensor, tmp_path: Path) -> None:
    tea_site(tmp_path)
    sensor.tick()
    refresh(write_site(tmp_path / "later.warc.gz", LATER), GREEN)
    assert sensor.tick() == ([("documents", KEY), ("chunks", KEY), ("embeddings", KEY)], [])
    refresh(write_site(tmp_path / "same.warc.gz", LATER), GREEN)
    assert sensor.tick() == ([], [])


def refresh(warc: Path, *urls: str) -> None:
    """Ask for pages again outside Dagster."""

    async def work() -> None:
        async with Corpus.open(load_settings(), WarcAcquirer(warc)) as corpus:
            for url in urls:
                await corpus.add(url, refresh=True)

    asyncio.run(work())


def test_what_a_run_made_and_reported_is_not_told_again(
    sensor: Sensor, definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    site = tea_site(tmp_path)
    sensor.tick()
    assert run_job(definitions, instance, write_site(tmp_path / "later.warc.gz", LATER)).success
    assert sensor.tick() == ([], [])
    assert site.exists()


def test_events_leave_nothing_to_the_automation_but_to_look_at_the_quotes(
    sensor: Sensor, definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    select = dg.AssetSelection.groups("corpus")
    first = dg.evaluate_automation_conditions(definitions, instance, asset_selection=select)
    tea_site(tmp_path)
    sensor.tick()
    after = dg.evaluate_automation_conditions(definitions, instance, asset_selection=select, cursor=first.cursor)
    assert after.get_num_requested(dg.AssetKey("citations")) == after.total_requested == 1


def test_what_is_told_is_not_shown_as_out_of_date(
    sensor: Sensor, definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    """Also while nobody has looked at the site yet."""
    tea_site(tmp_path)
    sensor.tick()
    graph = definitions.get_repository_def().asset_graph
    resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
    statuses = {name: resolver.get_status(dg.AssetKey(name), KEY) for name in LAYERS}
    assert set(statuses.values()) == {StaleStatus.FRESH}, statuses


def test_a_source_that_a_run_works_on_waits_and_is_told_when_the_run_ended_without_telling(
    sensor: Sensor, definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    running = instance.create_run_for_job(definitions.resolve_job_def("refresh"), tags={"dagster/partition": KEY})
    both = write_site(tmp_path / "both.warc.gz", {**SITE, OTHER: page("Coffee", "Coffee is brewed hot.")})
    add(both, *SITE, OTHER)
    assert sensor.tick() == (all_of("coffee.example"), [])
    assert sensor.tick() == ([], [])
    assert json.loads(str(sensor.cursor))["waiting"] == [KEY]
    instance.report_run_canceled(running)  # it was killed
    assert sensor.tick() == (all_of(KEY), [])
    assert sensor.tick() == ([], [])


def names_used(function: FunctionType, seen: set[FunctionType]) -> set[str]:
    """Names and modules that a function of this project uses, with those of the functions that it calls."""
    seen.add(function)
    names: set[str] = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names |= set(code.co_names)
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    known = [function.__globals__[name] for name in names & set(function.__globals__)]
    for called in (*known, *(cell.cell_contents for cell in function.__closure__ or ())):  # what a factory was given
        if isinstance(called, FunctionType) and called.__module__.startswith("webrag_") and called not in seen:
            names |= names_used(called, seen)
    return names


def jobs_that_answer(definitions: dg.Definitions) -> list[dg.JobDefinition]:
    """Those with an op that reports the pages of any source that it touched."""
    answering = []
    for job in definitions.get_repository_def().get_all_jobs():
        steps = [node for node in job.all_node_defs if isinstance(node, dg.OpDefinition)]
        functions = [getattr(node.compute_fn, "decorated_fn", node.compute_fn) for node in steps]
        if any("reporting_services" in names_used(one, set()) for one in functions if isinstance(one, FunctionType)):
            answering.append(job)
    return answering


def test_while_a_question_is_being_answered_everything_waits(
    sensor: Sensor, definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    """Whichever job answers it: they are known by what they do."""
    jobs = jobs_that_answer(definitions)
    assert len(jobs) > 1
    tea_site(tmp_path)
    for job in jobs:
        waiting = instance.create_run_for_job(job, tags=job.run_tags)  # as every launcher does
        assert not activity(instance).answering, "it waits in the queue"
        instance.report_run_canceled(waiting)
        answering = instance.create_run_for_job(job, tags=job.run_tags, status=dg.DagsterRunStatus.STARTED)
        assert activity(instance).answering, job.name
        assert sensor.tick() == ([], []), job.name
        instance.report_run_canceled(answering)
        assert not activity(instance).answering
    others = [job for job in definitions.get_repository_def().get_all_jobs() if job not in jobs]
    assert not [job.name for job in others if job.run_tags.items() >= ANSWERS.items()]
    assert sensor.tick() == (all_of(KEY), [])


@pytest.mark.parametrize(("limit", "value"), [("SECONDS", 0.001), ("MOST", 1)])
def test_sources_that_a_tick_has_no_time_for_are_told_by_the_next(
    sensor: Sensor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: float
) -> None:
    monkeypatch.setattr(f"webrag_dagster.defs.corpus_changes.{limit}", value)
    monkeypatch.setattr("webrag_dagster.defs.corpus_changes._AT_ONCE", 1)
    both = write_site(tmp_path / "both.warc.gz", {**SITE, OTHER: page("Coffee", "Coffee is brewed hot.")})
    add(both, *SITE, OTHER)
    assert sensor.tick() == (all_of("coffee.example"), [])
    assert sensor.tick() == (all_of(KEY), [])
    assert sensor.tick() == ([], [])


def test_a_line_of_a_slow_writer_is_read_late_and_not_lost(
    sensor: Sensor, tmp_path: Path, corpus_environment: str
) -> None:
    tea_site(tmp_path)
    sensor.tick()
    with psycopg.connect(corpus_environment) as slow, psycopg.connect(corpus_environment, autocommit=True) as quick:
        log = (
            "INSERT INTO corpus_log (source_id, document_id, change) SELECT s.id, 0, 'failed' FROM sources s"
            " WHERE s.key = %s"
        )
        slow.execute(log, (KEY,))  # draws the lower number, and is not committed yet
        add(write_site(tmp_path / "other.warc.gz", {OTHER: page("Coffee", "Coffee is brewed hot.")}), OTHER)
        quick.execute("UPDATE documents SET status = 'ready' WHERE status = 'ready'")
        assert sensor.tick() == ([], []), "whoever wrote beside it waits for it"
        slow.execute(
            "UPDATE document_versions SET sha256 = repeat('0', 64) WHERE document_id ="
            " (SELECT id FROM documents WHERE canonical_url = %s)",
            (GREEN,),
        )
        slow.commit()
    events, _ = sensor.tick()
    assert set(events) >= {*all_of("coffee.example"), ("documents", KEY)}


@pytest.mark.parametrize("cursor", ["", "17", "{}", '{"corpus": "another/1", "horizon": 99999999, "waiting": []}'])
def test_a_cursor_of_another_corpus_or_none_at_all_begins_again_and_repeats_nothing(
    sensor: Sensor, tmp_path: Path, cursor: str
) -> None:
    tea_site(tmp_path)
    sensor.cursor = cursor
    assert sensor.tick() == (all_of(KEY), [])
    sensor.cursor = cursor
    assert sensor.tick() == ([], [])


def test_pages_that_somebody_left_half_way_are_finished_by_a_run(
    sensor: Sensor, definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path, corpus_environment: str
) -> None:
    tea_site(tmp_path)
    sensor.tick()
    later = write_site(tmp_path / "later.warc.gz", LATER)

    async def stop_after_reading() -> None:
        async with Corpus.open(load_settings(), WarcAcquirer(later)) as corpus:
            await corpus.ingestor.ingest(GREEN, refresh=True)

    asyncio.run(stop_after_reading())
    assert sensor.tick()[1] == [], "whoever reads a page usually indexes it a moment later"
    with psycopg.connect(corpus_environment, autocommit=True) as connection:
        connection.execute("UPDATE document_versions SET fetched_at = fetched_at - interval '1 hour'")
    [request] = sensor.tick()[1]
    assert request.partition_key == KEY
    assert dg.validate_run_config(definitions.resolve_job_def("index"), request.run_config)
    assert sensor.tick()[1][0].run_key == request.run_key, "Dagster starts a run key once"
    assert run_job(definitions, instance, later, job="index").success
    assert sensor.tick() == ([], [])
    before, after = (version(event) for event in materialized(instance, "embeddings")[:2])
    assert before != after
