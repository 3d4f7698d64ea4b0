"""Retrievers for other frameworks, with those frameworks."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import psycopg
import pytest

from tests.answering.test_stream import ASKED, PAGES
from tests.conftest import fresh_database
from tests.local_site import SITE, LocalSite
from tests.test_examples import DOCS, snippets
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.integrations import langchain, llamaindex
from webrag_core.retrieval.request import ScopeFilter
from webrag_core.sync import WebRAG

KEYS = f"{SITE}/keys"
Passage = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module")
def settings(server_url: str) -> Iterator[Settings]:
    with fresh_database(server_url) as url:
        yield Settings(database_url=url, webrag_reader="none")


@pytest.fixture(scope="module")
def rag(settings: Settings) -> Iterator[WebRAG]:
    with WebRAG(settings, LocalSite(PAGES)) as opened:
        opened.ingest_all([f"{SITE}{path}" for path in PAGES])
        yield opened


def by_langchain(corpus: WebRAG | Corpus, **options: Any) -> langchain.WebragRetriever:
    return langchain.WebragRetriever(corpus=corpus, **options)


def retrieved(corpus: WebRAG, **options: Any) -> list[list[Passage]]:
    """Of both frameworks."""
    documents = by_langchain(corpus, **options).invoke(ASKED)
    nodes = llamaindex.WebragRetriever(corpus, **options).retrieve(ASKED)
    return [
        [(one.page_content, one.metadata) for one in documents],
        [(one.node.get_content(), one.node.metadata) for one in nodes],
    ]


def test_passages_can_be_proved_by_their_metadata(rag: WebRAG, settings: Settings) -> None:
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url) as connection:
        for rows in retrieved(rag):
            text, metadata = rows[0]
            assert metadata["url"] == KEYS
            assert "rotate --signing" in text
            assert hashlib.sha256(text.encode()).hexdigest() == metadata["sha256"]
            [(markdown,)] = connection.execute(
                "SELECT markdown FROM document_versions WHERE id = %(version_id)s AND sha256 = %(version_sha256)s",
                metadata,
            )
            assert markdown[metadata["char_start"] : metadata["char_end"]] == text
            scores = [one["score"] for _, one in rows]
            assert scores == sorted(scores, reverse=True)
    assert retrieved(rag)[0][0][1]["source"] == KEYS


def test_options_restrict_the_search(rag: WebRAG) -> None:
    for rows in retrieved(rag, k=1):
        assert len(rows) == 1
    for rows in retrieved(rag, filters=ScopeFilter(url_prefixes=[f"{SITE}/logs"])):
        assert {metadata["url"] for _, metadata in rows} == {f"{SITE}/logs"}
    for rows in retrieved(rag, sources=["site.example"], at="now"):
        assert rows[0][1]["url"] == KEYS
    with pytest.raises(InvalidInputError, match=r"nowhere\.example"):
        retrieved(rag, sources=["nowhere.example"])


def test_the_snippet_of_the_library_page_runs(rag: WebRAG, capsys: pytest.CaptureFixture[str]) -> None:
    [snippet] = [one for one in snippets(DOCS / "library.md") if "llamaindex" in one]
    exec(snippet, {"WebRAG": lambda settings: nullcontext(rag), "settings": None, "question": ASKED})
    assert KEYS in capsys.readouterr().out


def test_they_are_awaited_in_any_loop_and_a_corpus_in_its_own(rag: WebRAG, settings: Settings) -> None:
    async def work() -> list[str]:
        async with Corpus.open(settings, LocalSite(PAGES)) as own:
            urls = []
            for corpus in (rag, own):
                [document] = await by_langchain(corpus, k=1).ainvoke(ASKED)
                [node] = await llamaindex.WebragRetriever(corpus, k=1).aretrieve(ASKED)
                urls += [document.metadata["url"], node.node.metadata["url"]]
            with pytest.raises(InvalidInputError, match="with await"):
                by_langchain(own).invoke(ASKED)
            return urls

    assert asyncio.run(work()) == [KEYS] * 4
