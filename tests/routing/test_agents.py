"""The agents over small real corpora: what they name stands where they say, word for word."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.corpora import rows
from tests.history.document_apis.test_legal_api import LAWS, MILK, TEA
from tests.history.test_history import store, with_archive
from tests.history.texts import BLACK, FIRST, GONE, GREEN, SECOND
from tests.local_site import SITE, over_pages
from tests.retrieval.tables.test_lookup import PAGES as TABLES
from webrag_core.answering.manager import Manager, Question
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import OrchestratorEngine
from webrag_core.routing.agents.all import make_agents
from webrag_core.routing.agents.protocol import Context
from webrag_core.routing.plan import (
    ApiFetch,
    GraphAt,
    GraphHierarchy,
    GraphLinked,
    GraphRelated,
    HistoryChanges,
    HistoryCitations,
    HistoryPage,
    HistoryVersions,
    TablesLookup,
    Task,
)
from webrag_core.routing.results import Output

LIBRARY = "https://docs.python.org/3.11/library"


async def asked(corpus: Corpus, params: Any) -> Output:
    """What the agent of a task finds; every finding is checked against the stored text."""
    task = Task(id="one", params=params)
    output = await make_agents()[task.agent].run(task, Context(corpus, OrchestratorEngine(corpus), 10.0))
    versions = sorted({one.version_id for one in output.findings})
    texts = dict(await rows(corpus.database, "SELECT id, markdown FROM document_versions WHERE id = ANY(%s)", versions))
    for one in output.findings:
        quote = texts[one.version_id][one.char_start : one.char_end]
        assert quote.strip()
        assert hashlib.sha256(quote.encode()).hexdigest() == one.sha256
    return output


async def quotes(corpus: Corpus, output: Output) -> list[str]:
    found = []
    for one in output.findings:
        [[text]] = await rows(corpus.database, "SELECT markdown FROM document_versions WHERE id = %s", one.version_id)
        found.append(text[one.char_start : one.char_end])
    return found


def test_tables_name_the_whole_row_of_a_value(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        found = await asked(corpus, TablesLookup(query="Which port does the steamer use?"))
        assert found.findings[0].label == "steamer – Port: 4081"
        assert (await quotes(corpus, found))[0] == "| steamer | 4081 | UDP |"
        assert len({(one.version_id, one.char_start) for one in found.findings}) == len(found.findings)
        entry = await asked(corpus, TablesLookup(query="default of queue_time"))
        assert "queue_time" in entry.findings[0].label
        assert entry.findings[0].label.endswith(": 5d")
        elsewhere = TablesLookup(query="Which port does the steamer use?", below=[f"{SITE}/kinds"])
        nothing = await asked(corpus, elsewhere)
        assert nothing.is_empty
        assert nothing.note
        assert (await asked(corpus, TablesLookup(query="How many moons does Jupiter have?"))).is_empty

    over_pages(settings, TABLES, work)


def test_laws_are_named_by_their_part_and_what_is_missing_is_said(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        part = await asked(corpus, ApiFetch(identifiers=[f"{TEA}~art2"], at="1995"))
        [quote] = await quotes(corpus, part)
        assert quote.startswith("## Article 2")
        assert "Article 1" not in quote
        assert part.warnings == []
        missing = "urn:nir:stato:legge:2000-01-01;1"
        some = await asked(corpus, ApiFetch(identifiers=[missing, MILK, "https://elsewhere.example/"]))
        assert [one.url for one in some.findings] == [f"{SITE}/milk"]
        assert len(some.warnings) == 2
        assert any("MEMENTO_TIMEGATE" in warning for warning in some.warnings)
        before = await asked(corpus, ApiFetch(identifiers=[TEA], at="1980"))
        assert before.is_empty
        assert before.warnings
        with pytest.raises(InvalidInputError):
            await asked(corpus, ApiFetch(identifiers=["https://elsewhere.example/"]))

    over_pages(settings, LAWS, work)


def test_the_graph_names_passages(settings: Settings) -> None:
    async def run() -> None:
        async with Corpus.open(settings) as corpus:
            for name in ("asyncio-queue", "queue", "imp", "importlib"):
                await corpus.add(f"{LIBRARY}/{name}.html")
            await corpus.indexer.finish_bulk()
            linked = await asked(corpus, GraphLinked(keys=["python:imp.find_module"]))
            assert {one.group.split(" ")[0] for one in linked.findings} >= {"Documents", "Deprecates", "Mentions"}
            assert any("Deprecated since" in quote for quote in await quotes(corpus, linked))
            few = await asked(corpus, GraphLinked(keys=["asyncio.Queue"], k=1))
            assert any("there are more than 1" in warning for warning in few.warnings)
            tree = await asked(corpus, GraphHierarchy(keys=["asyncio.Queue"]))
            assert {one.group for one in tree.findings} == {"Contains"}
            assert {one.label for one in tree.findings} & {"asyncio.Queue.get", "asyncio.Queue.put"}
            await asked(corpus, GraphRelated(keys=["asyncio.Queue"]))
            assert (await asked(corpus, GraphAt(keys=["asyncio.Queue"], at="now"))).findings
            double = await asked(corpus, GraphLinked(keys=["get_nowait", "nothing.like.it"]))
            assert any("means several things" in warning for warning in double.warnings)
            unknown = await asked(corpus, GraphLinked(keys=["nothing.like.it"]))
            assert unknown.is_empty
            assert "nothing.like.it" in unknown.note

    asyncio.run(run())


def over_days(settings: Settings, folder: Path, work: Callable[[Corpus], Awaitable[None]]) -> None:
    """A site of two years; an answer quotes the first."""

    async def run() -> None:
        await store(settings, folder, FIRST, SECOND)
        async with Corpus.open(with_archive(settings, folder, SECOND)) as corpus:
            await work(corpus)

    asyncio.run(run())


def test_a_page_at_a_date_and_its_last_change_are_planned_and_listed(settings: Settings, tmp_path: Path) -> None:
    async def work(corpus: Corpus) -> None:
        manager = Manager(corpus)
        then = await manager.answer(Question(f"What did {GREEN} say in March 2023?"))
        assert then.plan is not None
        assert then.plan.made_by == "rules: page_then"
        quotes = [then.citation(row.citation) for row in then.listed]
        assert [(one.url, "80 degrees" in one.quote) for one in quotes] == [(GREEN, True)]
        assert "this is what the pages said as of 2023-03" in then.applicability_note
        changed = await manager.answer(Question(f"When did {GREEN} last change?"))
        assert changed.plan is not None
        assert changed.plan.made_by.startswith("rules: last_change")
        assert changed.listed[0].group == f"Changed on {GREEN}"

    over_days(settings, tmp_path, work)


def test_history_names_what_changed_and_how(settings: Settings, tmp_path: Path) -> None:
    async def work(corpus: Corpus) -> None:
        for params in (HistoryVersions(url=GREEN), HistoryChanges(targets=[GREEN], since="2023-06")):
            found = await asked(corpus, params)
            first = found.findings[0]
            assert "changed: “" in first.label
            assert "80" in first.label.partition("→")[0]
            assert "75" in first.label.partition("→")[2]
            assert first.group == f"Changed on {GREEN}"
            assert any("added" in one.label for one in found.findings[1:])
        both = await asked(corpus, HistoryChanges(targets=[GREEN, BLACK]))
        assert {one.url for one in both.findings} == {GREEN, BLACK}
        assert both.note.startswith("2 pages changed")
        assert (await asked(corpus, HistoryChanges(targets=[GREEN], since="2025"))).note == "nothing changed"
        then = await asked(corpus, HistoryPage(url=GREEN, at="2023-03-01T12:00:00Z"))
        assert "80 degrees" in (await quotes(corpus, then))[0]
        gone = await asked(corpus, HistoryPage(url=GONE, at="now"))
        assert gone.is_empty
        assert gone.note

    over_days(settings, tmp_path, work)


def test_every_quote_of_an_answer_is_listed_with_what_became_of_it(settings: Settings, tmp_path: Path) -> None:
    async def work(corpus: Corpus) -> None:
        [[number, count]] = await rows(
            corpus.database, "SELECT answer_id, count(*) FROM citations GROUP BY 1 ORDER BY 1 LIMIT 1"
        )
        found = await asked(corpus, HistoryCitations(answer=number))
        assert len(found.findings) == count
        assert {one.group for one in found.findings} == {f"Quotes of answer {number}"}
        assert any("changed" in one.label and "sentences stand" in one.label for one in found.findings)
        assert f"of {count} quotes of answer {number} still stand" in found.note
        answer = await Manager(corpus).answer(Question(f"Do the quotes of answer {number} still stand?"))
        listed = [one for one in answer.listed if one.group == f"Quotes of answer {number}"]
        assert len(listed) == count
        assert (await asked(corpus, HistoryCitations(answer=987_654))).is_empty

    over_days(settings, tmp_path, work)
