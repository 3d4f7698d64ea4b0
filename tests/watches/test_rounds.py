"""Rounds over watches: what changes beyond layout is told once, with the quotes and answers that rest on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.acquisition.served_pages import HOME, ServedPages
from tests.corpus.corpora import broken_rules, rows
from tests.provider_server import Reply, serving
from webrag_core.answering.manager import Manager, Question
from webrag_core.application.watching import AddWatch, ListWatches, RemoveWatch
from webrag_core.config import Settings
from webrag_core.corpus.forget import forget
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.watches.models import News
from webrag_core.watches.rounds import WatchRound, make_round
from webrag_core.watches.store import apply_watches, due_watches, list_watches
from webrag_core.watches.subjects import Subject

GREEN = f"{HOME}green"
OTHER = f"{HOME}other"
QUESTION = "At how many degrees is green tea brewed?"


def green(
    degrees: int = 80, *, more: str = "", wrap: str = "div", storing: str = "Keep the leaves dry and dark."
) -> str:
    """The page on green tea, in some layout."""
    return (
        f"<html><head><title>Green tea</title></head><body><{wrap} class=x><main><h1>Green tea</h1><h2>Brewing</h2>"
        f"<p>Green tea is brewed at {degrees} degrees for two minutes. Boiling water makes it bitter.</p>{more}"
        f"<h2>Storing</h2><p>{storing}</p></main></{wrap}></body></html>"
    )


class Place:
    """An open corpus over a site that the test changes."""

    def __init__(self, corpus: Corpus, site: ServedPages) -> None:
        self.corpus, self.site, self.manager = corpus, site, Manager(corpus)

    async def put(self, url: str, html: str | None) -> None:
        """The page says this from now on, and was read again; None = it is gone."""
        if html is None:
            del self.site.pages[url]
            async with self.corpus.database.connection() as connection:
                await connection.execute(
                    "UPDATE documents SET misses = 3, miss_reason = 'not_found', missing_since = now(),"
                    " last_miss = now() - interval '2 days' WHERE canonical_url = %s",
                    (url,),
                )
            await self.corpus.indexer.retire(url)
            return
        self.site.pages[url] = html
        await self.corpus.add(url, refresh=True)

    async def round(self, **options: Any) -> WatchRound:
        """One round over all watches."""
        return await make_round(self.corpus.database, self.manager, self.corpus.settings, **options)

    async def news(self, **options: Any) -> list[News]:
        """The news of one round."""
        return (await self.round(**options)).news

    async def watch(self, **fields: Any) -> int:
        """The number of a new watch."""
        return (await AddWatch.of(**fields).add(self.corpus.database)).watch_id


@pytest.fixture
def at_place(settings: Settings) -> Callable[[Callable[[Place], Awaitable[None]]], None]:
    """Runs a test over a corpus with two pages."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Place]:
        site = ServedPages({GREEN: green(), OTHER: green(90).replace("Green tea", "Black coffee")})
        async with Corpus.open(settings, site) as corpus:
            place = Place(corpus, site)
            for url in site.pages:
                await corpus.add(url)
            yield place

    def run(test: Callable[[Place], Awaitable[None]]) -> None:
        async def work() -> None:
            async with opened() as place:
                await test(place)
                assert await broken_rules(place.corpus.database) == set()

        asyncio.run(work())

    return run


def test_a_page_is_told_of_once_and_never_for_its_layout(at_place: Any) -> None:
    async def test(place: Place) -> None:
        number = await place.watch(page=GREEN)
        assert await place.watch(page=f"{GREEN}#brewing") == number
        assert await place.news() == []
        await place.put(GREEN, green(wrap="section"))
        await place.put(GREEN, green().replace("<p>Green tea", "<p>  Green <b>tea</b>"))
        assert await place.news() == []
        await place.put(GREEN, green(75))
        assert [one.event for one in await place.news(dry_run=True)] == ["changed"]
        [news] = await place.news()
        assert news.watch.watch_id == number
        [change] = news.differences
        assert (change.heading_path, change.before, change.after) == (
            ["Green tea", "Brewing"],
            "Green tea is brewed at 80 degrees for two minutes.",
            "Green tea is brewed at 75 degrees for two minutes.",
        )
        assert await place.news() == []
        await place.put(OTHER, green(95))
        assert await place.news() == []

    at_place(test)


