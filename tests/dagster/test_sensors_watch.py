"""Sensor `site_watch`, and from a changed page to its new vectors with the daemon's steps taken one by one."""

from __future__ import annotations

import os
from pathlib import Path

import dagster as dg
import psycopg
import pytest

from tests.conftest import FROZEN_SITE
from tests.dagster.corpus_runs import BLACK, GREEN, HOME, KEY, LATER, LAYERS, OTHER, SITE, add, materialized, run_job
from tests.dagster.small_warc import write_site
from tests.local_site import page
from webrag_dagster.defs.corpus_changes import corpus_changes
from webrag_dagster.defs.web_pages import site_watch
from webrag_dagster.resources import CorpusResource

COFFEE = page("Coffee", "Coffee is brewed hot.")
TAGS = {url: f'"{number}"' for number, url in enumerate((HOME, GREEN, BLACK, OTHER))}


class World:
    """Two sites in one frozen file, a corpus that holds them, and the sensors."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance) -> None:
        self.folder, self.instance = folder, instance
        self.warc = write_site(folder / "site.warc.gz", {**SITE, OTHER: COFFEE}, etags=TAGS)
        add(self.warc, *SITE, OTHER)
        self.corpus = CorpusResource(warc=str(self.warc))
        self.automation = dg.evaluate_automation_conditions
        with dg.build_sensor_context(instance=instance) as context:
            result = corpus_changes(context, corpus=self.corpus)
        assert len(result.asset_events) == 8
        for event in result.asset_events:
            instance.report_runless_asset_event(event)

    def becomes(self, pages: dict[str, str], etags: dict[str, str]) -> None:
        """The site is another one from now on."""
        os.replace(write_site(self.folder / "next.warc.gz", pages, etags=etags), self.warc)

    def look(self) -> list[dg.AssetObservation]:
        """One tick of the sensor; its observations are stored."""
        with dg.build_sensor_context(instance=self.instance, resources={"corpus": self.corpus}) as context:
            result = site_watch.evaluate_tick(context)
        assert not result.run_requests
        observed = [event for event in result.asset_events if isinstance(event, dg.AssetObservation)]
        for event in observed:
            self.instance.report_runless_asset_event(event)
        return observed


@pytest.fixture
def world(tmp_path: Path, instance: dg.DagsterInstance, corpus_environment: str) -> World:
    return World(tmp_path, instance)


def flagged(observation: dg.AssetObservation) -> list[tuple[object, object]]:
    """(page, signal) of an observation."""
    table = observation.metadata["flagged"]
    assert isinstance(table, dg.TableMetadataValue)
    return [(record.data["page"], record.data["signal"]) for record in table.records]


def test_a_site_that_did_not_change_is_not_observed(world: World) -> None:
    assert world.look() == []
    world.becomes({**SITE, OTHER: COFFEE}, TAGS)
    assert world.look() == []


def test_a_changed_page_is_one_observation_of_its_source_and_is_said_once(world: World) -> None:
    world.look()
    world.becomes({**LATER, OTHER: COFFEE}, {**TAGS, GREEN: '"new"'})
    [seen] = world.look()
    assert (seen.asset_key.to_user_string(), seen.partition) == ("web_pages", KEY)
    assert flagged(seen) == [(GREEN, "validator")]
    assert world.look() == []
    world.becomes({**LATER, OTHER: COFFEE}, {**TAGS, GREEN: '"new"'})  # copied once more, the same
    assert world.look() == []


def test_a_site_that_a_tick_has_no_time_for_is_looked_at_by_the_next(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.look()
    world.becomes({**LATER, OTHER: COFFEE}, {**TAGS, GREEN: '"new"'})
    with monkeypatch.context() as hurried:
        hurried.setattr("webrag_dagster.defs.web_pages.BEGIN_SECONDS", 0.0)
        assert world.look() == []
    assert len(world.look()) == 1


def test_a_vanished_page_is_flagged_too(world: World) -> None:
    world.look()
    world.becomes({HOME: SITE[HOME], GREEN: SITE[GREEN], OTHER: COFFEE}, TAGS)
    [seen] = world.look()
    assert flagged(seen) == [(BLACK, "validator")]


def test_a_date_in_the_sites_own_map_flags_a_page_of_an_attached_source_and_new_pages(
    world: World, corpus_environment: str
) -> None:
    with psycopg.connect(corpus_environment, autocommit=True) as connection:
        connection.execute("UPDATE sources SET page_limit = 50, seed_url = %s WHERE key = %s", (HOME, KEY))
    dated = "<url><loc>{}</loc><lastmod>2026-01-0{}</lastmod></url>"
    head = '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'

    def sitemap(*days: tuple[str, int]) -> dict[str, str]:
        return {HOME + "sitemap.xml": head + "".join(dated.format(*day) for day in days) + "</urlset>"}

    world.becomes({**SITE, **sitemap((HOME, 1), (GREEN, 1)), OTHER: COFFEE}, TAGS)
    assert world.look() == []
    world.becomes({**SITE, **sitemap((HOME, 1), (GREEN, 2), (HOME + "white", 3)), OTHER: COFFEE}, TAGS)
    [seen] = world.look()
    assert flagged(seen) == [(GREEN, "sitemap"), (HOME + "white", "new")]


def test_a_paused_source_is_not_looked_at(world: World, corpus_environment: str) -> None:
    world.look()
    with psycopg.connect(corpus_environment, autocommit=True) as connection:
        connection.execute("UPDATE sources SET paused = true")
    world.becomes({**LATER, OTHER: COFFEE}, {**TAGS, GREEN: '"new"'})
    assert world.look() == []


@pytest.mark.slow
def test_a_changed_page_is_current_with_its_vectors_and_nothing_else_ran(
    world: World, definitions: dg.Definitions, instance: dg.DagsterInstance, corpus_environment: str
) -> None:
    select = dg.AssetSelection.groups("corpus")

    def tick(cursor: object) -> dg.EvaluateAutomationConditionsResult:
        return dg.evaluate_automation_conditions(definitions, instance, asset_selection=select, cursor=cursor)  # type: ignore[arg-type]

    world.look()
    before = tick(None)
    before = tick(before.cursor)
    world.becomes({**LATER, OTHER: COFFEE}, {**TAGS, GREEN: '"new"'})
    assert [event.partition for event in world.look()] == [KEY]
    asked = tick(before.cursor)
    assert {name: set(asked.get_requested_partitions(dg.AssetKey(name))) for name in LAYERS} == {
        name: {KEY} for name in LAYERS
    }
    by_itself = {"dagster/from_automation_condition": "true"}
    assert run_job(definitions, instance, world.warc, tags=by_itself).success
    documents = materialized(instance, "documents")[0]
    assert {name: documents.metadata[f"pages_{name}"].value for name in ("changed", "unchanged", "not_due")} == {
        "changed": 1,
        "unchanged": 0,
        "not_due": 2,
    }
    assert materialized(instance, "embeddings")[0].metadata["pages_became_current"].value == 1
    assert len(materialized(instance, "documents", "coffee.example")) == 1
    with psycopg.connect(corpus_environment) as connection:
        text, vectors, children = connection.execute(
            "SELECT v.markdown, (SELECT count(*) FROM contract.v_embedding e JOIN chunks c ON c.id = e.chunk_id"
            " WHERE c.version_id = v.id), v.child_count FROM documents d"
            " JOIN document_versions v ON v.id = d.current_version WHERE d.canonical_url = %s",
            (GREEN,),
        ).fetchone() or ("", 0, 1)
    assert "seventy" in text
    assert vectors == children
    assert tick(asked.cursor).total_requested == 0
    assert world.look() == []
    with dg.build_sensor_context(instance=instance) as context:
        result = corpus_changes(context, corpus=world.corpus)
    assert result.asset_events == [], "the run told everything itself"


def test_observing_from_the_ui_says_the_same_as_the_sensor(
    world: World, definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    world.becomes({**LATER, OTHER: COFFEE}, {**TAGS, GREEN: '"new"'})
    everything = definitions.resolve_implicit_global_asset_job_def()
    job = everything.get_subset(asset_selection={dg.AssetKey("web_pages")})
    for changed in (True, False):
        done = job.execute_in_process(
            instance=instance, partition_key=KEY, resources={"corpus": world.corpus}, raise_on_error=False
        )
        assert done.success
        [observed] = [
            event.asset_observation_data.asset_observation for event in done.all_events if event.is_asset_observation
        ]
        assert observed.partition == KEY
        if changed:
            first = observed.tags["dagster/data_version"]
        assert observed.tags["dagster/data_version"] == first


@pytest.mark.slow
def test_observing_what_flags_nothing_asks_for_nothing(
    world: World, definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    select = dg.AssetSelection.groups("corpus")
    first = dg.evaluate_automation_conditions(definitions, instance, asset_selection=select)
    everything = definitions.resolve_implicit_global_asset_job_def()
    job = everything.get_subset(asset_selection={dg.AssetKey("web_pages")})
    assert job.execute_in_process(instance=instance, partition_key=KEY, resources={"corpus": world.corpus}).success
    after = dg.evaluate_automation_conditions(definitions, instance, asset_selection=select, cursor=first.cursor)
    assert after.total_requested == 0


def test_the_frozen_site_itself_is_quiet(instance: dg.DagsterInstance, corpus_environment: str) -> None:
    add(FROZEN_SITE, "https://docs.python.org/3.11/library/asyncio.html")
    with dg.build_sensor_context(instance=instance) as context:
        result = site_watch(context, corpus=CorpusResource())
    assert isinstance(result, dg.SkipReason)
