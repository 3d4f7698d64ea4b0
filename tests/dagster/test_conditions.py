"""The named automation conditions, tick by tick, on the real assets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from tests.dagster.corpus_runs import LATER, SITE, run_job, tea_site
from tests.dagster.small_warc import write_site
from webrag_core.errors import StoreError
from webrag_core.indexing.graph import model as graph_model
from webrag_core.indexing.indexer import Indexer
from webrag_core.indexing.pipeline import Corpus as OpenCorpus
from webrag_dagster.corpus import layers
from webrag_dagster.corpus.layers import code_version
from webrag_dagster.defs.chunks import chunks
from webrag_dagster.defs.documents import documents
from webrag_dagster.defs.embeddings import embeddings
from webrag_dagster.defs.link_candidates import link_candidates
from webrag_dagster.defs.web_pages import web_pages
from webrag_dagster.resources import CorpusResource

pytestmark = pytest.mark.slow

LAYERS = ("documents", "link_candidates", "chunks", "embeddings")
TEA, COFFEE = "tea.example", "coffee.example"


class Corpus:
    """Events as the assets log them, and ticks of the automation."""

    def __init__(self, definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
        self.definitions, self.instance = definitions, instance
        self.cursor: Any = None
        self.ticks_meanwhile: list[dict[str, set[str | None]]] = []
        layers.register_partitions(instance, (TEA, COFFEE))
        for key in (TEA, COFFEE):
            self.see(key, "seen 0")
            self.make(key, *LAYERS, version="0")
        self.tick()

    def tick(self, at: datetime | None = None) -> dict[str, set[str | None]]:
        """What one evaluation asks for: asset -> partitions. It reads those there are once, not 200 times."""
        with pytest.MonkeyPatch.context() as during:
            during.setattr(self.instance, "get_dynamic_partitions", cache(self.instance.get_dynamic_partitions))
            result = dg.evaluate_automation_conditions(
                self.definitions,
                self.instance,
                asset_selection=dg.AssetSelection.groups("corpus"),
                cursor=self.cursor,
                evaluation_time=at,
            )
        self.cursor = result.cursor
        asked = {name: set(result.get_requested_partitions(dg.AssetKey(name))) for name in LAYERS}
        return {name: keys for name, keys in asked.items() if keys}

    def see(self, key: str, version: str) -> None:
        """An observation of sensor `site_watch`."""
        self.instance.report_runless_asset_event(
            dg.AssetObservation("web_pages", partition=key, tags={"dagster/data_version": version})
        )

    def make(self, key: str, *layers: str, version: str) -> None:
        """Materializations, as an answer run or a finished refresh leaves them."""
        for name in layers:
            self.instance.report_runless_asset_event(
                dg.AssetMaterialization(
                    name,
                    partition=key,
                    tags={"dagster/data_version": f"{name} {version}", "dagster/code_version": "1"},
                )
            )

    def run(
        self, site: Path, *, job: str = "refresh", meanwhile: Callable[[], None] | None = None
    ) -> dg.ExecuteInProcessResult:
        """A real run for the tea site; in its first step `meanwhile` happens, then a tick."""
        self.ticks_meanwhile.clear()
        opened = 0

        class Interrupted(CorpusResource):
            @asynccontextmanager
            async def open(resource) -> AsyncIterator[OpenCorpus]:
                nonlocal opened
                opened += 1
                if opened == 1 and meanwhile is not None:
                    meanwhile()
                    await asyncio.to_thread(lambda: self.ticks_meanwhile.append(self.tick()))
                async with super().open() as corpus:
                    yield corpus

        return self.definitions.resolve_job_def(job).execute_in_process(
            instance=self.instance,
            partition_key=TEA,
            resources={"corpus": Interrupted(warc=str(site))},
            raise_on_error=False,
        )


@pytest.fixture
def corpus(definitions: dg.Definitions, instance: dg.DagsterInstance) -> Corpus:
    """Two sources that were made and seen, and nothing to do."""
    return Corpus(definitions, instance)


def all_of(key: str) -> dict[str, set[str | None]]:
    return {name: {key} for name in LAYERS}


def test_nothing_that_is_as_it_was_is_asked_for(corpus: Corpus) -> None:
    assert corpus.tick() == {}
    corpus.see(TEA, "seen 0")
    assert corpus.tick() == {}
    corpus.make(TEA, *LAYERS, version="0")
    assert corpus.tick() == {}


def test_a_changed_page_asks_for_exactly_the_assets_of_its_source_once(corpus: Corpus) -> None:
    corpus.see(TEA, "seen 1")
    assert corpus.tick() == all_of(TEA)
    assert corpus.tick() == {}
    corpus.make(TEA, *LAYERS, version="1")
    assert corpus.tick() == {}


def test_an_answer_run_that_brought_new_pages_causes_no_second_work(corpus: Corpus) -> None:
    layers.register_partitions(corpus.instance, ["new.example"])
    assert corpus.tick() == {}, "a source that is known and not read yet is for the schedule"
    for key in (TEA, "new.example"):
        corpus.make(key, *LAYERS, version="1")
    assert corpus.tick() == {}
    assert corpus.tick() == {}


def test_documents_alone_with_a_new_version_ask_for_what_is_below_and_the_same_version_for_nothing(
    corpus: Corpus,
) -> None:
    corpus.make(TEA, "documents", version="0")
    assert corpus.tick() == {}
    corpus.make(TEA, "documents", version="1")
    assert corpus.tick() == {name: {TEA} for name in LAYERS[1:]}


def test_a_change_that_is_seen_while_the_source_is_being_read_is_not_lost(
    corpus: Corpus, corpus_environment: str, tmp_path: Path
) -> None:
    site = write_site(tmp_path / "site.warc.gz", SITE)
    corpus.see(TEA, "seen 1")
    assert corpus.tick() == all_of(TEA)
    done = corpus.run(site, meanwhile=lambda: corpus.see(TEA, "seen 2"))
    assert done.success
    assert corpus.ticks_meanwhile == [{}], "nothing is asked for twice at the same time"
    assert corpus.tick() == all_of(TEA), "the run may have read the page before it changed again"
    assert corpus.run(site).success
    assert corpus.tick() == {}


def test_a_change_that_is_seen_during_a_scheduled_refresh_is_not_lost(
    corpus: Corpus, corpus_environment: str, tmp_path: Path
) -> None:
    site = write_site(tmp_path / "site.warc.gz", SITE)
    assert corpus.run(site, meanwhile=lambda: corpus.see(TEA, "seen 1")).success
    assert corpus.ticks_meanwhile == [{}]
    assert corpus.tick() == all_of(TEA)


def test_a_scheduled_refresh_that_finds_changes_does_their_work_itself(
    corpus: Corpus, corpus_environment: str, tmp_path: Path
) -> None:
    assert corpus.run(write_site(tmp_path / "site.warc.gz", SITE)).success
    assert corpus.tick() == {}
    assert corpus.run(write_site(tmp_path / "later.warc.gz", LATER), meanwhile=lambda: None).success
    assert corpus.ticks_meanwhile == [{}]
    assert corpus.tick() == {}


def test_a_source_that_gave_no_page_gets_nothing_below_its_documents(
    corpus: Corpus, corpus_environment: str, tmp_path: Path
) -> None:
    site = write_site(tmp_path / "site.warc.gz", SITE)
    done = run_job(corpus.definitions, corpus.instance, site, key="nowhere.example")
    assert not done.success
    for hours in range(1, 4):
        assert corpus.tick(datetime.now(UTC) + timedelta(hours=hours)) == {}


def test_what_failed_below_the_documents_is_tried_again_once_an_hour(
    corpus: Corpus, corpus_environment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tea_site(tmp_path)
    assert corpus.run(site).success
    assert corpus.tick() == {}
    monkeypatch.setattr(Indexer, "pending", _refuse)
    assert not corpus.run(site, job="index").success
    assert corpus.tick() == {}
    an_hour_later = datetime.now(UTC) + timedelta(hours=1)
    assert corpus.tick(an_hour_later) == {"chunks": {TEA}, "embeddings": {TEA}}
    assert corpus.tick(an_hour_later + timedelta(seconds=30)) == {}


async def _refuse(self: Indexer, version_ids: list[int], stage: str) -> list[int]:
    raise StoreError("the database is away")


@pytest.mark.parametrize(
    ("layer", "asked"),
    [
        ("documents", set(LAYERS)),
        ("chunks", {"chunks", "embeddings"}),
        ("embeddings", {"embeddings"}),
    ],
)
def test_another_code_version_makes_its_assets_again_for_every_source_that_has_them(
    corpus: Corpus, layer: str, asked: set[str]
) -> None:
    layers.register_partitions(corpus.instance, ["never-read.example"])
    assert corpus.tick() == {}
    made = dg.map_asset_specs(
        lambda spec: spec.replace_attributes(code_version="another") if spec.key == dg.AssetKey(layer) else spec,
        [documents, link_candidates, chunks, embeddings],
    )
    corpus.definitions = dg.Definitions(assets=[web_pages, *made], resources={"corpus": CorpusResource()})
    assert corpus.tick() == {name: {TEA, COFFEE} for name in asked}
    assert corpus.tick() == {}


def test_code_versions_follow_the_settings_that_decide_the_content(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: code_version(name) for name in LAYERS}
    monkeypatch.setenv("CHILD_TARGET_TOKENS", "128")
    assert {name for name in LAYERS if code_version(name) != before[name]} == {"chunks"}
    monkeypatch.delenv("CHILD_TARGET_TOKENS")
    monkeypatch.setenv("EMBEDDING_BASE_URL", "http://127.0.0.1:9/v1")
    assert {name for name in LAYERS if code_version(name) != before[name]} == {"embeddings"}


def test_another_extraction_of_edges_makes_the_embeddings_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: code_version(name) for name in LAYERS}
    monkeypatch.setattr(graph_model, "EXTRACTION_VERSION", "edges-another")
    assert {name for name in LAYERS if code_version(name) != before[name]} == {"embeddings"}
