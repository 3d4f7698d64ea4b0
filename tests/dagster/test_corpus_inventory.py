"""The inventory: what failed with its reason, what is overdue, and when neither is the case."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import psycopg
import pytest

from tests.dagster.corpus_runs import KEY, run_job, tea_site
from webrag_dagster.resources import CorpusResource


def take(definitions: dg.Definitions, instance: dg.DagsterInstance, warc: Path) -> dg.ExecuteInProcessResult:
    """The inventory, as its schedule takes it."""
    done = definitions.resolve_job_def("inventory").execute_in_process(
        instance=instance, resources={"corpus": CorpusResource(warc=str(warc))}
    )
    assert done.success
    return done


@pytest.mark.slow
def test_failed_partitions_are_listed_with_their_reason_until_they_are_mended(
    definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path, corpus_environment: str
) -> None:
    site = tea_site(tmp_path)
    assert run_job(definitions, instance, site, assets=["documents"]).success
    assert not run_job(definitions, instance, site, key="nowhere.example").success
    checks = {found.check_name: found for found in take(definitions, instance, site).get_asset_check_evaluations()}
    failed = checks["no_partition_is_left_failed"]
    assert not failed.passed
    assert failed.severity is dg.AssetCheckSeverity.WARN
    table = failed.metadata["failed"]
    assert isinstance(table, dg.TableMetadataValue)
    [row] = [dict(record.data) for record in table.records]
    assert (row["partition"], row["asset"], row["permanent"]) == ("nowhere.example", "documents", True)
    assert "could be fetched: 1 × not_archived" in str(row["reason"])
    assert checks["no_source_is_overdue"].passed

    instance.delete_dynamic_partition("webrag_source", "nowhere.example")
    with psycopg.connect(corpus_environment, autocommit=True) as connection:
        connection.execute("UPDATE documents SET next_check = now() - interval '3 days' WHERE status = 'ready'")
        connection.execute(
            "INSERT INTO spending (day, provider, requests, untold, input_tokens, output_tokens, pages)"
            " VALUES (current_date - 1, 'chat', 7, 0, 90, 9, 0)"
        )
        connection.execute("UPDATE refresh_runs SET started_at = started_at - interval '3 days'")
    done = take(definitions, instance, site)
    checks = {found.check_name: found for found in done.get_asset_check_evaluations()}
    assert checks["no_partition_is_left_failed"].passed
    overdue = checks["no_source_is_overdue"]
    assert not overdue.passed
    rows = overdue.metadata["overdue"]
    assert isinstance(rows, dg.TableMetadataValue)
    assert [record.data["source"] for record in rows.records] == [KEY]
    [inventory] = done.asset_materializations_for_node("corpus_inventory")
    assert inventory.metadata["pages"].value == 3
    assert "| `chat` | `7` | `99` | `0` | `no price set` |" in str(inventory.metadata["requests_per_day"].value)
    assert "cost_per_day" not in inventory.metadata, "without prices there is no cost, not one of zero"
    [gaps] = done.asset_materializations_for_node("answer_gaps")
    assert gaps.metadata["gaps"].value == 0  # nobody asked anything


@pytest.mark.slow
def test_a_source_is_stale_after_three_intervals_without_an_answer(
    definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path, corpus_environment: str
) -> None:
    site = tea_site(tmp_path)
    with psycopg.connect(corpus_environment, autocommit=True) as connection:
        connection.execute("UPDATE sources SET page_limit = 10, refresh_hours = 24")
        connection.execute("UPDATE sources SET kept_since = now() - interval '9 days'")
        connection.execute(
            "INSERT INTO sources (key, page_limit, kept_since, paused, declared_in) VALUES"
            " ('never.example', 5, now() - interval '91 days', false, NULL),"
            " ('young.example', 5, now() - interval '89 days', false, NULL),"
            " ('paused.example', 5, now() - interval '91 days', true, NULL),"
            " ('declared.example', 5, now() - interval '91 days', false, 'defs/a')"
        )
        for ago, fetched, failed, of_map in ((100, 3, 0, None), (70, 0, 0, 7), (1, 0, 3, 7), (1, 0, 0, None)):
            connection.execute(
                "INSERT INTO refresh_runs (source_id, run_id, started_at, ended_at, discovered, fetched, unchanged,"
                " failed, skipped, not_due, map_entries) SELECT id, 'run ' || %(ago)s || %(failed)s, at, at, 3,"
                " %(fetched)s, 0, %(failed)s, 0, 3 - %(fetched)s - %(failed)s, %(map)s FROM sources,"
                " LATERAL (SELECT now() - make_interval(hours => %(ago)s) AS at) t WHERE key = %(key)s",
                {"ago": ago, "fetched": fetched, "failed": failed, "map": of_map, "key": KEY},
            )
        for older, expected in (
            (0, ["declared.example", "never.example"]),
            (3, ["declared.example", "never.example", KEY]),
        ):
            connection.execute(
                "UPDATE refresh_runs SET started_at = started_at - make_interval(hours => %(h)s),"
                " ended_at = ended_at - make_interval(hours => %(h)s)",
                {"h": older},
            )
            done = take(definitions, instance, site)
            found = {one.check_name: one for one in done.get_asset_check_evaluations()}["every_source_is_fresh"]
            rows = found.metadata["stale"]
            assert isinstance(rows, dg.TableMetadataValue)
            assert [record.data["source"] for record in rows.records] == expected
            assert (found.passed, found.severity) == (False, dg.AssetCheckSeverity.WARN)
