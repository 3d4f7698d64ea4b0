"""A corpus that commit 3965e26 made and 0477561 migrated still opens, verifies, answers and replays.

`data/corpus-0477561.sql.xz` is its dump (five pages of the frozen Python site, one attached source, one refresh, two
answers); `data/corpus-0477561.json` holds what its own search and answers quoted.
"""

from __future__ import annotations

import asyncio
import json
import lzma
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from evals.walks.recorded import RecordedRun, run_of_answer
from evals.walks.replay import replay
from tests.corpus.corpora import broken_rules
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.answers import broken_citations, load_stored_run
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.policies import get_policy
from webrag_core.retrieval.models import CitationSpan
from webrag_core.retrieval.request import SearchRequest
from webrag_core.retrieval.search import search
from webrag_core.store.postgres_server import programs

DATA = Path(__file__).parent / "data"
RECORDED: dict[str, Any] = json.loads((DATA / "corpus-0477561.json").read_text())
PSQL = programs() / "psql"

pytestmark = pytest.mark.unmigrated


@pytest.fixture
def old_corpus(database_url: str, settings: Settings) -> Settings:
    """Settings of a database that holds the old corpus, as it was."""
    done = subprocess.run(
        [PSQL, "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", database_url],
        input=lzma.decompress((DATA / "corpus-0477561.sql.xz").read_bytes()),
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return settings


def overlaps(citation: CitationSpan, quote: dict[str, Any]) -> bool:
    """True when the citation quotes some of the same text of the same version."""
    return (
        citation.version_sha256 == quote["version_sha256"]
        and citation.char_start < quote["end"]
        and quote["start"] < citation.char_end
    )


def test_it_opens_and_every_invariant_holds(old_corpus: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(old_corpus) as corpus:
            assert await broken_rules(corpus.database) == set()
            async with corpus.database.connection() as connection:
                quotes, broken = await broken_citations(connection)
            assert (quotes, broken) == (sum(len(answer["citations"]) for answer in RECORDED["answers"]), [])

    asyncio.run(work())


def test_a_search_finds_the_same_page_and_quote(old_corpus: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(old_corpus) as corpus:
            result = await search(corpus, SearchRequest(query=RECORDED["search"]["query"]))
            assert await broken_rules(corpus.database) == set()
        best = RECORDED["search"]["quotes"][0]
        assert result.citations[0].source_url == best["url"]
        assert any(overlaps(citation, best) for citation in result.citations[:3])

    asyncio.run(work())


@pytest.mark.slow
@pytest.mark.parametrize("recorded", RECORDED["answers"], ids=lambda answer: answer["url"].rpartition("/")[2])
def test_a_question_is_answered_as_before(old_corpus: Settings, recorded: dict[str, Any]) -> None:
    async def work() -> None:
        async with Corpus.open(old_corpus) as corpus:
            result = await OrchestratorEngine(corpus).run(AnswerRequest((recorded["url"],), recorded["query"]))
            assert await broken_rules(corpus.database) == set()
        assert result.documents[0].outcome == "reused"
        best = recorded["citations"][0]
        assert result.citations[0].source_url == best["url"]
        assert any(overlaps(citation, best) for citation in result.citations[:3])

    asyncio.run(work())


def test_its_pages_can_be_refreshed(old_corpus: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(old_corpus) as corpus:
            await corpus.add(RECORDED["answers"][0]["url"], refresh=True)
            assert await broken_rules(corpus.database) == set()
            async with corpus.database.connection() as connection:
                assert (await broken_citations(connection))[1] == []

    asyncio.run(work())


def test_its_answers_can_be_replayed(old_corpus: Settings) -> None:
    """The recorded rounds load, and today's policy of the same name decides each of them again (by other tables)."""

    async def work() -> list[RecordedRun]:
        async with Corpus.open(old_corpus) as corpus, corpus.database.connection() as connection:
            return [run_of_answer(await load_stored_run(connection, answer["id"])) for answer in RECORDED["answers"]]

    for run, answer in zip(asyncio.run(work()), RECORDED["answers"], strict=True):
        assert len(run.rounds) == answer["rounds"]
        replayed = replay(run, get_policy(run.policy, old_corpus), old_corpus, budget=run.budget)
        assert [step.round for step in replayed.steps] == [done.signals.round for done in run.rounds]
        assert run.rounds[-1].action == answer["action"]