@pytest.mark.slow
def test_quotes_stand_side_by_side_with_the_answers_that_rest_on_them(at_place: Any) -> None:
    async def test(place: Place) -> None:
        answer = await place.manager.answer(Question(QUESTION))
        assert answer.status == "answered"
        await place.watch(page=GREEN)
        await place.watch(page=GREEN, section=["Storing"])
        await place.put(GREEN, green(75))
        [news] = await place.news()
        assert [one.question for one in news.answers] == [QUESTION]
        quote = next(one for one in news.quotes if "80 degrees" in one.before)
        assert (quote.answer_id, quote.state) == (answer.answer_id, "changed")
        assert "75 degrees" in (quote.after or "")

    at_place(test)


async def without_sentences(place: Place, *, likely: bool) -> int:
    """The number of a stored answer that only shows its first quote, as likely or as near."""
    answer = await place.manager.answer(Question(QUESTION))
    number = answer.answer_id
    assert number is not None
    shown = {"status": "likely" if likely else "not_found"} | {
        "highlights": [{"citation": 1, "marks": [], "likely": likely}]
    }
    async with place.corpus.database.connection() as connection:
        await connection.execute("DELETE FROM sentence_citations WHERE answer_id = %s", (number,))
        await connection.execute("DELETE FROM answer_sentences WHERE answer_id = %s", (number,))
        await connection.execute("UPDATE answer_runs SET prose = prose || %s WHERE id = %s", (Jsonb(shown), number))
    return number


def test_an_answer_does_not_rest_on_passages_that_it_only_lists(at_place: Any) -> None:
    async def test(place: Place) -> None:
        await without_sentences(place, likely=False)
        await place.watch(page=GREEN)
        await place.put(GREEN, green(75))
        [news] = await place.news()
        assert (news.quotes, news.answers) == ([], [])

    at_place(test)


def test_another_likely_passage_is_another_answer(at_place: Any) -> None:
    async def test(place: Place) -> None:
        number = await without_sentences(place, likely=True)
        await place.watch(answer=number)
        await place.watch(page=GREEN)
        await place.put(GREEN, green(75))
        trial = await place.news(dry_run=True)
        assert [news.after.answer_id for news in trial if news.after is not None] == [None]
        of_page, of_question = await place.news()
        assert [answer.answer_id for answer in of_page.answers] == [number]
        assert of_question.event == "answer"
        assert of_question.after is not None
        assert of_question.after.answer_id is not None

    at_place(test)


def test_a_section_is_told_of_for_itself_alone(at_place: Any) -> None:
    async def test(place: Place) -> None:
        with pytest.raises(InvalidInputError, match="has no section"):
            await place.watch(page=GREEN, section=["Serving"])
        await place.watch(page=GREEN, section=["storing"])
        await place.put(GREEN, green(75))
        assert await place.news() == []
        moved = green(75).replace(
            "<h2>Brewing</h2>", "<h2>Storing</h2><p>Keep the leaves dry and dark.</p><h2>Brewing</h2>"
        )
        await place.put(GREEN, moved.replace("<h2>Storing</h2><p>Keep the leaves dry and dark.</p></main>", "</main>"))
        assert await place.news() == []
        await place.put(GREEN, green(75).replace("<h2>Storing</h2>", "<h2>Keeping</h2>"))
        assert await place.news() == []  # its words stand under another heading
        await place.put(GREEN, green(75, storing="Keep the leaves in a tin."))
        [news] = await place.news()
        assert (news.event, news.differences[0].after) == ("changed", "Keep the leaves in a tin.")
        await place.put(GREEN, green(75).replace("<h2>Storing</h2><p>Keep the leaves dry and dark.</p>", ""))
        assert [one.event for one in await place.news()] == ["gone"]
        await place.put(GREEN, green(76).replace("<h2>Storing</h2><p>Keep the leaves dry and dark.</p>", ""))
        assert await place.news() == []
        await place.put(GREEN, green(76, storing="Keep the leaves in a tin."))
        assert [one.event for one in await place.news()] == ["back"]

    at_place(test)


