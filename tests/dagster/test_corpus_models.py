"""Another embedding model: the first run embeds the whole corpus beside the old vectors, and nobody is left without."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import psycopg
import pytest

from tests.dagster.corpus_runs import KEY, LAYERS, OTHER, SITE, add, materialized, run_job, version
from tests.dagster.small_warc import write_site
from tests.local_site import page
from tests.provider_server import serving
from tests.providers.test_openai_embedder import openai

pytestmark = pytest.mark.slow


def models(database: str) -> list[tuple[str, str]]:
    """(name, state) of every model."""
    with psycopg.connect(database) as connection:
        return connection.execute("SELECT name, state FROM embedding_models ORDER BY id").fetchall()  # type: ignore[return-value]


def test_a_changed_model_rebuilds_once_and_switches_for_every_source(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    tmp_path: Path,
    corpus_environment: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site = write_site(tmp_path / "site.warc.gz", {**SITE, OTHER: page("Coffee", "Coffee is brewed hot.")})
    add(site, *SITE, OTHER)
    for key in (KEY, "coffee.example"):
        assert run_job(definitions, instance, site, key=key).success
    before = {name: version(materialized(instance, name)[0]) for name in LAYERS}
    with serving(openai) as provider:
        monkeypatch.setenv("NO_PROXY", "*")
        monkeypatch.setenv("EMBEDDING_BASE_URL", provider.url + "/v1")
        monkeypatch.setenv("EMBEDDING_DIMENSIONS", "8")
        assert run_job(definitions, instance, site, job="index").success
        [(old, _), (new, _)] = models(corpus_environment)
        assert models(corpus_environment) == [(old, "retired"), (new, "live")]
        requests = len(provider.calls)
        assert run_job(definitions, instance, site, key="coffee.example", job="index").success
        assert len(provider.calls) == requests, "the first run embedded the other source, too"
    mine, other = (materialized(instance, "embeddings", key)[0] for key in (KEY, "coffee.example"))
    assert mine.metadata["texts_embedded_for_a_new_model"].value == 4
    assert other.metadata["texts_embedded_for_a_new_model"].value == 0
    after = {name: version(materialized(instance, name)[0]) for name in LAYERS}
    assert {name for name in LAYERS if after[name] != before[name]} == {"embeddings"}
    assert mine.metadata["vectors"].value == 3


def test_a_model_that_does_not_answer_is_asked_again_and_leaves_the_old_one_live(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    tmp_path: Path,
    corpus_environment: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site = write_site(tmp_path / "site.warc.gz", SITE)
    add(site, *SITE)
    monkeypatch.setenv("EMBEDDING_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("EMBEDDING_TIMEOUT", "0.1")
    done = run_job(definitions, instance, site, job="index")
    assert not done.success
    retries = [event for event in done.all_events if event.event_type is dg.DagsterEventType.STEP_UP_FOR_RETRY]
    assert {event.step_key for event in retries} == {"embeddings"}
    assert [state for _, state in models(corpus_environment)] == ["live", "building"]
    assert len(materialized(instance, "chunks")) == 1
