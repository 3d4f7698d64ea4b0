"""The same question of valid time gives the same facts through every face, also after an upgrade that reads anew."""

from __future__ import annotations

import asyncio
import html as markup
from collections.abc import Callable
from typing import Any

import httpx2
import psycopg
import pytest
from typer.testing import CliRunner

from tests.acquisition.served_pages import ServedPages, html
from tests.mcp_server.clients import called, connected, text_of
from tests.web.serving import web_server
from webrag_core.cli.main import app
from webrag_core.config import Settings
from webrag_core.history.as_of import AsOf
from webrag_core.history.document_apis.models import DocumentReply
from webrag_core.history.document_apis.resolving import reply_at
from webrag_core.history.past_search import search_at
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import OrchestratorEngine
from webrag_core.retrieval.request import SearchRequest
from webrag_core.routing.agents.history import HistoryAgent
from webrag_core.routing.agents.protocol import Context
from webrag_core.routing.plan import HistoryPage, Task
from webrag_core.sync import WebRAG

OLD, NEW = (f"https://fees.example/{version}/terms" for version in ("3.11", "3.13"))
PAGES = {url: html("Terms", "In force from 1 January 2020", "The yearly fee is 10 crowns.") for url in (OLD, NEW)}
HOLDS = "says that it is in force from 2020-01-01"
VALID = {"url": OLD, "at": "2021", "time": "valid"}

Face = Callable[[Settings, httpx2.Client], str]


async def _open(settings: Settings, work: Callable[[Corpus], Any]) -> str:
    async with Corpus.open(settings) as corpus:
        return str(await work(corpus))


def _of_corpus(work: Callable[[Corpus], Any]) -> Face:
    return lambda settings, _: asyncio.run(_open(settings, work))


def _of_library(work: Callable[[WebRAG], Any]) -> Face:
    def face(settings: Settings, _: httpx2.Client) -> str:
        with WebRAG(settings) as rag:
            return str(work(rag).model_dump_json())

    return face


def _of_command(*arguments: str) -> Face:
    def face(settings: Settings, _: httpx2.Client) -> str:
        assert settings.database_url is not None
        done = CliRunner().invoke(app, arguments, env={"DATABASE_URL": settings.database_url})
        assert done.exit_code == 0, done.output
        return done.output

    return face


def _of_server(path: str, **query: str) -> Face:
    return lambda _, client: markup.unescape(client.get(path, params=query).raise_for_status().text)


def _of_tool(**arguments: str) -> Face:
    async def work(settings: Settings) -> str:
        async with connected(settings) as client:
            return text_of(await called(client, "history", **arguments))

    return lambda settings, _: asyncio.run(work(settings))


async def _by_agent(corpus: Corpus) -> str:
    task = Task(id="then", params=HistoryPage(url=OLD, at="2021", time="valid"))
    return str(await HistoryAgent().run(task, Context(corpus, OrchestratorEngine(corpus), 10.0)))


async def _by_search(corpus: Corpus) -> list[str]:
    found = await search_at(corpus, SearchRequest(query="yearly fee"), AsOf.parse("2021"), time="valid")
    return [HOLDS for one in found.citations if one.source_url == OLD]  # those that hold are all that it finds


async def _by_document_api(corpus: Corpus) -> DocumentReply:
    return await reply_at(corpus.database, "terms", OLD, AsOf.parse("2021"), "valid")


FACES: dict[str, tuple[Face, tuple[str, ...]]] = {
    "library, page_at": (_of_library(lambda rag: rag.page_at(OLD, "2021", time="valid")), (HOLDS,)),
    "library, history": (_of_library(lambda rag: rag.history(OLD)), ('"start":"2020-01-01"', NEW)),
    "command history --at": (_of_command("history", OLD, "--at", "2021", "--time", "valid"), (HOLDS,)),
    "command history": (_of_command("history", OLD, "--json"), ('"start": "2020-01-01"', NEW)),
    "command graph works": (_of_command("graph", "works", OLD, "--json"), (NEW,)),
    "REST": (_of_server("/api/history", **VALID), (HOLDS, '"start":"2020-01-01"', NEW)),
    "page of a time": (_of_server("/history/at", **VALID), (HOLDS,)),
    "page of versions": (_of_server("/history", url=OLD), ("2020-01-01", NEW)),
    "tool, at": (_of_tool(**VALID), (HOLDS,)),
    "tool": (_of_tool(url=OLD), (NEW,)),
    "agent": (_of_corpus(_by_agent), (HOLDS,)),
    "search": (_of_corpus(_by_search), (HOLDS,)),
    "document API": (_of_corpus(_by_document_api), (HOLDS,)),
}


def _as_an_older_version_left_it(url: str) -> None:
    """What was read of the texts is of another reader, and nobody looked for versions beside each other."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DELETE FROM version_validity")
        connection.execute("UPDATE document_versions SET dates_read = 'older'")
        connection.execute("TRUNCATE works, work_members")
        connection.execute("UPDATE documents SET work_version = NULL")


@pytest.mark.slow
def test_every_face_reads_first_what_an_older_version_left_unread(settings: Settings) -> None:
    async def store() -> None:
        async with Corpus.open(settings, ServedPages(PAGES)) as corpus:
            for url in PAGES:
                await corpus.add(url)

    settings = settings.model_copy(update={"webrag_warc": None})
    asyncio.run(store())
    assert settings.database_url is not None
    without = []
    with web_server(settings) as client:
        for name, (face, facts) in FACES.items():
            _as_an_older_version_left_it(settings.database_url)
            shown = face(settings, client)
            without += [(name, fact) for fact in facts if fact not in shown]
    assert without == []


def test_readers_at_the_same_time_wait_for_the_one_that_reads_anew(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, ServedPages(PAGES)) as corpus:
            for url in PAGES:
                await corpus.add(url)
            assert settings.database_url is not None
            await asyncio.to_thread(_as_an_older_version_left_it, settings.database_url)
            at = AsOf.parse("2021")
            read = [reply_at(corpus.database, "terms", OLD, at, "valid") for _ in range(5)]
            assert {one.certainty for one in await asyncio.gather(*read)} == {"certain"}

    asyncio.run(work())