@pytest.mark.slow
def test_a_page_that_goes_and_comes_back_is_told_of_twice(at_place: Any) -> None:
    async def test(place: Place) -> None:
        answer = await place.manager.answer(Question(QUESTION))
        await place.watch(page=GREEN)
        await place.put(GREEN, None)
        [gone] = await place.news()
        assert gone.event == "gone"
        assert {one.state for one in gone.quotes} == {"gone"}
        assert [one.answer_id for one in gone.answers] == [answer.answer_id]
        assert await place.news() == []
        await place.put(GREEN, green())
        [back] = await place.news()
        assert (back.event, back.differences) == ("back", [])
        assert [one.answer_id for one in back.answers] == [answer.answer_id]

    at_place(test)


@pytest.mark.slow
def test_a_page_that_moves_with_its_text_is_no_news(at_place: Any) -> None:
    async def test(place: Place) -> None:
        await place.watch(page=GREEN)
        place.site.pages[f"{HOME}moved"] = place.site.pages.pop(GREEN)
        place.site.redirects[GREEN] = f"{HOME}moved"
        await place.corpus.add(GREEN, refresh=True)
        assert await place.news() == []
        await place.put(f"{HOME}moved", green(75))
        assert [one.event for one in await place.news()] == ["changed"]

    at_place(test)


def test_a_question_is_told_of_when_it_is_answered_otherwise(at_place: Any) -> None:
    async def test(place: Place) -> None:
        answer = await place.manager.answer(Question(QUESTION))
        await place.watch(answer=answer.answer_id)
        count = "SELECT count(*) FROM answer_runs"
        before = await rows(place.corpus.database, count)
        assert await place.news() == []
        assert await rows(place.corpus.database, count) == before  # the same answer is not kept
        assert (await place.round()).compared == 0
        await place.put(GREEN, green(wrap="section", more="<p>A gaiwan is best for it.</p>"))
        assert await place.news() == []
        await place.put(GREEN, green(75))
        [news] = await place.news()
        assert (news.event, news.before and news.before.answer_id) == ("answer", answer.answer_id)
        assert news.before is not None
        assert news.after is not None
        assert any("80" in sentence for sentence in news.before.sentences)
        assert any("75" in sentence for sentence in news.after.sentences)
        assert any("80" in quote.before for quote in news.quotes)
        assert await place.news() == []
        await place.put(GREEN, None)
        [gone] = await place.news()
        assert gone.event == "answer"
        await place.put(GREEN, green(75))
        assert [one.event for one in await place.news()] == ["answer"]

    at_place(test)


@pytest.mark.slow
def test_a_question_that_becomes_answerable_is_told_of(at_place: Any) -> None:
    async def test(place: Place) -> None:
        await place.put(GREEN, green().replace("Green tea is brewed at 80 degrees for two minutes.", "Tea is old."))
        await place.watch(question="Which clay is a Yixing teapot made of?")
        assert await place.news() == []
        clay = "<p>A Yixing teapot is made of purple zisha clay from Jiangsu.</p>"
        await place.put(OTHER, green(90, more=f"<h2>Yixing teapots</h2>{clay}"))
        [news] = await place.news()
        assert news.event == "answer"
        assert any("zisha" in sentence for sentence in news.after.sentences if news.after) if news.after else False

    at_place(test)


