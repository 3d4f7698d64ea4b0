"""Sensor `refresh_due`: who is asked for, how many at a time, and what is never asked for twice."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import dagster as dg
import psycopg
import pytest

from webrag_core.config import load_settings
from webrag_core.corpus.refresh_store import WHOLE
from webrag_core.store.database import Database
from webrag_dagster.defs.refresh import refresh_due
from webrag_dagster.resources import CorpusResource

Tick = Callable[[], list[dg.RunRequest]]


@pytest.fixture
def database(corpus_environment: str) -> str:
    """A migrated database without any source."""

    async def work() -> None:
        async with await Database.open(load_settings()):
            pass

    asyncio.run(work())
    return corpus_environment


@pytest.fixture
def instance(stored_instance: dg.DagsterInstance) -> dg.DagsterInstance:
    """A sensor wants one that can be opened again."""
    return stored_instance


@pytest.fixture
def tick(database: str, instance: dg.DagsterInstance, definitions: dg.Definitions) -> Tick:
    """One tick: its requests."""

    def evaluate() -> list[dg.RunRequest]:
        with dg.build_sensor_context(instance=instance, repository_def=definitions.get_repository_def()) as context:
            return [one for one in refresh_due(context, corpus=CorpusResource()) if isinstance(one, dg.RunRequest)]

    return evaluate


def attach(database: str, *keys: str, pool: str | None = None, shards: int = 1, hours: float = 24) -> None:
    """Sources as files or the command line attach them."""
    with psycopg.connect(database, autocommit=True) as connection:
        for key in keys:
            connection.execute(
                "INSERT INTO sources (key, seed_url, page_limit, pool, shards, refresh_hours)"
                " VALUES (%s, %s, 100, %s, %s, %s)",
                (key, f"https://{key}/", pool, shards, hours),
            )


def refreshed(database: str, key: str, ago: timedelta, run_id: str = "before", shard: int = WHOLE) -> None:
    """A refresh that happened."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO refresh_runs (source_id, run_id, shard, started_at, discovered, fetched, unchanged, failed,"
            " skipped, not_due) SELECT id, %s, %s, %s, 0, 0, 0, 0, 0, 0 FROM sources WHERE key = %s",
            (run_id, shard, datetime.now(UTC) - ago, key),
        )


