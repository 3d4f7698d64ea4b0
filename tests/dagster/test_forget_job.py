"""Job `forget` removes from the corpus what its one field names."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import psycopg

from tests.dagster.corpus_runs import BLACK, tea_site
from webrag_dagster.resources import CorpusResource


def documents(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [row[0] for row in connection.execute("SELECT canonical_url FROM documents")]


def test_a_page_is_removed_from_the_launchpad(
    definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path, corpus_environment: str
) -> None:
    site = tea_site(tmp_path)
    resources = {"corpus": CorpusResource(warc=str(site))}
    job = definitions.resolve_job_def("forget")
    done = job.execute_in_process(instance=instance, run_config={"target": BLACK}, resources=resources)
    assert done.success
    assert BLACK not in documents(corpus_environment)
    again = job.execute_in_process(
        instance=instance, run_config={"target": BLACK}, resources=resources, raise_on_error=False
    )
    assert not again.success
