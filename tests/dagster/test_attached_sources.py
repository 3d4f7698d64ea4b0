"""However a source was attached, it has an asset, an owner, freshness, and the same alerts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.dagster.corpus_runs import run_job
from tests.dagster.small_warc import write_site
from tests.local_site import page
from tests.mcp_server.clients import called, connected
from tests.provider_server import Provider, serving
from tests.web.serving import web_server
from webrag_core.application.upkeep import AddSource
from webrag_core.cli.main import app
from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError
from webrag_core.sync import WebRAG
from webrag_dagster.components import CuratedSource, freshness
from webrag_dagster.corpus.source_assets import asset_key, attached_sources, write_attached
from webrag_dagster.defs.alerts import alert_on_failed_runs, alert_on_staleness
from webrag_dagster.defs.attach import attach
from webrag_dagster.defs.corpus_changes import corpus_changes
from webrag_dagster.defs.declared_sources import declared_sources
from webrag_dagster.resources import CorpusResource

STATES = ("fresh", "stale", "failing")
HOURS = 24


def by_command(*urls: str) -> None:
    for url in urls:
        done = CliRunner().invoke(app, ["source", "add", url, "--hours", str(HOURS), "--json"])
        assert done.exit_code == 0, done.output


def by_library(*urls: str) -> None:
    with WebRAG() as webrag:
        for url in urls:
            webrag.add_source(url, refresh_hours=HOURS)


def by_program(*urls: str) -> None:
    with web_server(load_settings()) as client:
        for url in urls:
            body = {"url": url, "refresh_hours": HOURS}
            assert client.post("/api/sources", json=body, headers={"accept": "text/event-stream"}).status_code == 200


def by_page(*urls: str) -> None:
    with web_server(load_settings()) as client:
        for url in urls:
            assert client.post("/attach", data={"url": url, "hours": str(HOURS)}).status_code == 303


def by_tool(*urls: str) -> None:
    async def work() -> None:
        async with connected(load_settings()) as client:
            for url in urls:
                assert not (await called(client, "attach", url=url, refresh_hours=HOURS)).is_error

    asyncio.run(work())


def by_job(*urls: str) -> None:
    resources = {"corpus": CorpusResource(), "result_of_run": dg.mem_io_manager}
    with dg.DagsterInstance.ephemeral() as instance:
        for url in urls:
            config = {"url": url, "refresh_hours": float(HOURS)}
            attach.execute_in_process(instance=instance, run_config=config, resources=resources)


def files(*urls: str) -> dg.Definitions:
    """A code location with a file for each of these."""
    specs = []
    for url in urls:
        source = CuratedSource(seed=url, refresh=f"{HOURS}h")
        specs.append(source.spec(["sources", source.key.replace(".", "_")], f"home/sources/{source.key}.yaml"))
    return dg.Definitions(assets=specs)


OTHERWISE: dict[str, Callable[..., None]] = {
    "command": by_command,
    "library": by_library,
    "program": by_program,
    "page": by_page,
    "tool": by_tool,
    "job": by_job,
}
WAYS = (*OTHERWISE, "file")


def host(way: str, state: str) -> str:
    return f"{way}-{state}.example"


class Place:
    """A code location with these files, its instance and its database, ticked as the daemon ticks it."""

    def __init__(self, instance: dg.DagsterInstance, database: str, alerts: Provider, *urls: str) -> None:
        self.instance = instance
        self.database = database
        self.alerts = alerts
        self.definitions = files(*urls)
        self.cursors: dict[str, str | None] = {}

    def tick(self, sensor: dg.SensorDefinition) -> dg.SensorResult:
        """One tick; returns what the sensor says."""
        cursor = self.cursors.get(sensor.name)
        with dg.build_sensor_context(instance=self.instance, definitions=self.definitions, cursor=cursor) as context:
            result = sensor(context, corpus=CorpusResource())
        assert isinstance(result, dg.SensorResult)
        self.cursors[sensor.name] = result.cursor
        return result

    def told(self) -> list[tuple[str, ...]]:
        """Kind, title and lines of the alerts since the last call."""
        told = [(call.body["kind"], *call.body["text"].split("\n")) for call in self.alerts.calls]
        self.alerts.calls.clear()
        return told

    def change(self, statement: str, **values: object) -> None:
        with psycopg.connect(self.database, autocommit=True) as connection:
            connection.execute(statement.encode(), values)

    def answer(self, key: str) -> None:
        """A refresh that the site answers."""
        self.change(
            "INSERT INTO refresh_runs (source_id, run_id, started_at, ended_at, discovered, fetched, unchanged, failed,"
            " skipped, not_due) SELECT id, 'run ' || now(), now(), now(), 1, 1, 0, 0, 0, 0 FROM sources"
            " WHERE key = %(key)s",
            key=key,
        )

    def silence(self, key: str) -> None:
        """Four days without an answer, after which nothing is recorded any more."""
        self.change("DELETE FROM refresh_runs WHERE source_id = (SELECT id FROM sources WHERE key = %(key)s)", key=key)
        self.change("UPDATE sources SET kept_since = now() - interval '4 days' WHERE key = %(key)s", key=key)


@pytest.fixture
def place(
    instance: dg.DagsterInstance, corpus_environment: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Place]:
    monkeypatch.setenv("WEBRAG_HOME", str(tmp_path))
    with serving({}) as server:
        monkeypatch.setenv("ALERT_WEBHOOK", server.url)
        yield Place(instance, corpus_environment, server, *(f"https://{host('file', state)}/" for state in STATES))


@pytest.mark.slow
def test_any_way_of_attaching_gives_the_same_alerts(
    place: Place, definitions: dg.Definitions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pages = {f"https://{host(way, state)}/": page("Tea", "All about tea.", {}) for way in WAYS for state in STATES}
    site = write_site(tmp_path / "site.warc.gz", pages)
    monkeypatch.setenv("WEBRAG_WARC", str(site))
    for way, add in OTHERWISE.items():
        add(*(f"https://{host(way, state)}/" for state in STATES))
    place.tick(declared_sources)
    for way in WAYS:
        place.change(
            "DELETE FROM refresh_runs WHERE source_id = (SELECT id FROM sources WHERE key = %(key)s)",
            key=host(way, "failing"),
        )
        place.answer(host(way, "fresh"))
    place.tick(alert_on_staleness)
    assert place.told() == []  # none had three intervals yet

    told: dict[str, list[tuple[str, ...]]] = {}
    nothing = write_site(tmp_path / "nothing.warc.gz", {"https://elsewhere.example/": page("No", "No.", {})})
    for way in WAYS:
        place.silence(host(way, "stale"))
        for _ in range(2):
            place.tick(alert_on_staleness)
        done = run_job(definitions, place.instance, nothing, key=host(way, "failing"))
        context = dg.build_run_status_sensor_context(
            sensor_name="alert_on_failed_runs",
            dagster_event=done.get_run_failure_event(),
            dagster_instance=place.instance,
            dagster_run=place.instance.get_run_by_id(done.run_id) or done.dagster_run,
            resources={"corpus": CorpusResource()},
        ).for_run_failure()
        alert_on_failed_runs(context)
        place.answer(host(way, "stale"))
        for _ in range(2):
            place.tick(alert_on_staleness)
        told[way] = [
            tuple(text.replace(f"{way}-", "").replace(done.run_id, "RUN") for text in alert) for alert in place.told()
        ]
    source = "source stale.example"
    assert told["file"] == [
        ("not_fresh", f"WebRAG: {source} not refreshed in time", source),
        ("run_failed", "WebRAG: run of job refresh failed", "run: /runs/RUN", "source: failing.example",
         "reason: not_archived"),
        ("recovered", f"WebRAG: {source} refreshed again", source),
    ]  # fmt: skip
    assert {way: alerts for way, alerts in told.items() if alerts != told["file"]} == {}
    assets = {spec.key: spec for spec in attached_sources()}
    assert assets.keys() == {asset_key(host(way, state)) for way in OTHERWISE for state in STATES}
    declared = place.definitions.resolve_asset_graph().get(dg.AssetKey(["sources", "file-fresh_example"]))
    for spec in assets.values():
        assert (spec.freshness_policy, spec.owners) == (freshness(HOURS), ["team:corpus"])
        assert (spec.freshness_policy, spec.owners) == (declared.freshness_policy, declared.owners)
    reported = {
        event.asset_key for event in place.tick(corpus_changes).asset_events if event.asset_key.path[0] == "sources"
    }
    assert reported == {asset_key(host(way, state)) for way in OTHERWISE for state in ("fresh", "stale")} | {
        dg.AssetKey(["sources", f"file-{state}_example"]) for state in ("fresh", "stale")
    }


def test_an_owner_is_told_and_a_pause_is_nothing_to_tell(place: Place) -> None:
    for name, owners in (("a", ["--owner", "ada@example.org", "--owner", "team:tea"]), ("b", [])):
        command = ["source", "add", f"https://{name}.example/", "--hours", "24", *owners, "--json"]
        attached = json.loads(CliRunner().invoke(app, command).stdout)
        assert attached["owners"] == owners[1::2]
    place.tick(declared_sources)
    place.tick(alert_on_staleness)
    place.silence("a.example")
    place.silence("b.example")
    place.change("UPDATE sources SET paused = true WHERE key = 'b.example'")
    place.tick(alert_on_staleness)
    line = "source a.example"
    assert place.told() == [
        ("not_fresh", f"WebRAG: {line} not refreshed in time", line, "owner: ada@example.org, team:tea")
    ]
    place.change("UPDATE sources SET paused = key = 'a.example'")
    place.tick(alert_on_staleness)
    assert place.told() == [], "a source that was paused is not late, nor has it recovered"
    place.tick(declared_sources)
    assets = {spec.key: spec for spec in attached_sources()}
    assert assets[asset_key("a.example")].owners == ["ada@example.org", "team:tea"]
    assert assets[asset_key("a.example")].freshness_policy is None
    assert assets[asset_key("b.example")].owners == ["team:corpus"]
    for name in ("a.example", "b.example"):
        CliRunner().invoke(app, ["source", "remove", name])
    place.tick(declared_sources)
    assert attached_sources() == []


def test_without_a_database_sources_stay_as_they_were(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.tick(declared_sources)
    place.silence(host("file", "stale"))
    place.tick(alert_on_staleness)
    assert len(place.told()) == 1
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    place.tick(alert_on_staleness)
    monkeypatch.setenv("DATABASE_URL", place.database)
    place.tick(alert_on_staleness)
    assert place.told() == []


@pytest.mark.filterwarnings("ignore:.*declares no source")
@pytest.mark.parametrize("content", ["", "[", "{}", '[{"key": 1}]', "\x00"])
def test_a_broken_list_of_attached_sources_breaks_no_load(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBRAG_HOME", str(tmp_path))
    write_attached(tmp_path, [])
    (tmp_path / "attached-sources.json").write_text(content)
    [spec] = attached_sources()
    assert "has a mistake" in str(spec.description)


LABEL = st.text("ab-", min_size=1, max_size=3)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(LABEL, LABEL, st.sampled_from(["", "/a", "/a_b", "/a.b", "/A", ":80"])), max_size=9, unique=True)
)
def test_no_two_sources_share_an_asset(parts: list[tuple[str, str, str]]) -> None:
    keys = {f"{a}.{b}{end}" for a, b, end in parts}
    assert len({asset_key(key) for key in keys}) == len(keys)


def test_each_refresh_is_reported_once_also_of_another_corpus(place: Place) -> None:
    def reported() -> list[str]:
        return [event.asset_key.path[-1] for event in place.tick(corpus_changes).asset_events]

    place.tick(declared_sources)
    assert reported() == []
    for state in ("stale", "fresh"):
        place.answer(host("file", state))
    assert reported() == ["file-stale_example", "file-fresh_example"]
    assert reported() == []
    place.answer(host("file", "stale"))
    assert reported() == ["file-stale_example"]
    place.change("DELETE FROM refresh_runs")
    place.change("ALTER SEQUENCE refresh_runs_id_seq RESTART")
    place.cursors["corpus_changes"] = str(place.cursors["corpus_changes"]).replace('"corpus": "', '"corpus": "1')
    place.answer(host("file", "fresh"))
    assert reported() == ["file-fresh_example"]


@pytest.mark.parametrize("owner", ["ada@example.org", "a.b+c@d-e.example", "team:t \u00fc", "team:x"])
def test_an_owner_that_is_taken_is_one_to_dagster(owner: str) -> None:
    assert AddSource.of(url="https://a.example/", owners=[owner]).owners == (owner,)
    assert dg.AssetSpec("pages", owners=[owner]).owners == [owner]


@pytest.mark.parametrize("owner", ["Ada", "team:", "a@b", "a@b.c", "a b@c.org", "\u00e4@b.org", "x@y.org\n"])
def test_other_owners_are_refused_in_plain_words(owner: str) -> None:
    with pytest.raises(InvalidInputError, match=r"^owners.0: an e-mail address, or team:name$"):
        AddSource.of(url="https://a.example/", owners=[owner])
