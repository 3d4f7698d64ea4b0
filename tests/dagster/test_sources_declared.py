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
from typer.testing import CliRunner

from tests.dagster.corpus_runs import KEY, materialized, run_job, tea_site
from webrag_core.cli.main import app
from webrag_core.corpus.declared import Declaration, apply_declarations
from webrag_core.corpus.shards import shard_keys
from webrag_core.corpus.sources import Source, list_sources
from webrag_core.store.database import Database
from webrag_dagster.components.source import CuratedSource
from webrag_dagster.defs.ops.declared_sources import declared_sources
from webrag_dagster.resources import CorpusResource

TEA = {"seed": f"https://{KEY}/guide/", "pages": 20, "refresh": "12h", "pool": "slow"}
Tick = Callable[..., str]


@pytest.fixture
def tick(corpus_environment: str, instance: dg.DagsterInstance) -> Tick:
    """One tick of the sensor with these files loaded; returns what it says."""

    def evaluate(*files: dict[str, Any]) -> str:
        specs = []
        for attributes in files:
            source = CuratedSource.from_attributes_dict(attributes=attributes)
            name = source.key.replace(".", "_")
            specs.append(
                dg.AssetSpec(
                    ["sources", name],
                    metadata={"webrag/declaration": dg.MetadataValue.json(source.declaration(f"defs/{name}"))},
                )
            )
        context = dg.build_sensor_context(instance=instance, definitions=dg.Definitions(assets=specs))
        found = declared_sources(context, corpus=CorpusResource())
        assert isinstance(found, dg.SkipReason)
        return str(found.skip_message)

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
    found = stored(corpus_environment)[KEY]
    assert (found.seed_url, found.path_prefix, found.page_limit) == (TEA["seed"], "/guide/", 20)
    assert (found.declared_in, found.refresh_hours, found.pool) == ("defs/tea_example", 12, "slow")
    assert instance.get_dynamic_partitions("source") == [KEY]
    assert "0 added, 0 changed, 0 dropped" in tick(TEA)


def test_a_changed_file_changes_the_source_and_a_deleted_one_detaches_it_with_its_pages_kept(
    tick: Tick, corpus_environment: str, tmp_path: Path
) -> None:
    tea_site(tmp_path)
    tick(TEA)
    assert "1 changed" in tick({**TEA, "pages": 30})
    assert stored(corpus_environment)[KEY].page_limit == 30
    assert "1 dropped" in tick()
    found = stored(corpus_environment)[KEY]
    assert (found.declared_in, found.page_limit, found.refresh_hours) == (None, None, None)
    with psycopg.connect(corpus_environment) as connection:
        assert connection.execute("SELECT count(*) FROM documents WHERE status = 'ready'").fetchone() == (3,)


def test_the_operators_pause_outlives_every_change_of_the_file(tick: Tick, corpus_environment: str) -> None:
    tick(TEA)
    assert webrag("source", "pause", KEY) == (0, {"source": KEY, "state": "paused"})
    tick(TEA)
    assert "1 changed" in tick({**TEA, "pages": 30})
    assert stored(corpus_environment)[KEY].paused
    assert webrag("source", "pause", KEY, "--resume")[0] == 0
    assert not stored(corpus_environment)[KEY].paused


@pytest.mark.parametrize("shards", [1, 2])
def test_the_partition_of_a_paused_source_stays_deleted_until_it_is_resumed(
    tick: Tick, instance: dg.DagsterInstance, shards: int
) -> None:
    other, file = {"seed": "https://coffee.example/"}, {**TEA, "shards": shards}
    parts = shard_keys(KEY, shards)
    tick(file, other)
    assert webrag("source", "pause", KEY)[0] == 0
    tick(file, other)
    assert instance.get_dynamic_partitions("source") == ["coffee.example", *parts], "a pause takes none away"
    for part in parts:
        instance.delete_dynamic_partition("source", part)
    tick(file, other)
    assert instance.get_dynamic_partitions("source") == ["coffee.example"]
    assert webrag("source", "pause", KEY, "--resume")[0] == 0
    tick(file, other)
    assert instance.get_dynamic_partitions("source") == ["coffee.example", *parts]


def test_the_command_line_does_not_argue_with_a_file(tick: Tick, corpus_environment: str) -> None:
    tick(TEA)
    before = stored(corpus_environment)[KEY]
    code, message = webrag("source", "add", f"https://{KEY}/elsewhere/")
    assert code == 2
    assert "declared in defs/tea_example" in message
    assert stored(corpus_environment)[KEY] == before
    tick()
    assert webrag("source", "add", f"https://{KEY}/elsewhere/")[0] == 0
    assert stored(corpus_environment)[KEY].path_prefix == "/elsewhere/"


def test_a_file_takes_over_what_the_command_line_attached(tick: Tick, corpus_environment: str) -> None:
    assert webrag("source", "add", f"https://{KEY}/elsewhere/", "--pages", "7")[0] == 0
    assert webrag("source", "pause", KEY)[0] == 0
    assert "1 added" in tick(TEA)
    found = stored(corpus_environment)[KEY]
    assert (found.path_prefix, found.page_limit, found.paused) == ("/guide/", 20, True)


def test_list_shows_who_says_it(tick: Tick) -> None:
    tick(TEA)
    code, found = webrag("source", "list")
    assert code == 0
    assert [(row["key"], row["declared_in"], row["refresh_hours"]) for row in found["sources"]] == [
        (KEY, "defs/tea_example", 12)
    ]


def test_a_large_source_has_a_partition_for_every_shard_and_each_page_is_in_one(
    tick: Tick, definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    site = tea_site(tmp_path)
    tick({"seed": f"https://{KEY}/", "shards": 3})
    keys = [f"{KEY}~{index:02d}of03" for index in range(3)]
    assert instance.get_dynamic_partitions("source") == keys
    pages = 0
    for key in keys:
        assert run_job(definitions, instance, site, key=key).success
        [documents] = materialized(instance, "documents", key)
        [vectors] = materialized(instance, "embeddings", key)
        assert documents.metadata["pages"].value == vectors.metadata["pages"].value
        pages += int(str(documents.metadata["pages"].value))
    assert pages == 3
    tick({"seed": f"https://{KEY}/", "shards": 2})
    assert instance.get_dynamic_partitions("source") == [f"{KEY}~{index:02d}of02" for index in range(2)]
    tick({"seed": f"https://{KEY}/"})
    assert instance.get_dynamic_partitions("source") == [KEY]


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
