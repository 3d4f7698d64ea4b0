"""What is watched is told of after the refresh that changed it: the sensor, the run that it asks for, and files."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from tests.dagster.corpus_runs import GREEN, KEY, LATER, tea_site
from tests.dagster.small_warc import write_site
from tests.provider_server import serving
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.application.watching import AddWatch
from webrag_core.config import load_settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.store.database import Database
from webrag_core.watches.models import Watch
from webrag_core.watches.store import list_watches
from webrag_dagster.broken_source import MISTAKES, BrokenSource
from webrag_dagster.components import DECLARATION, WATCHED, CuratedSource
from webrag_dagster.corpus.runs import ASKED_BY
from webrag_dagster.defs.declared_sources import declared_sources
from webrag_dagster.defs.watches import watches_due
from webrag_dagster.resources import CorpusResource


def watched(**fields: Any) -> Watch:
    """A new watch."""

    async def work() -> Watch:
        async with await Database.open(load_settings()) as database:
            return await AddWatch.of(**fields).add(database)

    return asyncio.run(work())


def stored() -> list[Watch]:
    """All watches."""

    async def work() -> list[Watch]:
        async with await Database.open(load_settings()) as database, database.connection() as connection:
            return await list_watches(connection)

    return asyncio.run(work())


def tick(instance: dg.DagsterInstance) -> dg.RunRequest | str:
    """What the sensor asks for, or why it asks for nothing."""
    with dg.build_sensor_context(instance=instance) as context:
        asked = watches_due(context, corpus=CorpusResource())
    assert isinstance(asked, dg.RunRequest | dg.SkipReason)
    return asked if isinstance(asked, dg.RunRequest) else str(asked.skip_message)


def read_again(warc: Path) -> None:
    """Index the later state of the pages."""

    async def work() -> None:
        async with Corpus.open(load_settings(), WarcAcquirer(warc)) as corpus:
            for url in LATER:
                await corpus.add(url, refresh=True)

    asyncio.run(work())


def test_a_watched_page_is_told_of_by_the_run_that_the_sensor_asks_for(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    corpus_environment: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tea_site(tmp_path)
    watched(page=GREEN)
    assert "no alert is set up" in str(tick(instance))
    with serving({}) as server:
        monkeypatch.setenv("ALERT_WEBHOOK", f"{server.url}/hook")
        assert "0 watches are due" in str(tick(instance))
        read_again(write_site(tmp_path / "later.warc.gz", LATER))
        asked = tick(instance)
        assert isinstance(asked, dg.RunRequest)
        busy = instance.create_run_for_job(definitions.resolve_job_def("index"), tags={"dagster/partition": KEY})
        assert "1 watches are due, of sources with a run in progress" in str(tick(instance))
        instance.delete_run(busy.run_id)
        done = definitions.resolve_job_def("watch").execute_in_process(
            instance=instance, run_config=asked.run_config, tags=asked.tags, resources={"corpus": CorpusResource()}
        )
        assert done.success
        [event] = done.get_asset_materialization_events()
        assert event.materialization.metadata["news"].value == 1
        assert "0 watches are due" in str(tick(instance))
        waiting = instance.create_run_for_job(definitions.resolve_job_def("watch"), tags={ASKED_BY: "watches_due"})
        assert "is not finished" in str(tick(instance))
        instance.delete_run(waiting.run_id)
    [sent] = server.calls
    assert sent.body["kind"] == "watch_changed"
    assert "- Green tea is brewed at eighty degrees.\n+ Green tea is brewed at seventy degrees" in sent.body["text"]


@pytest.mark.parametrize(
    ("watch", "problem"),
    [
        ({}, "exactly one"),
        ({"page": "/guide/a", "question": "Which tea?"}, "exactly one"),
        ({"question": "Which tea?", "section": ["Tea"]}, "needs its page"),
        ({"page": "https://coffee.example/"}, "is no page of"),
        ({"page": "/elsewhere"}, "is no page of"),
        ({"page": "/guide/a", "pace": "weekly"}, "pace"),
        ({"page": "/guide/a", "colour": "green"}, "Extra inputs"),
    ],
)
def test_a_watch_that_cannot_be_meant_is_refused_with_its_file(watch: dict[str, Any], problem: str) -> None:
    with pytest.raises(MISTAKES) as refused:
        CuratedSource.from_attributes_dict(attributes={"seed": f"https://{KEY}/guide/", "watches": [watch]})
    reason = BrokenSource(refused.value).reason
    assert problem in reason
    assert "Traceback" not in reason


def test_files_declare_watches_of_their_source(instance: dg.DagsterInstance, corpus_environment: str) -> None:
    watches = [
        {"page": "install", "section": ["Install", "Linux"]},
        {"page": f"https://{KEY}/guide/#top", "pace": "daily"},
        {"question": "Which leaf?"},
    ]
    declared = {"seed": f"https://{KEY}/guide/", "watches": watches}

    def apply(attributes: dict[str, Any]) -> list[Watch]:
        source = CuratedSource.from_attributes_dict(attributes=attributes)
        declaration = source.declaration("defs/tea") if source.enabled else {}
        metadata = {DECLARATION: declaration, WATCHED: source.watched() if source.enabled else []}
        spec = dg.AssetSpec(["sources", "tea"], metadata={k: dg.MetadataValue.json(v) for k, v in metadata.items()})
        definitions = dg.Definitions(assets=[spec])
        with dg.build_sensor_context(instance=instance, definitions=definitions) as ticked:
            declared_sources(ticked, corpus=CorpusResource())
        return stored()

    assert [(one.url, one.heading, one.question, one.sources, one.pace) for one in apply(declared)] == [
        (f"https://{KEY}/guide/install", ["Install", "Linux"], None, [], "at_once"),
        (f"https://{KEY}/guide/", [], None, [], "daily"),
        (None, [], "Which leaf?", [f"{KEY}/guide"], "at_once"),
    ]
    assert [one.kind for one in apply({**declared, "watches": watches[1:]})] == ["page", "question"]
    assert apply({**declared, "enabled": False}) == []
