"""A Dagster instance in memory and a corpus on a fresh database."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg
import pytest

from tests.conftest import FROZEN_SITE

QUICK = {"WEBRAG_PREVIEWS": "2", "WEBRAG_READER": "none"}
"""Settings of answers in tests of the platform: two previews a round, read without a model."""


@pytest.fixture
def corpus_environment(database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Settings as a run reads them: a fresh database, the frozen site in place of the web. Returns the database."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("WEBRAG_WARC", str(FROZEN_SITE))
    for name, value in QUICK.items():
        monkeypatch.setenv(name, value)
    return database_url


@pytest.fixture(scope="session")
def _instance_in_memory() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as in_memory:
        yield in_memory


@pytest.fixture
def instance(_instance_in_memory: dg.DagsterInstance) -> dg.DagsterInstance:
    """An empty instance in memory. Made once: it reads 89 migrations of Dagster's to stamp two databases with one."""
    return _emptied(_instance_in_memory)


@pytest.fixture(scope="session")
def _instance_on_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path_factory.mktemp("instance"))) as on_disk:
        yield on_disk


@pytest.fixture
def stored_instance(_instance_on_disk: dg.DagsterInstance) -> dg.DagsterInstance:
    """An empty instance that can be opened again, as ticks with partitions ask for. Made once: it takes seconds."""
    return _emptied(_instance_on_disk)


def _emptied(instance: dg.DagsterInstance) -> dg.DagsterInstance:
    instance.wipe()
    for key in instance.get_dynamic_partitions("webrag_source"):
        instance.delete_dynamic_partition("webrag_source", key)
    return instance


@pytest.fixture(scope="session")
def definitions() -> dg.Definitions:
    """The code location."""
    from webrag_dagster.definitions import definitions as load

    return load()