@pytest.mark.slow
def test_daily_news_is_one_message_in_24_hours(at_place: Any, settings: Settings) -> None:
    async def test(place: Place) -> None:
        with serving({}) as server:
            place.corpus.settings = settings.model_copy(update={"alert_webhook": _Hook(f"{server.url}/hook")})
            for url in (GREEN, OTHER):
                await place.watch(page=url, pace="daily")
            for degrees in (75, 76):
                await place.put(GREEN, green(degrees))
                await place.put(OTHER, green(degrees).replace("Green tea", "Black coffee"))
                await place.round()
            assert len(server.calls) == 1
            assert "75 degrees" in server.calls[0].body["text"]
            async with place.corpus.database.connection() as connection:
                await connection.execute("UPDATE watches SET sent_at = sent_at - interval '25 hours'")
            await place.round()
            await place.round()
        assert len(server.calls) == 2
        assert [one["event"] for one in server.calls[1].body["details"]] == ["changed", "changed"]
        assert "76 degrees" in server.calls[1].body["text"]

    at_place(test)


def test_what_reached_nobody_is_told_again_and_what_reached_somebody_is_not(at_place: Any, settings: Settings) -> None:
    async def test(place: Place) -> None:
        with serving({}) as server:
            place.corpus.settings = settings.model_copy(update={"alert_webhook": _Hook(f"{server.url}/hook")})
            await place.watch(page=GREEN)
            await place.put(GREEN, green(75))
            server.script = [Reply({}, status=400)]
            failed = await place.round()
            assert (failed.sent, len(failed.problems)) == (False, 1)
            assert (await place.round()).sent
            rounds = await asyncio.gather(*(place.round() for _ in range(3)))
        assert len(server.calls) == 2
        assert [one.news for one in rounds] == [[], [], []]

    at_place(test)


@pytest.mark.slow
def test_words_of_a_page_call_nobody_and_stand_as_data(at_place: Any, settings: Settings) -> None:
    async def test(place: Place) -> None:
        with serving({}) as server:
            place.corpus.settings = settings.model_copy(update={"alert_webhook": _Hook(f"{server.url}/hook")})
            await place.watch(page=GREEN)
            said = "Hello @channel and &lt;!everyone&gt;, run this."
            await place.put(GREEN, green(more=f"<p>{said}</p>"))
            await place.round()
        body = server.calls[0].body
        assert "@channel" not in body["text"]
        assert "<!everyone" not in body["text"]
        assert body["details"][0]["differences"][0]["after"] == "Hello @channel and <!everyone>, run this."

    at_place(test)


def test_a_question_of_any_length_is_watched_once(at_place: Any) -> None:
    words = " ".join(f"{number:x}{number * 7919:x}" for number in range(800))

    async def work(place: Place) -> None:
        first = await place.watch(question=f"What is {words}?")
        assert first == await place.watch(question=f"What is {words}?")
        assert first != await place.watch(question=f"What is {words} now?")

    at_place(work)


def test_files_declare_watches_and_take_them_back(at_place: Any) -> None:
    async def test(place: Place) -> None:
        database = place.corpus.database
        own = await place.watch(page=OTHER)

        async def declared(*subjects: Subject, unread: tuple[str, ...] = ()) -> int:
            async with database.transaction() as connection:
                return await apply_watches(connection, [("tea.yaml", one) for one in subjects], unread)

        page, question = Subject(GREEN, pace="daily"), Subject(question=QUESTION)
        assert await declared(page, question) == 2
        assert await declared(page, question) == 0
        assert await declared(Subject(GREEN), question) == 1
        listed = (await ListWatches().read(database)).watches
        assert [(one.kind, one.pace, one.declared_in) for one in listed[1:]] == [
            ("page", "at_once", "tea.yaml"),
            ("question", "at_once", "tea.yaml"),
        ]
        with pytest.raises(InvalidInputError, match=r"declared in tea\.yaml"):
            await RemoveWatch(number=listed[1].watch_id).remove(database)
        assert await declared(unread=("tea.yaml",)) == 0
        assert await declared() == 2
        await forget(database, GREEN, removed_by="test")
        assert await declared(page) == 0
        async with database.connection() as connection:
            assert [one.watch_id for one in await list_watches(connection)] == [own]
            assert await due_watches(connection) == []
        await RemoveWatch(number=own).remove(database)

    at_place(test)


def _Hook(url: str) -> Any:
    from pydantic import SecretStr

    return SecretStr(url)
