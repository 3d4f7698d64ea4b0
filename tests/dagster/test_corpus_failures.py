"""A source that gives nothing: what is asked again, what is not, and how it shows.

Which pages a refresh finds missing, and why, is for tests/corpus/test_refresh.py and test_sections.py.
"""

from __future__ import annotations

import os
import threading
from io import BytesIO
from pathlib import Path

import dagster as dg
import psycopg
import pytest
from typer.testing import CliRunner
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from tests.dagster.corpus_runs import HOME, SITE, materialized, run_job, tea_site
from tests.dagster.small_warc import write_site
from webrag_core.cli.main import app

pytestmark = pytest.mark.slow

DUE = {"ops": {"documents": {"config": {"pages": "due"}}}}


def redirect(site: Path, url: str, target: str) -> None:
    """Add an answer that sends from one URL to another to a written site."""
    with site.open("ab") as stream:
        headers = StatusAndHeaders("301 Moved Permanently", [("Location", target)], protocol="HTTP/1.1")
        writer = WARCWriter(stream, gzip=True)
        writer.write_record(writer.create_warc_record(url, "response", payload=BytesIO(), http_headers=headers))


def steps(done: dg.ExecuteInProcessResult, kind: dg.DagsterEventType) -> int:
    """How often the step `documents` came to this."""
    return sum(event.event_type is kind and event.step_key == "documents" for event in done.all_events)


def failure(done: dg.ExecuteInProcessResult) -> dg.Failure:
    """What the UI shows of the failed step."""
    [event] = [event for event in done.all_events if event.is_step_failure]
    data = event.step_failure_data.user_failure_data
    assert data is not None
    return dg.Failure(data.description, metadata=data.metadata)


@pytest.mark.usefixtures("corpus_environment")
def test_a_seed_that_is_not_there_fails_once_with_its_reason(
    definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    site = write_site(tmp_path / "site.warc.gz", SITE)
    done = run_job(definitions, instance, site, key="nowhere.example")
    assert not done.success
    assert steps(done, dg.DagsterEventType.STEP_UP_FOR_RETRY) == 0
    assert "no page of nowhere.example could be fetched: 1 × not_archived" in (failure(done).description or "")
    run = instance.get_run_by_id(done.run_id)
    assert run is not None
    assert (run.tags["webrag/failure"], run.tags["webrag/permanent"]) == ("not_archived", "true")
    assert materialized(instance, "chunks", "nowhere.example") == []


@pytest.mark.usefixtures("corpus_environment")
def test_an_attached_source_that_holds_no_page_fails_with_its_reason(
    definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    site = write_site(tmp_path / "site.warc.gz", SITE)
    redirect(site, "https://old.example/", HOME)
    assert CliRunner().invoke(app, ["source", "add", "https://old.example/"]).exit_code == 0
    done = run_job(definitions, instance, site, key="old.example", config=DUE)
    assert not done.success
    assert f"it is a page of another source, {HOME}" in (failure(done).description or "")
    assert steps(done, dg.DagsterEventType.STEP_UP_FOR_RETRY) == 0
    run = instance.get_run_by_id(done.run_id)
    assert run is not None
    assert run.tags["webrag/permanent"] == "true"


@pytest.mark.usefixtures("corpus_environment")
def test_a_site_that_is_overloaded_is_asked_again_until_it_answers(
    definitions: dg.Definitions, stored_instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    overloaded = write_site(tmp_path / "site.warc.gz", SITE, status="503 Service Unavailable")
    well = write_site(tmp_path / "well.warc.gz", SITE)
    ended = threading.Event()

    def recover() -> None:  # in its own thread, which an instance in memory does not stand
        while not ended.wait(0.1):
            runs = stored_instance.get_runs()
            logs = stored_instance.all_logs(runs[0].run_id) if runs else []
            if any(log.dagster_event and log.dagster_event.is_step_up_for_retry for log in logs):
                os.replace(well, overloaded)
                return

    site_recovers = threading.Thread(target=recover)
    site_recovers.start()
    try:
        done = run_job(definitions, stored_instance, overloaded)
    finally:
        ended.set()
        site_recovers.join()
    assert done.success
    assert steps(done, dg.DagsterEventType.STEP_UP_FOR_RETRY) == 1
    assert materialized(stored_instance, "documents")[0].metadata["pages_new"].value == 1
    assert materialized(stored_instance, "embeddings")[0].metadata["pages_became_current"].value == 1


@pytest.mark.usefixtures("corpus_environment")
def test_a_site_that_lost_all_its_pages_fails_and_keeps_them_until_that_is_confirmed(
    definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path, corpus_environment: str
) -> None:
    tea_site(tmp_path)
    later = write_site(tmp_path / "later.warc.gz", {f"{HOME}another/": SITE[HOME]})
    for status, reached in (("ready", 3), ("ready", 3), ("gone", 0)):
        done = run_job(definitions, instance, later, assets=["documents"])
        assert not done.success
        assert steps(done, dg.DagsterEventType.STEP_UP_FOR_RETRY) == 0
        assert "no page of tea.example could be fetched: 3 × not_found" in (failure(done).description or "")
        [check] = done.get_asset_check_evaluations()
        assert (check.check_name, check.passed, check.severity) == (
            "source_answers",
            False,
            dg.AssetCheckSeverity.ERROR,
        )
        assert check.metadata["pages"].value == reached
        with psycopg.connect(corpus_environment, autocommit=True) as connection:
            found = connection.execute("SELECT DISTINCT status FROM documents").fetchall()
            assert found == [(status,)]
            connection.execute("UPDATE documents SET last_miss = last_miss - interval '1 day'")


@pytest.mark.usefixtures("corpus_environment")
def test_a_scheduled_refresh_of_a_site_that_is_down_fails_after_all_its_attempts(
    definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path, corpus_environment: str
) -> None:
    site = tea_site(tmp_path)
    with psycopg.connect(corpus_environment, autocommit=True) as connection:
        connection.execute("UPDATE documents SET next_check = now() - interval '1 hour'")
    write_site(site, SITE, status="503 Service Unavailable")
    done = run_job(definitions, instance, site, config=DUE)
    assert not done.success
    assert steps(done, dg.DagsterEventType.STEP_UP_FOR_RETRY) == 3
    assert "3 × http_status" in (failure(done).description or "")
    [check] = done.get_asset_check_evaluations()
    assert (check.passed, check.metadata["pages_failing"].value) == (False, 3)
    again = run_job(definitions, instance, site, config=DUE)  # nothing is due: nobody is asked
    assert again.success
    assert not any(one.passed for one in again.get_asset_check_evaluations() if one.check_name == "source_answers")


@pytest.mark.usefixtures("corpus_environment")
def test_which_pages_are_asked_for_is_one_of_a_closed_list(
    definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    site = write_site(tmp_path / "site.warc.gz", SITE)
    done = run_job(definitions, instance, site, config={"ops": {"documents": {"config": {"pages": "some"}}}})
    assert "say auto, all or due" in (failure(done).description or "")
    assert steps(done, dg.DagsterEventType.STEP_UP_FOR_RETRY) == 0
