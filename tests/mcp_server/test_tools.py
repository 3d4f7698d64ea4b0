"""What the tools answer: modes, arguments, errors, data; each as a model meets it."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

import pytest
from mcp import Client

from tests.local_site import SITE, page
from tests.mcp_server.clients import MODES, called, connected, sections_of, text_of
from tests.mcp_server.tea_site import GREEN, QUESTION, SEED, tea_settings, tea_site
from tests.mcp_server.test_consent import NEW, two_sites
from webrag_core.mcp_server.evidence import tokens

GREEN_URL = f"{SITE}/green-tea"
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("answer", {"research_mode": "thorough"}, "'fast', 'auto' or 'deep'"),
    ("answer", {"retrieval_mode": "everything"}, "'chunk', 'full_context' or 'auto'"),
    ("answer", {"intent": "why"}, "'factual', 'comparison', 'how_to' or 'exploratory'"),
    ("answer", {"output": "xml"}, "'text' or 'data'"),
    ("answer", {"policy": "greedy"}, "known: calibrated, fixed-k, seed-matrix, stop-at-once"),
    ("answer", {"policy": "x" * 51}, "50 at most"),
    ("answer", {"style": "poem"}, "'evidence' or 'prose'"),
    ("answer", {"style": "prose", "policy": "fixed-k:2"}, "style prose does not take policy"),
    ("answer", {"expansion_budget": -1}, "cannot be negative"),
    ("answer", {"expansion_budget": "many"}, "expansion_budget"),
    ("answer", {"budget": 3}, "did you mean expansion_budget?"),
    ("answer", {"urls": []}, "urls: none given"),
    ("answer", {"urls": "no url"}, "invalid_url"),
    ("answer", {"urls": {"a": 1}}, "url"),
    ("answer", {"urls": [f"{SITE}/{n}" for n in range(31)]}, "30 at most"),
    ("answer", {"question": "  "}, "the question is empty"),
    ("answer", {"question": None}, "question: Field required"),
    ("answer", {"question": ["tea"]}, "question"),
    ("answer", {"constraints": "short"}, "constraints"),
    ("answer", {"constraints": ["x"] * 21}, "20 at most"),
    ("answer", {"known_context": "x" * 50_001}, "50,000 at most"),
    ("search", {"top_k": 0}, "top_k: 1 at least"),
    ("search", {"top_k": 10**30}, "top_k"),
    ("search", {"urls": ["nowhere.example"]}, "stored sites: none"),
    ("search", {"sources": ["nowhere.example"]}, "no such source: nowhere.example"),
    ("search", {"since": "soon"}, "is not a date"),
    ("search", {"types": ["exe"]}, "'html', 'pdf', 'text' or 'office'"),
    ("search", {"flags": ["none"]}, "table"),
    ("answer", {"sources": ["nowhere.example"], "scope": "all"}, "give either"),
    ("status", {"include_urls": "perhaps"}, "include_urls"),
    ("ingest", {"urls": []}, "no URL given"),
    ("attach", {"url": "notes.html"}, "invalid_url"),
    ("attach", {"pages": 0}, "pages"),
    ("history", {"url": None}, "either a url or the number of an answer"),
    ("history", {"answer": 7}, "either a url or the number of an answer"),
    ("history", {"at": "tomorrow"}, "is not a date"),
    ("history", {"at": "2024", "since": "2023"}, "at excludes since and until"),
    ("history", {"url": None, "answer": 7}, "there is no answer 7"),
    ("history", {}, "nothing is stored of"),
    ("history", {"url": "no url"}, "invalid_url"),
    ("history", {"url": "x" * 8_193}, "8,192 at most"),
    ("history", {"time": "valid"}, "time needs at"),
    ("history", {"since": "2" * 51}, "50 at most"),
    ("search", {"at": "2199"}, "in the future"),
    ("answer", {"urls": [], "at": "2024"}, "urls: none given"),
    ("answer", {"urls": "notes.html", "at": "2024"}, "invalid_url"),
]


@pytest.mark.parametrize("mode", MODES)
def test_wrong_arguments_are_errors_that_name_the_right_ones(database_url: str, mode: str) -> None:
    valid: dict[str, dict[str, Any]] = {
        "answer": {"urls": SEED, "question": QUESTION},
        "search": {"question": QUESTION},
        "status": {},
        "ingest": {},
        "attach": {"url": SEED},
        "history": {"url": SEED},
    }

    async def work() -> None:
        site = tea_site()
        async with connected(tea_settings(database_url), site, mode=mode) as client:
            for name, arguments, expected in WRONG:
                result = await called(client, name, **{**valid[name], **arguments})
                text = text_of(result)
                assert result.is_error, (name, arguments)
                assert expected in text, text
                assert "Do not answer the question from memory" in text
                assert "pydantic" not in text
            text = text_of(await called(client, "anser", question=QUESTION))
            assert "answer, attach, history, ingest, search, status" in text, text
        assert site.requests == []

    asyncio.run(work())


def test_null_is_unset_and_json_in_a_string_stays_text(database_url: str) -> None:
    async def work() -> None:
        async with connected(tea_settings(database_url), tea_site()) as client:
            nulls = {"intent": None, "known_context": None, "constraints": None, "expansion_budget": None}
            assert not (await called(client, "answer", urls=SEED, question=QUESTION, **nulls)).is_error
            known = json.dumps({"a": [1]})
            assert not (await called(client, "answer", urls=SEED, question="[1, 2]", known_context=known)).is_error
            # some clients pass a list as JSON in a string
            assert not (await called(client, "answer", urls=json.dumps([SEED, GREEN_URL]), question=QUESTION)).is_error

    asyncio.run(work())


@pytest.mark.slow
def test_the_policy_of_a_call_decides_and_the_status_comes_first(database_url: str) -> None:
    async def work() -> None:
        settings = tea_settings(database_url)
        for policy, expansions in (("stop-at-once", 0), ("fixed-k:1", 1), (None, 3)):
            async with connected(settings, tea_site()) as client:
                arguments = {"urls": GREEN_URL, "question": QUESTION, "research_mode": "deep", "scope": "run"}
                result = await called(client, "answer", **arguments, policy=policy, output="data")
                data = result.structured_content
                assert data is not None
                assert next(iter(data)) == "status"
                assert data["policy"] == (policy or settings.webrag_policy)
                assert data["expansions"] == expansions
                text = text_of(await called(client, "answer", **arguments, policy=policy))
                assert sections_of(text)["PRESENTATION GUIDE"].startswith(f"Status: {data['status']}")

    asyncio.run(work())


@pytest.mark.slow
def test_the_research_modes_differ(database_url: str) -> None:
    """fast reads what it is given, auto follows few links, deep all that the policy wants."""
    chain = {
        f"step-{n}": page(f"Tea step {n}", f"Tea step number {n} leads on.", {f"/step-{n + 1}": f"Green tea step {n}"})
        for n in range(8)
    }

    async def work() -> None:
        settings = tea_settings(database_url)
        taken = {}
        for mode in ("fast", "auto", "deep"):
            async with connected(settings, tea_site(**chain)) as client:
                start = f"{SITE}/step-0"
                arguments = {
                    "urls": start,
                    "question": "Where is porcelain made?",
                    "research_mode": mode,
                    "scope": "run",
                }
                result = await called(client, "answer", **arguments)
                stats = sections_of(text_of(result))["STATS"]
                taken[mode] = int(stats.split("Link-following rounds: ")[1].split()[0])
        assert taken["fast"] == 0
        assert taken["auto"] == 2
        assert taken["deep"] == settings.max_expansion_depth
        async with connected(settings, tea_site(**chain)) as client:
            result = await called(client, "answer", urls=start, question="Where is porcelain?", expansion_budget=1)
            assert "at most 1 link-following rounds" in text_of(result)

    asyncio.run(work())


def test_several_urls_are_all_in_scope_from_the_first_round(database_url: str) -> None:
    async def work() -> None:
        async with connected(tea_settings(database_url), tea_site()) as client:
            urls = [f"{SITE}/coffee", GREEN_URL, f"{SITE}/nowhere"]
            sections = sections_of(text_of(await called(client, "answer", urls=urls, question=QUESTION)))
            assert GREEN_URL in sections["SOURCES"]
            assert "Documents searched: 2 (2 fetched, 0 already stored, 1 failed)" in sections["STATS"]
            assert "nowhere (failed: not_found)" in sections["EXPANSION TRACE"]

    asyncio.run(work())


def test_answer_then_search_status_and_ingest(database_url: str) -> None:
    async def work() -> None:
        async with connected(tea_settings(database_url), tea_site()) as client:
            assert "Documents: 0" in text_of(await called(client, "status"))
            await self_check(client)

    async def self_check(client: Client) -> None:
        sections = sections_of(
            text_of(await called(client, "answer", urls=SEED, question=QUESTION, research_mode="auto"))
        )
        assert f"[1] Green tea — {GREEN_URL}" in sections["SOURCES"]
        assert "brewed at eighty degrees" in sections["EVIDENCE"]
        assert "[1] § Green tea (characters 13–51, sha256 " in sections["CITATIONS"]
        assert "\nGreen tea is brewed at eighty degrees.\n" in sections["CITATIONS"]
        found = sections_of(text_of(await called(client, "search", question=QUESTION, urls=["site.example"])))
        assert GREEN_URL in found["SOURCES"]
        nothing = sections_of(text_of(await called(client, "search", question=QUESTION, urls=[SEED + "green-tea"])))
        assert "Documents searched: 1" in nothing["STATS"]
        status = text_of(await called(client, "status", url="site.example/green-tea"))
        assert "Documents: 1" in status
        assert "[SOURCES]" not in text_of(await called(client, "status", include_urls=False))
        ingested = await called(client, "ingest", urls=[f"{SITE}/cups", f"{SITE}/nowhere"])
        assert not ingested.is_error
        assert "Stored: 1, failed: 1" in text_of(ingested)
        assert (await called(client, "ingest", urls=f"{SITE}/nowhere")).is_error

    asyncio.run(work())


def test_data_comes_once_and_proves_itself(database_url: str) -> None:
    async def work() -> None:
        async with connected(tea_settings(database_url), tea_site()) as client:
            arguments = {"urls": SEED, "question": QUESTION, "research_mode": "auto", "output": "data"}
            result = await called(client, "answer", **arguments)
            data = result.structured_content
            assert data is not None
            assert GREEN not in text_of(result)
            best = data["citations"][0]
            assert "eighty degrees" in best["quote"]
            assert hashlib.sha256(best["quote"].encode()).hexdigest() == best["quote_sha256"]
            assert data["sources"][best["source"] - 1]["url"] == GREEN_URL
            assert data["stopped"]["rule"]
            assert json.dumps(data).count("two minutes") == 1
            found = await called(client, "search", question=QUESTION, output="data")
            assert found.structured_content is not None
            assert found.structured_content["citations"]
            plain = await called(client, "search", question=QUESTION)
            assert plain.structured_content is None  # several clients would show it instead of the text

    asyncio.run(work())


def test_a_page_that_cannot_be_had_is_an_error_with_causes(database_url: str) -> None:
    async def work() -> None:
        async with connected(tea_settings(database_url), tea_site()) as client:
            result = await called(client, "answer", urls=f"{SITE}/nowhere", question=QUESTION)
            assert result.is_error
            text = text_of(result)
            for part in ("[ERROR] not_found", "What happened: ", "Likely causes: ", "What to do: ", "from memory"):
                assert part in text

    asyncio.run(work())


def test_a_database_that_is_away_is_told_by_every_call(database_url: str) -> None:
    async def work() -> None:
        away = tea_settings(database_url.replace("/test_", "/gone_"))
        async with connected(away, tea_site()) as client:
            for _ in range(2):
                result = await called(client, "search", question="tea")
                assert result.is_error
                text = text_of(result)
                assert "[ERROR] database_unavailable" in text
                assert "Do not answer the question from memory" in text
                assert "gone_" not in text

    asyncio.run(work())


def test_nothing_found_says_so(database_url: str) -> None:
    async def work() -> None:
        async with connected(tea_settings(database_url), tea_site()) as client:
            text = text_of(await called(client, "search", question=QUESTION))
            assert text.startswith("[PRESENTATION GUIDE]\nNo evidence was found.")
            assert "Do not answer from memory" in text
            assert sections_of(text)["CITATIONS"] == "(none)"

    asyncio.run(work())


def test_responses_stay_within_their_budgets(database_url: str) -> None:
    """Sixty long sections that all match: five sections stay whole, evidence fills the rest."""
    sections = "".join(
        f"<h2>Green tea, part {n}</h2><p>{f'Green tea number {n} is brewed at {n} degrees. ' * 40}</p>"
        for n in range(60)
    )
    long = f"<html><head><title>Tea</title></head><body><main><h1>Tea</h1>{sections}</main></body></html>"

    async def work() -> None:
        settings = tea_settings(database_url)
        async with connected(settings, tea_site(long=long)) as client:
            url = f"{SITE}/long"
            answer = text_of(await called(client, "answer", urls=url, question=QUESTION))
            assert tokens(answer) <= settings.mcp_answer_token_budget
            search = text_of(await called(client, "search", question=QUESTION, top_k=50))
            assert tokens(search) <= settings.mcp_search_token_budget
            whole = text_of(await called(client, "answer", urls=url, question=QUESTION, retrieval_mode="full_context"))
            assert settings.mcp_answer_token_budget < tokens(whole) <= settings.mcp_response_token_budget
            for text in (answer, search, whole):
                found = sections_of(text)
                assert {"PRESENTATION GUIDE", "SOURCES", "CITATIONS", "STATS", "FOLLOW-UP OPTIONS"} <= set(found)
                assert 1 <= found["CITATIONS"].count(", sha256 ") <= 20
        small = tea_settings(database_url, mcp_search_token_budget=1_000)
        async with connected(small, tea_site()) as client:
            search = text_of(await called(client, "search", question=QUESTION, top_k=50))
            assert tokens(search) <= 1_000

    asyncio.run(work())


def test_further_pages_of_a_site_can_be_read_whatever_was_shown_of_it(database_url: str) -> None:
    """Neither sources, nor traces, nor failures of earlier calls keep the user from naming a page that no page links
    to."""
    deep = {f"guide/{name}": page(name, f"Green tea {name} is brewed.") for name in ("one", "two", "three")}

    async def work() -> None:
        async with connected(tea_settings(database_url), tea_site(guide=page("Guide", GREEN), **deep)) as client:
            await called(client, "answer", urls=[f"{SITE}/guide", f"{SITE}/guide/one"], question=QUESTION)
            await called(client, "status")
            assert (await called(client, "ingest", urls=f"{SITE}/guide/four")).is_error
            for url in (f"{SITE}/guide/two", [f"{SITE}/guide/three"], f"{SITE}/coffee"):
                assert not (await called(client, "answer", urls=url, question=QUESTION)).is_error
            assert "not_found" in text_of(await called(client, "ingest", urls=f"{SITE}/guide/four/five"))

    asyncio.run(work())


@pytest.mark.parametrize("mode", MODES)
def test_an_answer_in_prose_is_said_with_its_quotes(database_url: str, mode: str) -> None:
    async def work() -> None:
        async with connected(tea_settings(database_url), tea_site(), mode=mode) as client:
            text = text_of(await called(client, "answer", urls=SEED, question=QUESTION, style="prose"))
            assert "[PRESENTATION GUIDE]" in text
            assert "[CITATIONS]" in text
            assert "Confidence: " in text
            done = await called(client, "answer", urls=SEED, question=QUESTION, style="prose", output="data")
            answer = done.structured_content
            assert answer is not None
            assert {"answer_id", "status", "sentences", "highlights", "citations"} <= answer.keys()
            assert answer["sentences"] or answer["highlights"]
            german = "Wie lange muss man green tea ziehen lassen?"
            text = text_of(await called(client, "answer", urls=SEED, question=german, style="prose"))
            assert "- the question is in German, the pages are in English" in text
            strange = text_of(await called(client, "answer", urls=SEED, question="Porzellan?", style="prose"))
            assert "- No answer: no passage of the pages that were read has to do with the question" in strange

    asyncio.run(work())


def test_the_tools_keep_to_the_sources_that_are_named(database_url: str) -> None:
    async def work() -> None:
        async with connected(tea_settings(database_url), two_sites()) as client:
            await called(client, "ingest", urls=[SEED, GREEN_URL, f"{NEW}/a"])
            for given, found in (
                ({}, {SITE, NEW}),
                ({"sources": ["new.example"]}, {NEW}),
                ({"languages": ["de"]}, set()),
            ):
                shown = text_of(await called(client, "search", question=QUESTION, **given))
                assert {site for site in (SITE, NEW) if f"{site}/" in shown} == found, given
            for given, found in (({}, {SITE}), ({"sources": ["new.example"]}, {SITE, NEW})):
                shown = text_of(await called(client, "answer", urls=SEED, question=QUESTION, **given))
                assert {site for site in (SITE, NEW) if f"{site}/" in shown} == found, given

    asyncio.run(work())
