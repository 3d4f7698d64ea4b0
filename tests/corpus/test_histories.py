"""A folder under git as a corpus: versions in force and seen, repeals, returns, and reading it again."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.acquisition.git_repositories import WrittenRepository
from tests.acquisition.served_pages import ServedPages, html
from tests.command_line import Webrag, webrag_here
from tests.corpus.corpora import broken_rules, rows
from webrag_core.acquisition.git_folder import GitFolder
from webrag_core.config import Settings
from webrag_core.corpus.histories import HistoryDates, HistoryIngestor, HistoryOutcome
from webrag_core.errors import FetchError, InvalidInputError
from webrag_core.history.as_of import AsOf
from webrag_core.history.pages import page_at, versions
from webrag_core.history.past_search import search_at
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.request import SearchRequest
from webrag_core.retrieval.search import search

__all__ = ["webrag_here"]
BASE = "https://law.example/code/"
FEE, DOGS, OLD, EMPTY = (f"{BASE}{name}.md" for name in ("fee", "dogs", "old", "empty"))


@pytest.fixture
def repository(tmp_path: Path) -> WrittenRepository:
    """Articles with the traps of real histories: days before 1970, a repeal, a return, an emptied file, a correction
    on the same day, a day that the message does not tell."""
    code = WrittenRepository(tmp_path / "code")
    code.commit(
        "1970-01-01T01:00:01+0100", "Créé par Loi 1803-03-14 promulguée le 24 mars 1803", fee="The fee is 1 crown."
    )
    code.commit("1970-01-01T01:00:02+0100", "Créé par Loi n°2001-1135 du 3 décembre 2001", old="Oxen may graze freely.")
    code.commit("1970-01-01T01:00:03+0100", "Modifié par Loi du 18 février 1938, v. init.", fee="The fee is 2 crowns.")
    code.commit("1970-01-01T08:00:00+0100", "en vigueur le 1er janvier 1970", dogs="Dogs are kept on a lead.")
    code.commit("1980-07-01T08:00:00+0200", "Repealed", dogs=None, empty="A rule of three words.")
    code.commit("1990-07-01T08:00:00+0200", "The fee rises", fee="The fee is 3 crowns, by misprint.")
    code.commit("1990-07-01T09:00:00+0200", "A misprint", fee="The fee is 30 crowns.")
    code.commit("2000-01-01T08:00:00+0100", "Dogs again", dogs="Dogs are kept on a lead.", empty="")
    return code


async def ingest(corpus: Corpus, code: WrittenRepository, dates: HistoryDates) -> dict[str, HistoryOutcome]:
    folder = GitFolder(code.folder, BASE)
    histories = HistoryIngestor(corpus.database, folder, dates)
    outcomes = [await corpus.add_history(histories, file) for file in folder.files]
    folder.close()
    assert await broken_rules(corpus.database) == set()
    return {one.url: one for one in outcomes}


async def held(corpus: Corpus, url: str, at: str) -> tuple[str, str | None]:
    found = await page_at(corpus.database, url, AsOf.parse(at), "valid")
    return found.certainty, found.text and found.text.strip()


def test_a_history_is_read_by_what_was_in_force(settings: Settings, repository: WrittenRepository) -> None:
    async def work() -> None:
        async with Corpus.open(settings) as corpus:
            outcomes = await ingest(corpus, repository, "in-force")
            assert {url: (one.outcome, one.versions) for url, one in outcomes.items()} == {
                FEE: ("fetched", 3),
                DOGS: ("fetched", 1),
                OLD: ("fetched", 1),
                EMPTY: ("fetched", 1),
            }
            assert outcomes[EMPTY].version_id is None
            for url, at, certainty, text in (
                (FEE, "1803-03-23", "not_in_force", None),
                (FEE, "1803-03-24", "certain", "The fee is 1 crown."),
                (FEE, "1938-02-17", "certain", "The fee is 1 crown."),
                (FEE, "1938-02-18", "certain", "The fee is 2 crowns."),
                (FEE, "1990-06-30", "certain", "The fee is 2 crowns."),
                (FEE, "1990-07-01", "certain", "The fee is 30 crowns."),
                (FEE, "2100", "certain", "The fee is 30 crowns."),
                (DOGS, "1969-12-31", "not_in_force", None),
                (DOGS, "1970-01-01", "certain", "Dogs are kept on a lead."),
                (DOGS, "1980-06-30", "certain", "Dogs are kept on a lead."),
                (DOGS, "1980-07-01", "not_in_force", None),
                (DOGS, "1999-12-31", "not_in_force", None),
                (DOGS, "2000-01-01", "certain", "Dogs are kept on a lead."),
                (OLD, "1803-03-23", "not_in_force", None),
                (OLD, "1850", "not_stated", None),  # it came at some time between its neighbours
                (OLD, "1938-02-18", "certain", "Oxen may graze freely."),
                (EMPTY, "1990", "certain", "A rule of three words."),
                (EMPTY, "2000-01-01", "not_in_force", None),
            ):
                assert await held(corpus, url, at) == (certainty, text), (url, at)
            gap = await page_at(corpus.database, DOGS, AsOf.parse("1990"), "valid")
            assert (gap.previous_version, gap.next_version) == (1, 1)
            assert "until the day before 1980-07-01" in gap.note
            # days in force are no sightings
            assert (await page_at(corpus.database, FEE, AsOf.parse("1990-07-02"))).certainty == "not_seen"
            assert len((await versions(corpus.database, FEE)).periods) == 1
            request = SearchRequest(query="How high is the fee in crowns?")
            assert "30 crowns" in (await search(corpus, request)).citations[0].verbatim_text
            for at, text in (("1900", "1 crown."), ("1950", "2 crowns"), ("1995", "30 crowns")):
                then = await search_at(corpus, request, AsOf.parse(at), time="valid")
                assert text in then.citations[0].verbatim_text
            ended = await search(corpus, SearchRequest(query="rule of three words"))
            assert EMPTY not in {one.source_url for one in ended.citations}

    asyncio.run(work())


def test_a_history_is_read_by_what_was_seen(settings: Settings, repository: WrittenRepository) -> None:
    async def work() -> None:
        async with Corpus.open(settings) as corpus:
            await ingest(corpus, repository, "seen")
            for url, at, certainty, text in (
                (FEE, "1985", "certain", "2 crowns"),
                (FEE, "1990-07-01T07:30:00+00:00", "certain", "30 crowns"),
                (FEE, "1990-07-01T06:30:00+00:00", "certain", "misprint"),
                (DOGS, "1985", "certain", None),
                (DOGS, "2000-01-01", "certain", "lead"),
                (DOGS, "1960", "not_seen", None),
                (FEE, "2010", "between", "30 crowns"),  # nobody looked since the last commit
            ):
                found = await page_at(corpus.database, url, AsOf.parse(at))
                assert (found.certainty, (text or "") in (found.text or "")) == (certainty, True), (url, at)
                assert (found.text is None) == (text is None), (url, at)
            story = await versions(corpus.database, DOGS)
            assert [one.version for one in story.periods] == [1, None, 1]
            assert {one.basis for one in story.periods} == {"archive"}
            assert await rows(corpus.database, "SELECT count(*) FROM version_validity") == [(0,)]

    asyncio.run(work())


@pytest.mark.slow
@pytest.mark.parametrize("dates", ["in-force", "seen"])
def test_reading_again_costs_nothing_and_takes_in_what_is_new(
    settings: Settings, repository: WrittenRepository, dates: HistoryDates
) -> None:
    async def work() -> None:
        async with Corpus.open(settings) as corpus:
            first = await ingest(corpus, repository, dates)
            report = await corpus.refresher().run("law.example")  # asks for the start page of the site alone
            assert {FEE, DOGS, OLD}.isdisjoint(report.failed)
            again = await ingest(corpus, repository, dates)
            assert {one.outcome for one in again.values()} == {"unchanged"}
            assert {url: one.version_id for url, one in again.items()} == {
                url: one.version_id for url, one in first.items()
            }
            repository.commit("2005-01-01T08:00:00+0100", "The fee falls again", fee="The fee is 2 crowns.", dogs=None)
            later = await ingest(corpus, repository, dates)
            assert {url for url, one in later.items() if one.outcome == "fetched"} == {FEE, DOGS}
            assert later[DOGS].version_id is None
            assert (
                (await search(corpus, SearchRequest(query="the fee")))
                .citations[0]
                .verbatim_text.strip()
                .endswith("2 crowns.")
            )
            assert await rows(
                corpus.database, "SELECT canonical_url FROM documents WHERE status = 'gone' ORDER BY 1"
            ) == [
                (DOGS,),
                (EMPTY,),
            ]
            if dates == "in-force":
                assert (
                    await held(corpus, FEE, "1950")
                    == await held(corpus, FEE, "2010")
                    == ("certain", "The fee is 2 crowns.")
                )
                assert (await held(corpus, DOGS, "2010"))[0] == "not_in_force"

    asyncio.run(work())


@pytest.mark.slow
def test_what_dates_mean_can_be_changed_back_and_forth(settings: Settings, repository: WrittenRepository) -> None:
    async def work() -> None:
        async with Corpus.open(settings) as corpus:
            dates: tuple[HistoryDates, ...] = ("in-force", "seen", "in-force")
            for one in dates:
                outcomes = await ingest(corpus, repository, one)
                assert {outcome.outcome for outcome in outcomes.values()} == {"fetched"}
                again = await ingest(corpus, repository, one)
                assert {outcome.outcome for outcome in again.values()} == {"unchanged"}
            assert (await held(corpus, FEE, "1995"))[0] == "certain"
            assert (await held(corpus, DOGS, "1985"))[0] == "not_in_force"

    asyncio.run(work())


def test_what_cannot_be_stored_says_so(settings: Settings, tmp_path: Path) -> None:
    code = WrittenRepository(tmp_path / "code")
    code.commit("2001-01-01T08:00:00+0100", "one", fee="The fee is 1 crown.", empty="Two words")

    async def work() -> None:
        async with Corpus.open(
            settings, ServedPages({FEE: html("Fee", "The fee of the web page is 7 crowns.")})
        ) as corpus:
            await corpus.add(FEE)
            folder = GitFolder(code.folder, BASE)
            histories = HistoryIngestor(corpus.database, folder, "in-force")
            empty, fee = folder.files
            with pytest.raises(InvalidInputError, match="is stored from served: choose another base address"):
                await corpus.add_history(histories, fee)
            with pytest.raises(FetchError, match=r"no version of .* has three words"):
                await corpus.add_history(histories, empty)
            failed = "SELECT outcome, reason FROM fetch_log WHERE url = %s"
            assert await rows(corpus.database, failed, EMPTY) == [("failed", "empty_page")]
            folder.close()
            assert await broken_rules(corpus.database) == set()

    asyncio.run(work())


def test_a_history_on_the_command_line(webrag_here: Webrag, repository: WrittenRepository) -> None:
    environment = {"WEBRAG_READER": "none"}

    def told(*arguments: str) -> str:
        done = webrag_here(*arguments, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    folder = str(repository.folder)
    report = json.loads(told("ingest", "--git", folder, "--base-url", BASE, "--dates", "in-force", "--json"))
    assert (report["requested"], report["versions"], report["ended"], report["undated_commits"]) == (4, 6, 1, 1)
    then = json.loads(told("history", FEE, "--at", "1900-05-01", "--time", "valid", "--json"))
    assert (then["certainty"], then["version"], then["valid_from"], then["kind"]) == (
        "certain",
        1,
        "1803-03-24",
        "in_force",
    )
    assert len(then["stated"]) == 3
    assert "1938-02-18" in told("history", FEE)
    assert "not in force" in told("history", DOGS, "--at", "1990", "--time", "valid")
    assert "2 crowns" in told("search", "How high is the fee?", "--at", "1950", "--time", "valid")
    assert "2 crowns" in told("answer", FEE, "How high is the fee?", "--at", "1950", "--time", "valid")
    assert "unchanged" in told("ingest", "--git", folder, "--base-url", BASE, "--dates", "in-force")
    for wrong in (
        ("ingest", "--git", folder),
        ("ingest", "--base-url", BASE, FEE),
        ("ingest", "--git", folder, "--base-url", BASE, FEE),
        ("ingest", "--git", str(repository.folder.parent), "--base-url", BASE),
        ("history", FEE, "--time", "valid"),
        ("search", "fee", "--time", "valid"),
        ("answer", FEE, "fee", "--time", "valid"),
        ("ask", "fee", "--time", "valid"),
    ):
        done = webrag_here(*wrong, **environment)
        assert done.returncode == 2, wrong
        assert done.stderr.startswith("error: "), wrong
