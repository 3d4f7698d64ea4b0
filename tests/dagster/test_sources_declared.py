"""Files, command line and partitions agree on what the sources are."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.dagster.corpus_runs import KEY, materialized, run_job, tea_site
from tests.provider_server import serving
from webrag_core.cli.main import app
from webrag_core.corpus.declared import Declaration, apply_declarations
from webrag_core.corpus.sources import Source, list_sources, shard_keys
from webrag_core.store.database import Database
from webrag_dagster.broken_source import MISTAKE
from webrag_dagster.components import CuratedSource
from webrag_dagster.defs.corpus_changes import corpus_changes
from webrag_dagster.defs.declared_sources import declared_sources
from webrag_dagster.resources import CorpusResource

GUIDE = f"{KEY}/guide"
TEA = {"seed": f"https://{GUIDE}/", "pages": 20, "refresh": "12h", "pool": "slow"}
Tick = Callable[..., str]


@pytest.fixture
def tick(corpus_environment: str, instance: dg.DagsterInstance) -> Tick:
    """One tick of the sensor with these files loaded; returns what it says."""

    cursor: str | None = None

    def evaluate(*files: dict[str, Any], broken: str | None = None) -> str:
        nonlocal cursor
        specs = []
        if broken is not None:
            mistake = dg.MetadataValue.json({"file": broken, "reason": "seed: Field required"})
            specs.append(dg.AssetSpec(["sources", "broken"], metadata={MISTAKE: mistake}))
        for attributes in files:
            source = CuratedSource.from_attributes_dict(attributes=attributes)
            name = source.key.replace(".", "_").replace("/", "_")
            specs.append(
                dg.AssetSpec(
                    ["sources", name],
                    metadata={"webrag/declaration": dg.MetadataValue.json(source.declaration(f"defs/{name}"))},
                )
            )
        definitions = dg.Definitions(assets=specs)
        with dg.build_sensor_context(instance=instance, definitions=definitions, cursor=cursor) as context:
            result = declared_sources(context, corpus=CorpusResource())
        assert isinstance(result, dg.SensorResult)
        cursor = result.cursor
        return str(result.skip_reason and result.skip_reason.skip_message)

    return evaluate


def stored(url: str) -> dict[str, Source]:
    """The table of sources."""

    async def work() -> dict[str, Source]:
        from webrag_core.config import load_settings

        settings = load_settings(database_url=url)
        async with await Database.open(settings) as database, database.connection() as connection:
            return {source.key: source for source in await list_sources(connection)}

    return asyncio.run(work())


def webrag(*arguments: str) -> tuple[int, Any]:
    """Exit code and JSON (or the message) of a command."""
    done = CliRunner().invoke(app, [*arguments, "--json"])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return 2, str(done.exception)
    return done.exit_code, json.loads(done.stdout)


def test_a_declared_source_is_attached_and_a_partition_at_once(
    tick: Tick, instance: dg.DagsterInstance, corpus_environment: str
) -> None:
    assert "1 added" in tick(TEA)
    found = stored(corpus_environment)[GUIDE]
    assert (found.seed_url, found.path_prefix, found.page_limit) == (TEA["seed"], "/guide/", 20)
    assert (found.declared_in, found.refresh_hours, found.pool) == ("defs/tea_example_guide", 12, "slow")
    assert instance.get_dynamic_partitions("webrag_source") == [GUIDE]
    assert "0 added, 0 changed, 0 dropped" in tick(TEA)


@pytest.mark.parametrize("scope", ["/", "/gr"])
def test_a_changed_file_changes_the_source_and_a_deleted_one_detaches_it_with_its_pages_kept(
    tick: Tick, instance: dg.DagsterInstance, corpus_environment: str, tmp_path: Path, scope: str
) -> None:
    tea_site(tmp_path)
    file, key = {**TEA, "scope": scope}, KEY + scope.rstrip("/")
    tick(file)
    assert "1 changed" in tick({**file, "pages": 30})
    assert stored(corpus_environment)[key].page_limit == 30
    assert "1 dropped" in tick()
    assert set(stored(corpus_environment)) == {KEY}
    assert instance.get_dynamic_partitions("webrag_source") == ([KEY] if scope == "/" else [])
    found = stored(corpus_environment)[KEY]
    assert (found.declared_in, found.page_limit, found.refresh_hours) == (None, None, None)
    with psycopg.connect(corpus_environment) as connection:
        assert connection.execute("SELECT count(*) FROM documents WHERE status = 'ready'").fetchone() == (3,)


def test_a_source_whose_file_has_a_mistake_stays_as_it_was_and_is_told_once(
    tick: Tick, instance: dg.DagsterInstance, corpus_environment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tick(TEA)
    before = stored(corpus_environment)[GUIDE]
    coffee = {"seed": "https://coffee.example/"}
    with serving({}) as server:
        monkeypatch.setenv("ALERT_WEBHOOK", server.url)
        for _ in range(2):
            said = tick(coffee, broken="defs/tea_example_guide")
            assert "defs/tea_example_guide has a mistake: seed: Field required" in said
            assert stored(corpus_environment)[GUIDE] == before
            assert stored(corpus_environment)["coffee.example"].page_limit == 500
        tick(TEA, coffee)
        tick(TEA, coffee)
    assert [(call.body["kind"], call.body["text"].split("\n")[1]) for call in server.calls] == [
        ("source_broken", "defs/tea_example_guide"),
        ("recovered", "defs/tea_example_guide"),
    ]
    assert set(instance.get_dynamic_partitions("webrag_source")) == {"coffee.example", GUIDE}


def test_a_partition_of_somebody_else_is_not_deleted(tick: Tick, instance: dg.DagsterInstance) -> None:
    instance.add_dynamic_partitions("webrag_source", ["bucket/2026-11-26", "2026-11-26", f"{KEY}/old"])
    tick(TEA)
    assert set(instance.get_dynamic_partitions("webrag_source")) == {"bucket/2026-11-26", "2026-11-26", GUIDE}


foreign_keys = st.one_of(
    st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=12).filter(lambda key: "..." not in key),
    st.builds("{}{}".format, st.sampled_from([KEY, GUIDE]), st.sampled_from(["", "/old", "~00of02", "/guide/a", "x"])),
)


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    partitions=st.sets(foreign_keys, max_size=6), names=st.sets(st.sampled_from(["source", "day", "site"]), min_size=1)
)
def test_nothing_of_another_code_location_is_touched(
    tick: Tick, instance: dg.DagsterInstance, partitions: set[str], names: set[str]
) -> None:
    for name in names:
        instance.add_dynamic_partitions(name, sorted(partitions))
    foreign = dg.AssetKey("kettle")
    for key in sorted(partitions):
        instance.report_runless_asset_event(dg.AssetMaterialization(foreign, partition=key))
    instance.event_log_storage.set_concurrency_slots("stove", 2)
    before = {name: set(instance.get_dynamic_partitions(name)) for name in ("source", "day", "site")}
    events = len(instance.fetch_materializations(foreign, limit=500).records)
    tick(TEA)
    tick()
    tick({**TEA, "shards": 2})
    tick({**TEA, "scope": "/"})
    assert {name: set(instance.get_dynamic_partitions(name)) for name in before} == before
    assert len(instance.fetch_materializations(foreign, limit=500).records) == events
    assert instance.event_log_storage.get_concurrency_info("stove").slot_count == 2


def test_partitions_of_earlier_versions_are_taken_over_once_with_their_events(
    tick: Tick, instance: dg.DagsterInstance
) -> None:
    instance.add_dynamic_partitions("source", [GUIDE, "2026-11-26"])
    instance.report_runless_asset_event(dg.AssetMaterialization("documents", partition=GUIDE))
    tick(TEA)
    assert instance.get_dynamic_partitions("webrag_source") == [GUIDE]
    assert instance.get_materialized_partitions(dg.AssetKey("documents")) == {GUIDE}
    assert webrag("source", "pause", GUIDE)[0] == 0
    instance.delete_dynamic_partition("webrag_source", GUIDE)
    tick(TEA)
    assert instance.get_dynamic_partitions("webrag_source") == [], "what a person deletes does not come back"
    assert set(instance.get_dynamic_partitions("source")) == {GUIDE, "2026-11-26"}


def test_the_operators_pause_outlives_every_change_of_the_file(tick: Tick, corpus_environment: str) -> None:
    tick(TEA)
    assert webrag("source", "pause", KEY) == (0, {"sources": [GUIDE], "state": "paused"})
    tick(TEA)
    assert "1 changed" in tick({**TEA, "pages": 30})
    assert stored(corpus_environment)[GUIDE].paused
    assert webrag("source", "resume", GUIDE)[0] == 0
    assert not stored(corpus_environment)[GUIDE].paused


@pytest.mark.parametrize("shards", [1, 2])
def test_the_partition_of_a_paused_source_stays_deleted_until_it_is_resumed(
    tick: Tick, instance: dg.DagsterInstance, shards: int
) -> None:
    other, file = {"seed": "https://coffee.example/"}, {**TEA, "shards": shards}
    parts = shard_keys(GUIDE, shards)
    tick(file, other)
    assert webrag("source", "pause", GUIDE)[0] == 0
    tick(file, other)
    assert instance.get_dynamic_partitions("webrag_source") == ["coffee.example", *parts], "a pause takes none away"
    for part in parts:
        instance.delete_dynamic_partition("webrag_source", part)
    tick(file, other)
    assert instance.get_dynamic_partitions("webrag_source") == ["coffee.example"]
    assert webrag("source", "resume", GUIDE)[0] == 0
    tick(file, other)
    assert instance.get_dynamic_partitions("webrag_source") == ["coffee.example", *parts]


def test_the_command_line_does_not_change_what_a_file_says(tick: Tick, corpus_environment: str) -> None:
    tick(TEA)
    before = stored(corpus_environment)[GUIDE]
    for command in (("add", f"https://{GUIDE}/elsewhere.html"), ("remove", GUIDE)):
        code, message = webrag("source", *command)
        assert code == 2
        assert "declared in defs/tea_example_guide" in message
        assert stored(corpus_environment)[GUIDE] == before
    assert webrag("source", "add", f"https://{KEY}/elsewhere/")[0] == 0
    assert set(stored(corpus_environment)) == {GUIDE, f"{KEY}/elsewhere"}


def test_a_file_takes_over_what_the_command_line_attached(tick: Tick, corpus_environment: str) -> None:
    assert webrag("source", "add", f"https://{GUIDE}/index.html", "--pages", "7")[0] == 0
    assert webrag("source", "pause", GUIDE)[0] == 0
    assert "1 added" in tick(TEA)
    found = stored(corpus_environment)[GUIDE]
    assert (found.seed_url, found.page_limit, found.paused) == (TEA["seed"], 20, True)


def test_list_shows_where_a_source_is_declared(tick: Tick) -> None:
    tick(TEA)
    code, found = webrag("source", "list")
    assert code == 0
    assert [(row["key"], row["declared_in"], row["refresh_hours"]) for row in found["sources"]] == [
        (GUIDE, "defs/tea_example_guide", 12)
    ]


def test_two_files_for_two_sections_are_two_partitions(
    tick: Tick, definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    site = tea_site(tmp_path)
    tick({"seed": f"https://{KEY}/green"}, {"seed": f"https://{KEY}/black", "scope": "/bl", "pages": 5})
    keys = [f"{KEY}/bl", f"{KEY}/green"]
    assert sorted(instance.get_dynamic_partitions("webrag_source")) == keys
    for key in keys:
        assert run_job(definitions, instance, site, key=key, assets=["documents"]).success
        assert materialized(instance, "documents", key)[0].metadata["pages"].value == 1
    declared = [dg.MetadataValue.json({"key": key, "refresh_hours": 24.0}) for key in keys]
    specs = [
        dg.AssetSpec(["sources", str(number)], metadata={"webrag/declaration": value})
        for number, value in enumerate(declared)
    ]
    cursor = None
    for reported in (2, 0):
        with dg.build_sensor_context(
            instance=instance, definitions=dg.Definitions(assets=specs), cursor=cursor
        ) as context:
            result = corpus_changes(context, corpus=CorpusResource())
        assert isinstance(result, dg.SensorResult)
        events = [event for event in result.asset_events if event.asset_key.path[0] == "sources"]
        assert len(events) == reported
        cursor = result.cursor
        assert all(event.metadata["pages_searchable"].value == 1 for event in events)


@pytest.mark.slow
def test_a_large_source_has_a_partition_for_every_shard_and_each_page_is_in_one(
    tick: Tick, definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    site = tea_site(tmp_path)
    tick({"seed": f"https://{KEY}/", "shards": 2})
    keys = [f"{KEY}~{index:02d}of02" for index in range(2)]
    assert instance.get_dynamic_partitions("webrag_source") == keys
    pages = 0
    for key in keys:
        assert run_job(definitions, instance, site, key=key, assets=["documents", "embeddings"]).success
        [documents] = materialized(instance, "documents", key)
        [vectors] = materialized(instance, "embeddings", key)
        assert documents.metadata["pages"].value == vectors.metadata["pages"].value
        pages += int(str(documents.metadata["pages"].value))
    assert pages == 3
    tick({"seed": f"https://{KEY}/", "shards": 3})
    assert instance.get_dynamic_partitions("webrag_source") == [f"{KEY}~{index:02d}of03" for index in range(3)]
    tick({"seed": f"https://{KEY}/"})
    assert instance.get_dynamic_partitions("webrag_source") == [KEY]


def test_nothing_is_written_when_nothing_differs(corpus_environment: str) -> None:
    wanted = [Declaration(KEY, f"https://{KEY}/", "/", 5, "defs/tea")]

    async def work() -> list[bool]:
        from webrag_core.config import load_settings

        async with await Database.open(load_settings()) as database:
            found = []
            for _ in range(2):
                async with database.transaction() as connection:
                    found.append(bool(await apply_declarations(connection, wanted)))
            return found

    assert asyncio.run(work()) == [True, False]
