"""Job `forget` removes from the corpus what its one field names, and no file keeps a word of it."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import dagster as dg
import psycopg
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.dagster.corpus_runs import BLACK, GREEN, HOME, materialized, run_job, tea_site
from webrag_core.answering.models import Answer
from webrag_core.config import load_settings
from webrag_core.corpus.page_files import PAGE_FILES
from webrag_core.feedback.goldens import write_goldens
from webrag_core.feedback.models import Better, NewFeedback
from webrag_core.feedback.store import decide, record
from webrag_core.store.database import Database
from webrag_dagster.processes.ui_pages import WithPages
from webrag_dagster.resources import CorpusResource

SENTENCES = {
    HOME: "All about tea and water",
    GREEN: "Green tea is brewed at eighty degrees",
    BLACK: "Black tea is brewed at ninety-five degrees",
}


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


def test_what_was_removed_is_scrubbed_beside_others(
    definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path, corpus_environment: str
) -> None:
    resources = {"corpus": CorpusResource(warc=str(tea_site(tmp_path)))}
    job = definitions.resolve_job_def("forget")
    with psycopg.connect(corpus_environment) as reader:  # as `webrag serve` beside it
        for config in ({"target": GREEN, "scrub": True}, {"scrub": True}):
            done = job.execute_in_process(instance=instance, run_config=config, resources=resources)
            [output] = done.get_step_success_events() and done.filter_events(lambda event: event.is_successful_output)
            metadata = output.step_output_data.metadata
            assert isinstance(metadata["tables"].value, int)
            assert metadata["tables"].value > 20
            assert "the records of dagster" in str(metadata["not_reached"].value)
            assert ("kind" in metadata) == ("target" in config)
            assert instance.get_run_by_id(done.run_id) is not None  # no run deletes itself
        reader.execute("SELECT")
    assert GREEN not in documents(corpus_environment)


@pytest.mark.slow
def test_no_file_keeps_a_word_of_what_was_removed(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    tmp_path: Path,
    corpus_environment: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("WEBRAG_HOME", str(home))
    site = tea_site(tmp_path)
    monkeypatch.setenv("WEBRAG_WARC", str(site))
    assert run_job(definitions, instance, site, assets=["embeddings"]).success
    asked = definitions.resolve_job_def("ask").execute_in_process(
        instance=instance,
        run_config={
            "question": "What is all about tea and water, and at what temperature is tea brewed?",
            "urls": [HOME],
        },
    )
    answer = Answer.model_validate(asked.output_for_node("compose_answer"))
    links = [
        materialized(instance, "embeddings")[0].metadata["graph_page"],
        asked.asset_materializations_for_node("compose_answer")[0].metadata["read_it"],
    ]
    ui = TestClient(WithPages(Starlette(), load_settings()))
    pages = [str(link.value) for link in links]
    assert {page for page in SENTENCES if any(shown(ui, path, SENTENCES[page]) for path in pages)} == set(SENTENCES)
    assert words_on_disk(home) == set()  # all of it was shown, none of it is kept

    leave_files(home, answer.answer_id or 0)
    assert words_on_disk(home) == set(SENTENCES)
    job = definitions.resolve_job_def("forget")
    quoted = [one.url for one in reversed(answer.citations)]
    order = sorted(SENTENCES, key=quoted.index)
    for gone, page in enumerate(order, start=1):
        assert job.execute_in_process(instance=instance, run_config={"target": page}).success
        assert words_on_disk(home) <= set(order[gone:])
        assert not any(shown(ui, path, SENTENCES[page]) for path in pages)


def words_on_disk(home: Path) -> set[str]:
    """Pages of which a file below `home` holds the sentence."""
    texts = [" ".join(file.read_text(encoding="utf-8").split()) for file in home.rglob("*") if file.is_file()]
    return {page for page, sentence in SENTENCES.items() if any(sentence in text for text in texts)}


def shown(ui: TestClient, path: str, sentence: str) -> bool:
    """Whether the page at this path says the sentence, whatever is marked in it."""
    return sentence in " ".join(re.sub(r"<[^>]+>", " ", ui.get(path).text).split())


def leave_files(home: Path, answer_id: int) -> None:
    """A file of every kind with words of all pages: those of earlier versions, and golden questions."""
    for name in ("answers/answer-1.html", "graphs/tea.example.html"):
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text("; ".join(SENTENCES.values()))
    asyncio.run(accept_corrections(answer_id))
    assert all(any(home.glob(pattern)) for kind in PAGE_FILES for pattern in kind.patterns)


async def accept_corrections(answer_id: int) -> None:
    """Golden questions whose documents are all pages."""
    settings = load_settings()
    async with await Database.open(settings) as database:
        suggestions = [
            await record(
                database,
                NewFeedback(
                    answer_id=answer_id,
                    kind="better_source",
                    actor="Ada",
                    actor_kind="person",
                    better=Better(page, quote=sentence),
                ),
            )
            for page, sentence in SENTENCES.items()
        ]
        await decide(database, [one.id for one in suggestions], accept=True)
        await write_goldens(database, settings)
