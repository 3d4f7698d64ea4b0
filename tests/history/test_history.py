"""The past of a site of three archives: periods, dates, comparisons, citations, searches, answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.command_line import Webrag, webrag_here
from tests.corpus.corpora import broken_rules, rows
from tests.history.texts import BLACK, FIRST, GONE, GREEN, HOST, SECOND, THIRD, VERSIONS, archive
from webrag_core.config import Settings
from webrag_core.corpus.retention import prune
from webrag_core.errors import InvalidInputError
from webrag_core.history.answers import list_answers, open_answer
from webrag_core.history.as_of import AsOf
from webrag_core.history.citations import citation_states
from webrag_core.history.compare import compare
from webrag_core.history.diff_page import render_page
from webrag_core.history.pages import changes, page_at, versions
from webrag_core.history.past_search import search_at
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.retrieval.request import DateRange, Pattern, ScopeFilter, SearchRequest
from webrag_core.retrieval.search import search

__all__ = ["webrag_here"]
QUESTION = "At how many degrees is green tea brewed?"
Result = TypeVar("Result")


def with_archive(settings: Settings, folder: Path, day: Any) -> Settings:
    return settings.model_copy(update={"webrag_warc": archive(folder, day)})


async def store(settings: Settings, folder: Path, *days: Any) -> None:
    """Store the site of each day over that of the day before; ask at the first."""
    for day in days:
        async with Corpus.open(with_archive(settings, folder, day)) as corpus:
            for url in VERSIONS[day]:
                await corpus.add(url)
            if day == FIRST:
                await OrchestratorEngine(corpus).run(AnswerRequest((GREEN,), QUESTION, expansion_budget=0))
            if day == SECOND and FIRST in days:
                await rows(
                    corpus.database,
                    "UPDATE documents SET misses = 3, miss_reason = 'not_found', missing_since = %s, last_miss = %s"
                    " WHERE canonical_url = %s RETURNING 1",
                    SECOND,
                    SECOND + timedelta(days=2),
                    GONE,
                )
                assert await corpus.indexer.retire(GONE)


@pytest.fixture
def ask(settings: Settings, tmp_path: Path) -> Callable[[Callable[[Corpus], Awaitable[Result]]], Result]:
    """Run a question against a corpus of the first two days."""

    def run(work: Callable[[Corpus], Awaitable[Result]]) -> Result:
        async def all_of_it() -> Result:
            await store(settings, tmp_path, FIRST, SECOND)
            async with Corpus.open(with_archive(settings, tmp_path, SECOND)) as corpus:
                return await work(corpus)

        return asyncio.run(all_of_it())

    return run


def test_a_date_has_three_kinds_of_answer(ask: Any) -> None:
    async def work(corpus: Corpus) -> None:
        async with corpus.database.connection() as connection:
            for moment, certainty, version, text in (
                ("2023-03-01T12:00:00Z", "certain", 1, "80 degrees"),
                ("2023-03-01", "certain", 1, "80 degrees"),
                ("2023-03-01T12:00:01Z", "between", 1, "80 degrees"),
                ("2023-08-01", "between", 1, "80 degrees"),
                ("2024-03-01T11:59:59Z", "between", 1, "80 degrees"),
                ("2024-03-01T12:00:00Z", "certain", 2, "75 degrees"),
                ("2024-03", "certain", 2, "75 degrees"),
                ("now", "between", 2, "75 degrees"),
                ("2022-12-31", "not_seen", None, None),
                ("2199-01-01", "not_seen", None, None),
            ):
                found = await page_at(corpus.database, GREEN, AsOf.parse(moment))
                assert (found.certainty, found.version) == (certainty, version), moment
                assert (text is None and found.text is None) or text in (found.text or ""), moment
            between = await page_at(corpus.database, GREEN, AsOf.parse("2023-08-01"))
            assert between.next_version == 2
            assert between.seen_last == FIRST
            assert between.seen_until == SECOND
            early = await page_at(corpus.database, GREEN, AsOf.parse("2022-12-31"))
            assert early.nearest is not None
            assert early.nearest.version == 1
            gone = await page_at(corpus.database, GONE, AsOf.parse("2024-03-02"))
            assert (gone.certainty, gone.version, gone.text) == ("certain", None, None)
            assert "absent" in gone.note
            today = await page_at(corpus.database, GONE, AsOf.now())
            assert today.note == "the page was last found absent on 2024-03-03 12:00:00; not looked at since"
            for absent in (gone, today):
                assert absent.nearest is not None
                assert absent.nearest.version == 1
            await connection.execute(
                "INSERT INTO url_aliases (url, document_id) SELECT %s, id FROM documents WHERE canonical_url = %s",
                (f"{HOST}/alias", GREEN),
            )
            alias = await page_at(corpus.database, f"{HOST}/alias", AsOf.parse("2023-03-01"))
            assert alias.text is not None
            assert alias.note.startswith(f"the address leads to {GREEN}; seen from 2023-03-01 12:00:00")
            with pytest.raises(InvalidInputError, match="nothing is stored of"):
                await page_at(corpus.database, f"{HOST}/none", AsOf.now())
        assert not await broken_rules(corpus.database)

    ask(work)


def test_the_story_of_a_page_and_of_a_source(ask: Any) -> None:
    async def work(corpus: Corpus) -> None:
        async with corpus.database.connection() as connection:
            known = await versions(corpus.database, GREEN)
            assert [(one.version, one.seen_from, one.seen_until, one.basis) for one in known.periods] == [
                (1, FIRST, SECOND, "archive"),
                (2, SECOND, None, "archive"),
            ]
            listed = await changes(connection, "tea.example", since=SECOND)
            assert [(one.url, one.kind) for one in listed] == [
                (BLACK, "changed"),
                (GREEN, "changed"),
                (GONE, "gone"),
            ]
            assert len(await changes(connection, GREEN)) == 2
            with pytest.raises(InvalidInputError, match="nothing is stored of a source"):
                await changes(connection, "milk.example")

    ask(work)


def test_two_versions_beside_each_other(ask: Any) -> None:
    async def work(corpus: Corpus) -> None:
        async with corpus.database.connection() as connection:
            comparison = await compare(connection, GREEN, "1", "2024-03-01")
            counts = comparison.diff.counts()
            assert counts["edited"] == 1
            assert counts["added"] == 1
            assert counts["moved"] >= 2
            assert comparison.diff.facts_changed == ["negation", "number"]
            html = render_page(comparison)
            assert "<del>80</del>" in html
            assert "<ins>75</ins>" in html
            assert html.count('id="to-1"') == html.count('id="from-1"') == 1
            assert "http" not in html.split("</style>")[0].replace("http-equiv", "")
            same = await compare(connection, GREEN, "2", "2")
            assert same.note == "both are version 2: nothing changed"
            assert same.diff.changes == []
            with pytest.raises(InvalidInputError, match="has no version 7; it has 1, 2"):
                await compare(connection, GREEN, "1", "7")

    ask(work)


def test_page_text_is_escaped_in_a_comparison(ask: Any) -> None:
    async def work(corpus: Corpus) -> None:
        async with corpus.database.connection() as connection:
            comparison = await compare(connection, GREEN, "1", "2")
        evil = "<script>alert(1)</script> \u202e &amp; {{ 7*7 }}"
        old = comparison.before.model_copy(update={"text": f"# {evil}\n\nSame.", "title": evil})
        new = comparison.after.model_copy(update={"text": f"# {evil} too\n\nSame.", "title": evil})
        from webrag_core.history.diff import diff_texts

        html = render_page(
            comparison.model_copy(update={"before": old, "after": new, "diff": diff_texts(old.text, new.text)})
        )
        assert "<script" not in html
        assert "\u202e" not in html
        assert "{{ 7*7 }}" in html

    ask(work)


def test_what_became_of_the_quotes_of_an_answer(
    ask: Any, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(corpus: Corpus) -> None:
        (answer,) = await list_answers(corpus.database)
        opened = await open_answer(corpus.database, answer.answer_id)
        assert answer.query == QUESTION
        states = {one.quote.split("\n")[0]: one for one in opened.citations}
        brewing = next(one for one in opened.citations if "80 degrees" in one.quote)
        assert brewing.state == "changed"
        assert {"negation", "number"} <= set(brewing.facts_changed)
        assert brewing.sentences > brewing.standing
        assert states
        # each is compared once with each version
        checked = await rows(corpus.database, "SELECT count(*), max(checked_at) FROM citation_checks")
        assert (await citation_states(corpus.database)) == opened.citations
        assert await rows(corpus.database, "SELECT count(*), max(checked_at) FROM citation_checks") == checked
        # in parts as well
        monkeypatch.setattr("webrag_core.history.citations._BATCH", 1)
        assert await rows(corpus.database, "DELETE FROM citation_checks RETURNING 1")
        assert (await citation_states(corpus.database)) == opened.citations
        with pytest.raises(InvalidInputError, match="there is no answer 99"):
            await open_answer(corpus.database, 99)

    ask(work)

    async def back() -> None:  # the old text came back
        await store(settings, tmp_path, THIRD)
        async with Corpus.open(with_archive(settings, tmp_path, THIRD)) as corpus:
            states = {one.url: one.state for one in await citation_states(corpus.database)}
            assert states[GREEN] == "valid"
            story = await versions(corpus.database, GREEN)
            assert [one.version for one in story.periods] == [1, 2, 1]
            assert story.last_two() == ("2", "1")

    asyncio.run(back())


def test_a_quote_of_a_page_that_is_gone_is_found_on_another(ask: Any) -> None:
    async def work(corpus: Corpus) -> None:
        (page_,) = await rows(
            corpus.database,
            "SELECT v.id, strpos(v.markdown, 'White tea is picked') - 1, length(v.markdown) FROM document_versions v"
            " JOIN documents d ON d.id = v.document_id WHERE d.canonical_url = %s",
            GONE,
        )
        quote = "White tea is picked before the buds have opened fully in early spring."
        await rows(
            corpus.database,
            "INSERT INTO citations (answer_id, number, version_id, char_start, char_end, quote_sha256, score)"
            " SELECT max(id), 90, %s, %s, %s, encode(sha256(convert_to(%s, 'UTF8')), 'hex'), 1 FROM answer_runs"
            " RETURNING 1",
            page_[0],
            page_[1],
            page_[1] + len(quote),
            quote,
        )
        (state,) = (one for one in await citation_states(corpus.database) if one.number == 90)
        assert (state.state, state.how, state.now_url) == ("moved", "page", BLACK)

    ask(work)


def test_the_past_is_searched_as_it_was(ask: Any) -> None:
    async def work(corpus: Corpus) -> None:
        request = SearchRequest(query=QUESTION)
        then = await search_at(corpus, request, AsOf.parse("2023-03-01"))
        assert "80 degrees" in then.citations[0].verbatim_text
        assert then.citations[0].source_url == GREEN
        today = await search_at(corpus, request, AsOf.now())
        assert "75 degrees" in today.citations[0].verbatim_text
        live = await search(corpus, request)
        assert [one.chunk.chunk_id for one in today.chunks] == [one.chunk.chunk_id for one in live.chunks]
        assert [one.relevance for one in today.citations] == [one.relevance for one in live.citations]
        white = SearchRequest(query="When is white tea picked?", filters=ScopeFilter(sources=["tea.example"]))
        assert (await search_at(corpus, white, AsOf.parse("2023-06"))).citations[0].source_url == GONE
        before = await search_at(corpus, request, AsOf.parse("2022"))
        assert before.is_empty
        assert "pages left out, first seen later: 3" in before.warnings
        for wrong in (
            SearchRequest(query=QUESTION, pattern=Pattern.SEMANTIC),
            SearchRequest(query=QUESTION, mode="full_context"),
            SearchRequest(query=QUESTION, filters=ScopeFilter(languages=["en"])),
            SearchRequest(query=QUESTION, dated=DateRange(FIRST, SECOND)),
        ):
            with pytest.raises(InvalidInputError, match="the past"):
                await search_at(corpus, wrong, AsOf.parse("2023-06"))
        with pytest.raises(InvalidInputError, match="in the future"):
            await search_at(corpus, request, AsOf.parse("2199"))
        with pytest.raises(InvalidInputError, match="no such source"):
            await search_at(corpus, SearchRequest(query="x", filters=ScopeFilter(sources=["no"])), AsOf.now())

    ask(work)


def test_of_many_past_texts_those_with_the_words_are_read(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webrag_core.history.past_search._PAGES", 1)

    async def work(corpus: Corpus) -> None:
        for question, url in ((QUESTION, GREEN), ("How long is black tea brewed?", BLACK), ("White tea buds", GONE)):
            then = await search_at(corpus, SearchRequest(query=question), AsOf.parse("2023-06"))
            assert {one.source_url for one in then.citations} == {url}

    ask(work)


def test_periods_stay_when_texts_go(ask: Any, settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        await rows(corpus.database, "DELETE FROM citations RETURNING 1")
        await rows(
            corpus.database,
            "UPDATE document_versions SET superseded_at = now() - '9 days'::interval"
            " WHERE superseded_at IS NOT NULL RETURNING 1",
        )
        await prune(corpus.database, settings.model_copy(update={"version_retention_days": 1.0}))
        async with corpus.database.connection() as connection:
            found = await page_at(corpus.database, GREEN, AsOf.parse("2023-03-01"))
            assert (found.certainty, found.version, found.text) == ("certain", 1, None)
            assert found.note.endswith("its text is no longer kept")
            assert found.nearest is not None
            assert found.nearest.version == 2
            with pytest.raises(InvalidInputError, match="no longer kept, those of versions 2 are"):
                await compare(connection, GREEN, "1", "2")
        then = await search_at(corpus, SearchRequest(query=QUESTION), AsOf.parse("2023-06"))
        assert any("no longer kept" in warning for warning in then.warnings)
        assert not await broken_rules(corpus.database)

    ask(work)


def test_an_older_archive_becomes_the_past_of_a_page(settings: Settings, tmp_path: Path) -> None:
    async def work() -> None:
        await store(settings, tmp_path, SECOND)
        async with Corpus.open(with_archive(settings, tmp_path, FIRST)) as corpus:
            added = await corpus.add(GREEN, refresh=True)
            assert any("kept as its past" in warning for warning in added.warnings)
            known = await versions(corpus.database, GREEN)
            assert [(one.version, one.seen_from) for one in known.periods] == [(2, FIRST), (1, SECOND)]
            superseded = "SELECT number FROM document_versions WHERE superseded_at IS NOT NULL"
            assert await rows(corpus.database, superseded) == [(2,)]
            results = await search(corpus, SearchRequest(query=QUESTION))
            assert "75 degrees" in results.citations[0].verbatim_text
            then = await search_at(corpus, SearchRequest(query=QUESTION), AsOf.parse("2023-06"))
            assert "80 degrees" in then.citations[0].verbatim_text
            assert not await broken_rules(corpus.database)

    asyncio.run(work())


@pytest.mark.slow
def test_the_story_on_the_command_line(webrag_here: Webrag, tmp_path: Path) -> None:
    environment = {"WEBRAG_READER": "none"}

    def told(*arguments: str) -> str:
        done = webrag_here(*arguments, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    told("ingest", "--warc", str(archive(tmp_path, FIRST)))
    environment["WEBRAG_WARC"] = str(archive(tmp_path, FIRST))
    told("answer", GREEN, QUESTION, "--budget", "0")
    told("ingest", "--warc", str(archive(tmp_path, SECOND)))
    assert "2024-03-01 12:00:00" in told("history", GREEN)
    known = json.loads(told("history", GREEN, "--at", "2023-03-01", "--json"))
    assert (known["url"], known["certainty"], known["version"]) == (GREEN, "certain", 1)
    assert "80 degrees" in known["text"]
    assert {"version", "sha256", "seen_from", "seen_last", "seen_until", "basis"} <= known["periods"][0].keys()
    assert "+ Green tea is brewed at 75 degrees" in told("history", GREEN, "--diff", "1", "2")
    page = tmp_path / "diff.html"
    assert "Written to" in told("history", GREEN, "--html", str(page))
    assert "<ins>75</ins>" in page.read_text()
    unwritable = webrag_here("history", GREEN, "--html", "/nowhere/diff.html", **environment)
    assert unwritable.returncode == 2
    assert "/nowhere/diff.html cannot be written" in unwritable.stderr
    assert "changed" in told("history", "tea.example", "--changes")
    states = json.loads(told("citations", "--json"))["citations"]
    assert {"answer_id", "number", "state", "how", "kept", "facts_changed"} <= states[0].keys()
    assert "changed" in told("citations", "--changed")
    assert QUESTION in told("answers", "list")
    assert "80 degrees" in told("answers", "show", "1")
    assert "80 degrees" in told("search", QUESTION, "--at", "2023-06")
    then = told("answer", GREEN, QUESTION, "--at", "2023-06")
    assert then.startswith("Partial: ")
    assert "80 degrees" in then
    for question in (QUESTION, "What is the boiling point of tungsten in kelvin on Jupiter?"):
        for when in ((), ("--at", "now")):
            asked = ("answer", GREEN, question, *when, "--budget", "0", "--fail-unless-answered")
            done = webrag_here(*asked, "--json", **environment)
            status = json.loads(done.stdout)["status"]
            assert done.returncode == (0 if status == "answered" else 3), asked
        printed = webrag_here(*asked, **environment)
        assert printed.returncode == 3
        assert printed.stdout.split(":")[0].lower().replace(" ", "_") == status
    for wrong in (
        ("history", GREEN, "--at", "tomorrow"),
        ("history", f"{HOST}/none"),
        ("answers", "show", "9"),
        ("citations", "--answer", "9"),
    ):
        done = webrag_here(*wrong, **environment)
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
