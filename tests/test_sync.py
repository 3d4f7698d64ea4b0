"""The library without `async`: the same results and errors, inside a running event loop too."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from tests.answering.test_stream import ASKED, PAGES
from tests.conftest import fresh_database
from tests.local_site import SITE, LocalSite
from webrag_core.config import Settings
from webrag_core.errors import FetchError, InvalidInputError, StoreError
from webrag_core.sync import WebRAG

START, KEYS = f"{SITE}/", f"{SITE}/keys"


@pytest.fixture(scope="module")
def rag(server_url: str) -> Iterator[WebRAG]:
    with fresh_database(server_url) as url:
        settings = Settings(database_url=url, webrag_previews=2, webrag_reader="none")
        with WebRAG(settings, LocalSite(PAGES)) as opened:
            yield opened


def test_pages_are_stored_searched_and_asked(rag: WebRAG) -> None:
    assert rag.ingest(KEYS).outcome == "fetched"
    [(url, failed)] = rag.ingest_all([f"{SITE}/none"]).items()
    assert url == f"{SITE}/none"
    assert isinstance(failed, FetchError)
    rows = rag.search("signing keys", sources=["site.example"])
    assert rows.citations[0].source_url == KEYS
    answer = rag.ask(ASKED)
    assert [one.url for one in answer.citations[:1]] == [KEYS]
    result = rag.answer(KEYS, ASKED, expansion_budget=0)
    assert result.citations[0].source_url == KEYS
    assert [one.key for one in rag.sources()] == ["site.example"]
    assert [one.version for one in rag.history(KEYS).periods] == [1]
    assert rag.page_at(KEYS, "now").version == 1
    assert rag.compare(KEYS, "1", "1").note == "both are version 1: nothing changed"
    assert {one.state for one in rag.citations(answer)} == {"valid"}
    assert rag.plan(ASKED).tasks
    [report] = rag.refresh("site.example")
    assert report.counts.unchanged == 1


def test_errors_are_those_of_the_library(rag: WebRAG) -> None:
    with pytest.raises(FetchError) as caught:
        rag.ingest(f"{SITE}/none")
    assert caught.value.reason == "not_found"
    with pytest.raises(InvalidInputError):
        rag.ask("")
    with pytest.raises(InvalidInputError, match=r"nowhere\.example"):
        rag.refresh("nowhere.example")


def test_events_come_one_by_one_and_an_iterator_that_is_closed_cancels_its_run(rag: WebRAG) -> None:
    events = list(rag.events(ASKED))
    assert [events[0].type, events[-1].type] == ["planned", "done"]
    unread = rag.events(ASKED, urls=(START,))
    assert next(unread).type == "planned"
    unread.close()
    assert rag.search("keys").citations


def test_it_works_where_a_loop_runs_already(rag: WebRAG) -> None:
    async def cell() -> int:
        return len(rag.search("keys").citations)

    assert asyncio.run(cell()) > 0


def test_what_is_closed_says_so_and_leaves_no_thread(rag: WebRAG) -> None:
    other = WebRAG(rag.run(_settings))
    with pytest.raises(InvalidInputError, match="is not open"):
        other.search("keys")
    with other:
        unread = other.events(ASKED, urls=(START,))
        next(unread)
        with pytest.raises(InvalidInputError, match="is open already"):
            other.open()
    unread.close()
    other.close()
    assert [one.name for one in threading.enumerate()].count("webrag") == 1
    unreachable = WebRAG(Settings(database_url="postgresql://127.0.0.1:1/none"))
    with pytest.raises(StoreError):
        unreachable.open()


async def _settings(corpus: object) -> Settings:
    settings: Settings = corpus.settings  # type: ignore[attr-defined]
    return settings
