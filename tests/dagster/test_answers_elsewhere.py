"""Answers that nobody asked for in Dagster appear there all the same, once, with who asked."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import dagster as dg
import psycopg
import pytest

from tests.dagster.corpus_runs import HOME, tea_site
from webrag_core.answering.manager import Manager, Question
from webrag_core.config import load_settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.origin import asked_by
from webrag_dagster.corpus import answers_elsewhere as elsewhere
from webrag_dagster.defs.corpus_changes import corpus_changes
from webrag_dagster.resources import CorpusResource

QUESTION = "At which temperature is green tea brewed?"
Events = list[dg.AssetMaterialization]


def look(instance: dg.DagsterInstance, cursor: str | None) -> tuple[Events, str | None]:
    """One tick: its events of answers, and the next cursor."""
    with dg.build_sensor_context(instance=instance, cursor=cursor) as context:
        result = corpus_changes(context, corpus=CorpusResource())
    assert isinstance(result, dg.SensorResult)
    events = [event for event in result.asset_events if isinstance(event, dg.AssetMaterialization)]
    return [event for event in events if event.asset_key.path[-1] in ("answers", "prose_answers")], result.cursor


@pytest.mark.slow
def test_answers_from_elsewhere_are_reported_once_with_who_asked(
    corpus_environment: str, instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBRAG_HOME", str(tmp_path))
    monkeypatch.setattr(elsewhere, "MOST_ANSWERS", 1)
    site = tea_site(tmp_path)

    async def answer() -> None:
        async with Corpus.open(load_settings(webrag_warc=site)) as corpus:
            engine = OrchestratorEngine(corpus)
            for origin in ("cli", "dagster", "answer"):
                with asked_by(origin):
                    await engine.run(AnswerRequest((HOME,), QUESTION))
            await Manager(corpus).answer(Question(QUESTION, (HOME,)))

    assert look(instance, None)[0] == []
    asyncio.run(answer())
    first, cursor = look(instance, None)
    for event in first:
        instance.report_runless_asset_event(event)
    second, cursor = look(instance, cursor)
    assert look(instance, cursor)[0] == []
    events = [*first, *second]
    # the cursor of an earlier version names no answer: what Dagster has is not reported again
    lost = json.dumps({name: value for name, value in json.loads(cursor or "").items() if name != "answers"})
    assert [event.metadata["asked_by"].value for event in look(instance, lost)[0]] == ["library"]
    for event in second:
        instance.report_runless_asset_event(event)
    assert look(instance, lost)[0] == []
    assert [(event.asset_key.to_user_string(), event.metadata["asked_by"].value) for event in events] == [
        ("answers", "cli"),
        ("prose_answers", "library"),
    ]
    for event in events:
        assert list(event.metadata)[:3] == ["verdict", "question", "answer"]
        assert "eighty degrees" in str(event.metadata["answer"].value).replace("\n", " ")
    assert events[1].metadata["read_it"].value == f"/webrag/answers/answer-{events[1].metadata['answer_id'].value}.html"
    assert not (tmp_path / "answers").exists()
    with psycopg.connect(corpus_environment) as connection:
        origins = connection.execute("SELECT origin, count(*) FROM answer_runs GROUP BY origin ORDER BY 1").fetchall()
    assert dict(origins) == {"answer": 1, "cli": 1, "dagster": 1, "library": 1}
