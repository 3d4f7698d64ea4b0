"""Asset `window_vectors` and the sensor that asks for it."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from tests.dagster.corpus_runs import tea_site
from webrag_dagster.defs.window_vectors import reading_due, window_vectors
from webrag_dagster.resources import CorpusResource


def asked(instance: dg.DagsterInstance, corpus: CorpusResource) -> object:
    with dg.build_sensor_context(instance=instance) as context:
        return reading_due(context, corpus=corpus)


@pytest.mark.slow
def test_passages_are_read_where_some_are_missing_and_the_setting_is_on(
    tmp_path: Path, instance: dg.DagsterInstance, corpus_environment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = CorpusResource(warc=str(tea_site(tmp_path)))
    assert isinstance(asked(instance, corpus), dg.RunRequest)
    monkeypatch.setenv("RETRIEVAL_WINDOWS", "false")
    assert isinstance(asked(instance, corpus), dg.SkipReason)
    monkeypatch.delenv("RETRIEVAL_WINDOWS")
    done = dg.materialize([window_vectors], instance=instance, resources={"corpus": corpus})
    [event] = done.asset_materializations_for_node("window_vectors")
    assert [event.metadata[name].value for name in ("vectors_made", "passages_with_vector", "texts_missing")] == [
        *(3, 3, 0)
    ]
    assert isinstance(asked(instance, corpus), dg.SkipReason)