def page(database: str, key: str, due_in: timedelta, *, text: str | None = "Tea is brewed.") -> None:
    """A page of a source, with its next check; without `text` one that never gave any."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("INSERT INTO sources (key) VALUES (%s) ON CONFLICT DO NOTHING", (key,))
        connection.execute(
            "INSERT INTO documents (source_id, canonical_url, next_check)"
            " SELECT id, %s, %s FROM sources WHERE key = %s",
            (f"https://{key}/{due_in}", datetime.now(UTC) + due_in, key),
        )
        if text is not None:
            connection.execute(
                "INSERT INTO document_versions (document_id, number, markdown, sha256, http_status, media_type,"
                " fetched_at, extractor) SELECT id, 1, %s, %s, 200, 'text/html', now(), 'test' FROM documents"
                " WHERE canonical_url = %s",
                (text, hashlib.sha256(text.encode()).hexdigest(), f"https://{key}/{due_in}"),
            )


def keys(requests: list[dg.RunRequest]) -> list[str | None]:
    return [request.partition_key for request in requests]


def test_nothing_due_is_a_skip_with_its_reason(tick: Tick) -> None:
    assert tick() == []


def test_a_new_source_is_due_at_once_and_is_registered(
    tick: Tick, database: str, instance: dg.DagsterInstance, definitions: dg.Definitions
) -> None:
    attach(database, "tea.example", pool="slow")
    [request] = tick()
    assert request.partition_key == "tea.example"
    assert request.tags["webrag/pool"] == "slow"
    assert instance.get_dynamic_partitions("webrag_source") == ["tea.example"]
    job = definitions.resolve_job_def("refresh")
    assert dg.validate_run_config(job, request.run_config)
    assert request.run_config == {"ops": {"documents": {"config": {"pages": "due"}}}}


def test_a_source_is_due_at_its_cadence_and_the_longest_due_comes_first(tick: Tick, database: str) -> None:
    attach(database, "tea.example", "coffee.example", "water.example", hours=24)
    refreshed(database, "tea.example", timedelta(hours=25))
    refreshed(database, "coffee.example", timedelta(hours=90))
    refreshed(database, "water.example", timedelta(hours=23))
    assert keys(tick()) == ["coffee.example", "tea.example"]


def test_a_page_that_is_due_makes_its_source_due_but_not_again_and_again(tick: Tick, database: str) -> None:
    page(database, "found.example", timedelta(minutes=-5))
    page(database, "fresh.example", timedelta(days=3))
    assert keys(tick()) == ["found.example"]
    refreshed(database, "found.example", timedelta(hours=1))
    page(database, "found.example", timedelta(minutes=-4))
    assert tick() == []


def test_a_host_that_nobody_attached_and_that_never_gave_a_page_is_left_alone(
    tick: Tick, database: str, instance: dg.DagsterInstance
) -> None:
    page(database, "mistyped.example", timedelta(days=-40), text=None)
    assert tick() == []
    page(database, "works.example", timedelta(days=-39))
    page(database, "works.example", timedelta(days=-40), text=None)
    attach(database, "attached.example")
    page(database, "attached.example", timedelta(days=-38), text=None)
    refreshed(database, "attached.example", timedelta(hours=7))
    assert keys(tick()) == ["works.example", "attached.example"]
    assert "mistyped.example" not in instance.get_dynamic_partitions("webrag_source")


def test_a_request_has_the_same_key_until_the_refresh_has_happened_or_a_day_has_passed(
    tick: Tick, database: str
) -> None:
    attach(database, "tea.example")
    first, again = tick(), tick()
    assert first[0].run_key == again[0].run_key
    assert str(first[0].run_key).endswith(f"{datetime.now(UTC):%Y-%m-%d}")
    refreshed(database, "tea.example", timedelta(hours=30))
    assert tick()[0].run_key != first[0].run_key


@pytest.mark.slow
def test_after_a_downtime_of_weeks_every_source_is_asked_for_once_and_in_slices(
    tick: Tick,
    database: str,
    instance: dg.DagsterInstance,
    definitions: dg.Definitions,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    most = 2
    monkeypatch.setattr("webrag_dagster.defs.refresh.MOST_RUNS", most)
    names = [f"site-{number:02d}.example" for number in range(most + 3)]
    attach(database, *names, hours=1)
    for number, name in enumerate(names):
        refreshed(database, name, timedelta(days=30, minutes=-number))
    first = tick()
    assert keys(first) == names[:most], "one request each, however many cadences have passed"
    job = definitions.resolve_job_def("refresh")
    for request in first:
        instance.create_run_for_job(job, tags={**request.tags, "dagster/partition": str(request.partition_key)})
    assert tick() == [], "there is no room while these wait"
    for run in instance.get_runs()[-2:]:
        refreshed(database, run.tags["dagster/partition"], timedelta(0), run_id=run.run_id)
        instance.report_run_canceled(run)
    assert keys(tick()) == names[most : most + 2]


def test_a_source_that_is_being_worked_on_or_paused_is_left_out(
    tick: Tick, database: str, instance: dg.DagsterInstance, definitions: dg.Definitions
) -> None:
    attach(database, "tea.example", "coffee.example", "water.example")
    instance.create_run_for_job(definitions.resolve_job_def("refresh"), tags={"dagster/partition": "tea.example"})
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE sources SET paused = true WHERE key = 'coffee.example'")
    assert keys(tick()) == ["water.example"]


def test_every_shard_of_a_large_source_is_due_by_itself(tick: Tick, database: str) -> None:
    attach(database, "large.example", shards=3)
    refreshed(database, "large.example", timedelta(hours=1), shard=1)
    assert keys(tick()) == ["large.example~00of03", "large.example~02of03"]
    refreshed(database, "large.example", timedelta(hours=1), run_id="by the command line", shard=WHOLE)
    assert tick() == []


@pytest.mark.slow
def test_runs_of_others_never_stop_refreshes(
    tick: Tick,
    database: str,
    instance: dg.DagsterInstance,
    definitions: dg.Definitions,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A backfill of other assets, another team's queue, an answer that waits: none of them asks a site."""
    monkeypatch.setattr("webrag_dagster.defs.refresh.MOST_RUNS", 2)
    attach(database, "tea.example", "coffee.example", "water.example")
    index = definitions.resolve_job_def("index")
    for key in ("tea.example", "coffee.example", "water.example"):
        instance.create_run_for_job(index, tags={"dagster/partition": key})
    for _ in range(3):
        instance.create_run_for_job(definitions.resolve_job_def("answer"))
    first = tick()
    assert len(first) == 2
    refresh = definitions.resolve_job_def("refresh")
    instance.create_run_for_job(refresh, tags={**first[0].tags, "dagster/partition": str(first[0].partition_key)})
    second = tick()
    assert len(second) == 1
    assert first[0].partition_key not in keys(second)
