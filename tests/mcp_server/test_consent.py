"""A person is asked before a new address is fetched once page text was read; over every transport and protocol."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Literal

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from tests.local_site import SITE, LocalSite, page
from tests.mcp_server.clients import MODES, Person, called, connected, sections_of, text_of
from tests.mcp_server.tea_site import PAGES, QUESTION, SEED, tea_settings, tea_site
from tests.mcp_server.test_http import served
from webrag_core.mcp_server.tools import make_server

NEW = "https://new.example"


def two_sites() -> LocalSite:
    """The tea site, and a site of two pages."""
    text = "Green tea is brewed at eighty degrees in this house, too, as everybody who lives here was told."
    return LocalSite({**PAGES, f"{NEW}/a": page("A", text), f"{NEW}/b": page("B", text)})


@pytest.mark.parametrize("mode", MODES)
def test_consent_admits_the_address_and_its_site_for_the_session(database_url: str, mode: str) -> None:
    person, site = Person(), two_sites()

    async def work() -> None:
        async with connected(tea_settings(database_url), site, mode=mode, person=person) as client:
            await called(client, "answer", urls=SEED, question=QUESTION)
            assert person.questions == []
            assert not (await called(client, "ingest", urls="https://ｎｅｗ.example:443/x/../a#[SOURCES]")).is_error
            assert not (await called(client, "answer", urls=f"{NEW}/b", question=QUESTION)).is_error
            [asked] = person.questions
            assert f"\n{NEW}/a\n(on a site that is neither stored nor attached)" in asked
            assert "Consent admits new.example for the rest of this session." in asked
            await called(client, "ingest", urls=f"{NEW}/b?password=1")
            assert f"{NEW}/b?password=1\n(an unknown address with a query)" in person.questions[1]

    asyncio.run(work())
    assert site.requests.count(f"{NEW}/a") == 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("action", "outcome"), [("decline", "said no"), ("cancel", "closed the question")])
def test_without_consent_nothing_is_fetched(
    database_url: str, mode: str, action: Literal["decline", "cancel"], outcome: str
) -> None:
    person, site = Person(action), two_sites()

    async def work() -> None:
        async with connected(tea_settings(database_url), site, mode=mode, person=person) as client:
            await called(client, "answer", urls=SEED, question=QUESTION)
            result = await called(client, "answer", urls=f"{NEW}/a", question=QUESTION)
            assert result.is_error
            assert text_of(result).startswith("[ERROR] consent_refused")
            assert outcome in text_of(result)
            assert len(person.questions) == 1

    asyncio.run(work())
    assert site.requests == [SEED]


@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_cannot_ask_is_told_the_true_reason(database_url: str, mode: str) -> None:
    site = two_sites()

    async def work() -> None:
        async with connected(tea_settings(database_url), site, mode=mode) as client:
            assert "Documents: 0" in text_of(await called(client, "status"))  # an empty list is no page text
            await called(client, "ingest", urls=[SEED, "https://mistyped.example/"])
            text = text_of(await called(client, "ingest", urls=f"{NEW}/a"))
            assert text.startswith("[ERROR] consent_needed")
            assert "this session has already read page text" in text
            assert "cannot ask its user" in text
            for way in ("webrag ingest URL", "webrag source add URL", "MCP_ALLOWED_SITES"):
                assert way in text
            assert not (await called(client, "ingest", urls=f"{SITE}/cups")).is_error

    asyncio.run(work())
    assert f"{NEW}/a" not in site.requests


@pytest.mark.parametrize("ask", ["decline", "cannot"])
@pytest.mark.parametrize("mode", MODES)
def test_what_is_admitted_is_answered_and_the_rest_is_named(
    database_url: str, mode: str, ask: Literal["decline", "cannot"]
) -> None:
    person, site = None if ask == "cannot" else Person("decline"), two_sites()

    async def work() -> None:
        async with connected(tea_settings(database_url), site, mode=mode, person=person) as client:
            await called(client, "answer", urls=SEED, question=QUESTION)
            for name in ("answer", "ingest"):
                more = {"question": QUESTION} if name == "answer" else {}
                result = await called(client, name, urls=[SEED, f"{NEW}/a"], **more)
                assert not result.is_error
                assert [getattr(part, "text", "")[:13] == "[NOT FETCHED]" for part in result.content] == [False, True]
                left_out = getattr(result.content[-1], "text", "")
                assert f"{NEW}/a is on a site that is neither stored nor attached" in left_out
                assert SEED not in left_out

    asyncio.run(work())
    assert set(site.requests) == {SEED}


@pytest.mark.parametrize("settings", [{"mcp_consent": "new-sites"}, {"mcp_admitted_sites": "new.example"}])
def test_a_second_site_is_fetched_where_the_operator_says_so(database_url: str, settings: dict[str, str]) -> None:
    site = two_sites()

    async def work() -> None:
        own = tea_settings(database_url).model_copy(update=settings)
        async with connected(own, site) as client:
            await called(client, "answer", urls=SEED, question=QUESTION)
            assert not (await called(client, "ingest", urls=f"{NEW}/a")).is_error
            assert (await called(client, "ingest", urls=f"{NEW}/b?secret=1")).is_error
            elsewhere = await called(client, "ingest", urls="https://third.example/?secret=1")
            assert text_of(elsewhere).startswith("[ERROR] consent_needed")

    asyncio.run(work())
    assert f"{NEW}/a" in site.requests
    assert not [url for url in site.requests if "secret" in url]


def test_without_consent_by_setting_every_address_is_fetched(database_url: str) -> None:
    site = two_sites()

    async def work() -> None:
        own = tea_settings(database_url).model_copy(update={"mcp_consent": "never"})
        async with connected(own, site) as client:
            await called(client, "answer", urls=SEED, question=QUESTION)
            await called(client, "ingest", urls=f"{NEW}/b?page=1")

    asyncio.run(work())
    assert f"{NEW}/b?page=1" in site.requests


@pytest.mark.parametrize("name", ["status", "search"])
def test_lists_and_results_of_stored_pages_are_page_text(database_url: str, name: str) -> None:
    async def work() -> None:
        settings = tea_settings(database_url)
        async with connected(settings, tea_site()) as client:
            await called(client, "ingest", urls=f"{SITE}/green-tea")
        site = two_sites()
        async with connected(settings, site) as client:
            await called(client, name, **({"question": QUESTION} if name == "search" else {}))
            assert (await called(client, "ingest", urls=f"{NEW}/a")).is_error
            assert (await called(client, "ingest", urls=f"{SITE}/history")).is_error  # stored, but nobody chose it
            assert not (await called(client, "ingest", urls=f"{SITE}/cups")).is_error  # linked
        assert f"{NEW}/a" not in site.requests

    asyncio.run(work())


def test_sessions_over_http_know_nothing_of_each_other(database_url: str) -> None:
    async def work() -> None:
        async with served(tea_settings(database_url), two_sites()) as base, AsyncExitStack() as stack:
            one, other = [await stack.enter_async_context(Client(f"{base}/mcp", mode="legacy")) for _ in range(2)]
            await called(one, "answer", urls=SEED, question=QUESTION)
            assert (await called(one, "ingest", urls=f"{NEW}/a")).is_error
            assert not (await called(other, "ingest", urls=f"{NEW}/b")).is_error
            assert not (await called(one, "ingest", urls=f"{NEW}/b")).is_error  # stored by now
            assert (await called(one, "ingest", urls=f"{NEW}/a")).is_error  # and still not chosen here

    asyncio.run(work())


def test_http_without_a_session_asks_at_once_and_with_an_id_it_does_not(database_url: str) -> None:
    person = Person()

    async def work() -> None:
        async with served(tea_settings(database_url), two_sites()) as base:
            async with Client(f"{base}/mcp", mode="auto", elicitation_callback=person) as client:
                assert not (await called(client, "ingest", urls=SEED)).is_error
                assert "may have read page text" in person.questions[0]
                assert "Consent is for this call." in person.questions[0]
            async with Client(f"{base}/mcp", mode="auto") as client:
                assert "this connection has no session" in text_of(await called(client, "ingest", urls=f"{NEW}/a"))
                assert not (await called(client, "ingest", urls=SEED)).is_error
            async with (
                httpx2.AsyncClient(headers={"mcp-session-id": "of-this-conversation"}, timeout=60) as http,
                Client(streamable_http_client(f"{base}/mcp", http_client=http), mode="auto") as client,
            ):
                assert not (await called(client, "ingest", urls=f"{NEW}/a")).is_error
                text = text_of(await called(client, "ingest", urls="https://third.example/"))
                assert "this session has already read page text" in text

    asyncio.run(work())


def test_others_are_served_while_a_person_thinks(database_url: str) -> None:
    asked, answered = asyncio.Event(), asyncio.Event()

    class Slow(Person):
        async def __call__(self, context: object, params: object) -> ElicitResult:
            asked.set()
            await answered.wait()
            return ElicitResult(action="accept")

    async def work() -> None:
        async with connected(
            tea_settings(database_url, mcp_concurrent_answers=1), two_sites(), person=Slow()
        ) as client:
            await called(client, "ingest", urls=SEED)
            waiting = asyncio.create_task(called(client, "ingest", urls=f"{NEW}/a"))
            await asked.wait()
            assert not (await called(client, "answer", urls=SEED, question=QUESTION)).is_error
            answered.set()
            assert not (await waiting).is_error

    asyncio.run(work())


def test_a_call_that_waits_in_the_queue_was_made_before_the_text_of_others(database_url: str) -> None:
    async def work() -> None:
        async with connected(tea_settings(database_url, mcp_concurrent_answers=1), two_sites()) as client:
            urls = (SEED, f"{NEW}/a", f"{NEW}/b")
            results = await asyncio.gather(*(called(client, "answer", urls=url, question=QUESTION) for url in urls))
            assert [text_of(result) for result in results if result.is_error] == []

    asyncio.run(work())


@pytest.mark.parametrize(("name", "arguments"), [("status", {}), ("ingest", {"urls": SEED})])
def test_a_call_waits_for_a_connection_as_long_as_its_time(
    database_url: str, name: str, arguments: dict[str, str]
) -> None:
    async def work(seconds: float) -> None:
        server = make_server(tea_settings(database_url, mcp_tool_timeout=seconds), tea_site())
        async with Client(server, mode="legacy") as client, AsyncExitStack() as held:
            await called(client, "status")
            assert server.core is not None
            database = (await server.core.services()).corpus.database
            for _ in range(8):
                await held.enter_async_context(database.connection())
            waiting = asyncio.create_task(called(client, name, **arguments))
            if seconds == 1.0:
                assert text_of(await waiting).startswith("[ERROR] timeout")
                return
            await asyncio.sleep(0.2)
            await held.aclose()
            assert not (await waiting).is_error

    for seconds in (1.0, 300.0):  # on a slow machine, too, the second call ends in its time
        asyncio.run(work(seconds))


@pytest.mark.parametrize("mode", MODES)
def test_a_site_is_attached_only_if_a_person_chose_it(database_url: str, mode: str) -> None:
    person, site = Person(), two_sites()

    async def work() -> None:
        async with connected(tea_settings(database_url), site, mode=mode, person=person) as client:
            attached = text_of(await called(client, "attach", url=SEED, pages=2))  # the user's own choice
            assert "attached and read" in attached
            await called(client, "ingest", urls=f"{NEW}/b")
            looked = text_of(await called(client, "attach", url=f"{NEW}/a", look=True))
            assert "Nothing is stored yet" in looked

        async with connected(tea_settings(database_url), site, mode=mode, person=person) as client:
            await called(client, "answer", urls=SEED, question=QUESTION)  # shows page text
            assert not (await called(client, "ingest", urls=f"{NEW}/b")).is_error  # it is stored
            assert person.questions == []
            assert not (await called(client, "attach", url=f"{NEW}/b")).is_error
            [asked] = person.questions
            assert f"{NEW}/b\n(the start of a site to be kept, all of its pages)" in asked
            again = sections_of(text_of(await called(client, "attach", url=SEED, pages=9)))
            assert again["FAILED"] == "- https://site.example/gone: not there"

    asyncio.run(work())
