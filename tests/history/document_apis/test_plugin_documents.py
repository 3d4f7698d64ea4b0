"""A source of documents of another package: named before an identifier, in questions of people."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from tests.command_line import Webrag, webrag_here
from tests.local_site import SITE, LocalSite, over_pages, page
from tests.plugin_packages import Install, install
from webrag_core.config import Settings
from webrag_core.errors import FetchError, InvalidInputError, PluginError
from webrag_core.history.document_apis.identifiers import named_source
from webrag_core.history.document_apis.opening import open_document_apis
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import OrchestratorEngine
from webrag_core.origin import ANSWER, asked_by
from webrag_core.routing.agents.all import make_agents
from webrag_core.routing.agents.protocol import Context
from webrag_core.routing.plan import ApiFetch, ExecutionPlan, Task
from webrag_core.routing.question import Question
from webrag_core.routing.results import Output
from webrag_core.routing.router import Router

__all__ = ["install", "webrag_here"]

SOURCE = """
    from contextlib import asynccontextmanager
    from webrag_core.extending import DocumentVersion, reply_at

    class Wiki:
        name = "wiki"

        def __init__(self, corpus):
            self.corpus = corpus

        async def fetch(self, identifiers, at=None):
            if "raises" in identifiers:
                raise KeyError("no wiki")
            if "lists" in identifiers:
                return [None]
            replies = []
            for identifier in identifiers:
                if identifier != "forgets":
                    added = await self.corpus.add("https://site.example/" + identifier)
                    replies.append(await reply_at(self.corpus.database, identifier, added.url, at, "seen"))
            return replies

        async def versions(self, identifier):
            if identifier == "raises":
                raise KeyError("no wiki")
            return [DocumentVersion(url="https://site.example/" + identifier, start=None)]

        async def search_titles(self, text):
            return []

    @asynccontextmanager
    async def open_wiki(corpus):
        yield Wiki(corpus)

    @asynccontextmanager
    async def open_nothing(corpus):
        yield None

    @asynccontextmanager
    async def fails(corpus):
        raise KeyError("no wiki")
        yield

    @asynccontextmanager
    async def open_other(corpus):
        other = Wiki(corpus)
        other.name = "legal"
        yield other
"""
ENTRIES = {
    "wiki": "tea_wiki:open_wiki",
    "nothing": "tea_wiki:open_nothing",
    "other": "tea_wiki:open_other",
    "fails": "tea_wiki:fails",
    "plain": "tea_wiki:Wiki",
    "broken": "no_such_package:make",
    "https": "tea_wiki:open_wiki",
}
PAGES = {"/tea": page("Tea", "Green tea steeps for two minutes.")}


@pytest.fixture(autouse=True)
def _installed(install: Install) -> None:
    install("tea_wiki", SOURCE, {"webrag.documents": ENTRIES})


async def found_by(corpus: Corpus, params: ApiFetch) -> Output:
    task = Task(id="document", params=params)
    return await make_agents()[task.agent].run(task, Context(corpus, OrchestratorEngine(corpus), 10.0))


def planned(settings: Settings, text: str) -> ExecutionPlan:
    async def plan() -> ExecutionPlan:
        async with Corpus.open(settings, LocalSite({})) as corpus:
            return await Router(corpus, make_agents()).plan(Question(text))

    return asyncio.run(plan())


def test_what_it_stores_is_evidence_and_what_is_wrong_costs_its_identifier(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        found = await found_by(corpus, ApiFetch(identifiers=["wiki:tea", "broken:tea"]))
        assert [finding.url for finding in found.findings] == [f"{SITE}/tea"]
        [warning] = found.warnings
        assert "the source of documents broken (entry point webrag.documents: broken = no_such" in str(warning)
        assert "no_such_package" not in sys.modules
        async with open_document_apis(corpus, ["wiki"]) as apis:
            assert len(await apis["wiki"].versions("tea")) == 1
            assert [reply.status for reply in await apis["wiki"].fetch(["tea", "forgets"])] == [
                "already_stored",
                "failed",
            ]
            for wrong in ("raises", "lists"):
                [reply] = await apis["wiki"].fetch([wrong])
                assert (reply.status, reply.code) == ("failed", "provider_failed")
                assert "entry point webrag.documents: wiki" in reply.note
            with pytest.raises(FetchError, match="KeyError"):
                await apis["wiki"].versions("raises")

    over_pages(settings, PAGES, work)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nothing", "gives no DocumentApi"),
        ("other", "calls itself 'legal'"),
        ("fails", "fails: KeyError"),
        ("plain", "makes no asynchronous context manager"),
        ("broken", "no_such_package"),
    ],
)
def test_one_that_cannot_be_used_breaks_no_other(settings: Settings, name: str, problem: str) -> None:
    async def work(corpus: Corpus) -> None:
        with pytest.raises(PluginError, match=problem):
            await found_by(corpus, ApiFetch(identifiers=[f"{name}:tea"]))
        async with open_document_apis(corpus) as apis:
            assert list(apis) == ["legal"]
        with pytest.raises(InvalidInputError, match=r"no source of documents 'none'; there are: .*legal, memento, "):
            async with open_document_apis(corpus, ["none"]):
                pass

    over_pages(settings, {}, work)


def test_only_a_name_that_is_installed_makes_an_identifier() -> None:
    assert named_source("wiki:tea:green") == ("wiki", "tea:green")
    for text in ("wiki:", "wiki", "tea:wiki", "https://site.example/", "legal:tea", f"memento:{SITE}/", ":tea"):
        assert named_source(text) is None


def test_a_question_of_a_person_names_it_and_one_of_a_model_does_not(settings: Settings) -> None:
    text = "How long does the tea of wiki:tea steep?"
    [identified] = [task.params for task in planned(settings, text).tasks if isinstance(task.params, ApiFetch)]
    assert identified.identifiers == ["wiki:tea"]
    for origin in ("mcp", ANSWER):
        with asked_by(origin):
            assert not [task for task in planned(settings, text).tasks if isinstance(task.params, ApiFetch)]


def test_the_command_line_plans_with_it(webrag_here: Webrag) -> None:
    done = webrag_here("plan", "How long does the tea of wiki:tea steep?", "--json")
    assert done.returncode == 0, done.stderr
    assert ["wiki:tea"] in [task["params"].get("identifiers") for task in json.loads(done.stdout)["tasks"]]
