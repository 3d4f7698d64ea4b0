"""A run where every page costs money: what is bought, when, and in which order. The provider is a server of ours."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.acquisition.firecrawl_server import document
from tests.acquisition.local_server import resolver
from tests.chat_server import said, sent_data
from tests.local_site import SITE, LocalSite, page
from tests.provider_server import Call, Provider, Reply, serving
from webrag_core.acquisition.firecrawl.acquirer import FirecrawlAcquirer
from webrag_core.acquisition.firecrawl.fallback import FallbackAcquirer
from webrag_core.acquisition.gate import NetworkGate
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.models import OrchestrationResult
from webrag_core.providers import rate_limits
from webrag_core.store.breakers import Breakers
from webrag_core.store.database import Database

QUESTION = "How do I rotate the signing keys?"
ANSWER = "To rotate the signing keys, run vault keys rotate. Old signing keys stay valid for two days after you rotate."
TOPICS = [
    "audit",
    "backup",
    "clients",
    "disks",
    "events",
    "files",
    "groups",
    "hosts",
    "import",
    "jobs",
    "kernel",
    "logs",
]
LINKS = {f"/{topic}": f"about {topic}" for topic in TOPICS}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


def site(start: str, **more: str) -> dict[str, str]:
    """Pages by path: a start page with twelve links, the pages behind them, and `more`."""
    others = {path: page(text, f"All that there is to know {text}.") for path, text in LINKS.items()}
    return {"/": page("Signing keys: how to rotate them", start, LINKS), **others, **more}


def provider_of(pages: dict[str, str], listed: tuple[str, ...] = ()) -> Any:
    """Firecrawl over `pages`, whose map lists them and `listed`."""

    def answer(call: Call) -> Any:
        if call.path == "/v2/map":
            links = [{"url": SITE + path} for path in [*pages, *listed]]
            return {"success": True, "links": links[: call.body["limit"]]}
        url = call.body["url"]
        html = pages.get(url.removeprefix(SITE))
        if html is None:
            return {"success": True, "data": document(url, "<p>Nothing.</p>", statusCode=404)}
        return {"success": True, "data": document(url, html)}

    return answer


def ask(
    settings: Settings, server: Provider, times: int = 1, direct: LocalSite | None = None, **options: Any
) -> list[OrchestrationResult]:
    """The results of the same question, asked `times` times of one corpus."""
    configured = settings.model_copy(update={"firecrawl_api_url": server.url, "webrag_warc": None})
    gate = NetworkGate(configured, resolver=resolver({"site.example": ["93.184.216.34"]}))

    async def run() -> list[OrchestrationResult]:
        async with await Database.open(configured) as database:
            firecrawl = FirecrawlAcquirer(configured, gate, Breakers.for_settings(database, configured))
            corpus = Corpus(database, FallbackAcquirer(firecrawl, direct or LocalSite({}, name="http")), configured)
            request = AnswerRequest(**{"urls": (f"{SITE}/",), "question": QUESTION, **options})
            return [await OrchestratorEngine(corpus).run(request) for _ in range(times)]

    return asyncio.run(run())


def bought(server: Provider) -> list[str]:
    """Paths of the scraped pages and `map`, in order."""
    return [
        call.path.rpartition("/")[2] if call.path != "/v2/scrape" else call.body["url"].removeprefix(SITE)
        for call in server.calls
    ]


def test_a_start_page_that_answers_is_all_that_is_bought(settings: Settings) -> None:
    with serving(provider_of(site(ANSWER))) as server:
        first, again = ask(settings, server, times=2)
    assert bought(server) == ["/"]
    assert (first.final_decision.rule, again.final_decision.rule) == ("complete", "complete")
    assert ANSWER[:40] in first.citations[0].verbatim_text
    assert first.rounds[0].candidates, "links are ranked by what is known of them for nothing"


@pytest.mark.parametrize(
    ("policy", "budget"),
    [("calibrated", 0), ("calibrated", 2), ("seed-matrix", 2), ("fixed-k:1", 1), ("stop-at-once", 1)],
)
def test_nothing_is_bought_before_the_decision_to_go_on(settings: Settings, policy: str, budget: int) -> None:
    pages = site("Nothing of this here.", **{"/keys": page("Keys", ANSWER)})
    with serving(provider_of(pages)) as server:
        [result] = ask(settings, server, policy=policy, expansion_budget=budget)
    went_on = [done for done in result.rounds if done.decision.action == "expand_breadth"]
    if not went_on:
        assert bought(server) == ["/"]
    else:
        assert bought(server)[:2] == ["/", "map"]
        assert bought(server).count("map") == 1
    read = [one.url for one in result.read_documents()]
    unread = [path for path in bought(server) if path != "map" and SITE + path not in read]
    assert len(unread) <= 2, "at most three to choose from, of which the best is read"


def test_a_page_that_only_the_map_names_is_found(settings: Settings) -> None:
    pages = {"/": page("Vault", "The vault keeps secrets."), "/rotate-signing-keys": page("Rotating", ANSWER)}
    with serving(provider_of(pages)) as server:
        [result] = ask(settings, server)
    assert bought(server) == ["/", "map", "/rotate-signing-keys"]
    assert result.citations[0].source_url == f"{SITE}/rotate-signing-keys"


def test_the_map_is_as_long_as_the_setting_says(settings: Settings) -> None:
    with serving(provider_of({"/": page("Vault", "The vault keeps secrets.")})) as server:
        ask(settings.model_copy(update={"expansion_map_limit": 100}), server)
    assert [call.body["limit"] for call in server.calls if call.path == "/v2/map"] == [100]


def ranking(call: Call) -> Any:
    """A reranker that finds keys in words that share none with the question."""
    texts = call.body["documents"]
    best = [0.9 if "credential" in text or "vault keys rotate" in text else 0.1 for text in texts]
    return {"results": [{"index": index, "relevance_score": score} for index, score in enumerate(best)]}


def with_reranker(settings: Settings, url: str) -> Settings:
    return Settings.model_validate(
        settings.model_dump() | {"reranker_provider": "jina", "reranker_base_url": url, "reranker_timeout": 5.0}
    )


def test_links_are_ranked_in_one_request_before_pages_are_bought(settings: Settings) -> None:
    pages = site("Nothing of this here.", **{"/renew": page("Renewing credentials", ANSWER)})
    pages["/"] = page("Vault", "Nothing of this here.", {**LINKS, "/renew": "renewing credentials"})
    with serving(provider_of(pages)) as server, serving(ranking) as reranker:
        [result] = ask(with_reranker(settings, reranker.url), server)
    assert bought(server)[:2] == ["/", "map"]
    assert "/renew" in bought(server)[2:5], "three pages are asked for at the same time"
    assert result.rounds[0].candidates[0].url == f"{SITE}/renew"
    sent = [call.body["documents"] for call in reranker.calls]
    assert len([texts for texts in sent if len(texts) > 2 and any("renewing cred" in text for text in texts)]) == 1
    assert f"{SITE}/renew" in {one.source_url for one in result.citations}


def test_a_reranker_that_fails_on_links_costs_a_warning(settings: Settings) -> None:
    pages = site("Nothing of this here.", **{"/keys": page("Keys", ANSWER)})
    with serving(provider_of(pages)) as server, serving(Reply({}, 500), ranking) as reranker:
        [result] = ask(with_reranker(settings, reranker.url), server)
    assert any("links are ranked without jina" in warning for warning in result.warnings)
    assert len(bought(server)) > 2


def test_no_page_is_bought_while_words_alone_are_searched(settings: Settings) -> None:
    down = settings.model_copy(update={"embedding_base_url": "http://127.0.0.1:9", "embedding_dimensions": 8})
    pages = site("Nothing of this here.")

    def embeddings(call: Call) -> Any:
        rows = [{"object": "embedding", "index": at, "embedding": [1.0] * 8} for at, _ in enumerate(call.body["input"])]
        return {"object": "list", "data": rows, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}

    with serving(provider_of(pages)) as server, serving(Reply({}, 400), embeddings) as model:
        [result] = ask(down.model_copy(update={"embedding_base_url": model.url}), server)
    assert bought(server) == ["/"]
    assert result.final_decision.rule == "provider-failed"
    assert any("searched by words only" in warning for warning in result.warnings)


def refusing(status: int, pages: dict[str, str], headers: dict[str, str] | None = None) -> tuple[Any, LocalSite]:
    """A provider that serves nobody, and the site to be fetched directly."""
    reply = Reply({"success": False, "error": "no"}, status, headers or {})
    return reply, LocalSite(pages, name="http")


@pytest.mark.parametrize("status", [401, 402, 403])
def test_a_provider_that_refuses_is_asked_once(settings: Settings, status: int) -> None:
    pages = site("Nothing of this here.", **{"/keys": page("Keys", "Keys are kept.")})
    reply, direct = refusing(status, pages)
    with serving(reply) as server:
        [result] = ask(settings, server, direct=direct, policy="fixed-k:1")
    assert len(server.calls) == 1
    assert len(direct.requests) > 3
    warnings = [warning for warning in result.warnings if "fetched directly" in warning]
    assert len(warnings) == 1
    assert warnings[0].endswith(f"fetched directly instead, and {len(direct.requests) - 1} more pages")


def test_a_provider_that_limits_requests_is_asked_for_less(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "_FIRST_PAUSE_S", 0.01)
    reply, direct = refusing(429, site("Nothing of this here."))
    with serving(reply) as server:
        [result] = ask(settings, server, direct=direct, expansion_budget=2, policy="calibrated")
    scraped = bought(server)
    assert scraped.count("/") == 3, "the first caller asks again"
    assert all(scraped.count(path) == 1 for path in set(scraped) - {"/"})
    assert max(len(done.previews) for done in result.rounds) == 1
    assert len([warning for warning in result.warnings if "fetched directly" in warning]) == 1


@pytest.mark.parametrize("status", [401, 402, 403])
def test_a_reranker_that_refuses_is_asked_once(settings: Settings, status: int) -> None:
    with serving(provider_of(site(ANSWER))) as server, serving(Reply({}, status)) as reranker:
        first, _ = ask(with_reranker(settings, reranker.url), server, times=2)
    assert len(reranker.calls) == len(first.query_analysis.sub_queries)
    assert len([warning for warning in first.warnings if "jina" in warning]) == 1


def with_prices(settings: Settings, folder: Path, **limits: float) -> Settings:
    file = folder / "prices.toml"
    file.write_text('currency = "EUR"\n[providers.firecrawl]\npage = 2\n[providers."firecrawl map"]\nrequest = 1\n')
    return settings.model_copy(update={"prices_file": file, **limits})


def spent_by_day(settings: Settings) -> list[tuple[Any, ...]]:
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url) as connection:
        return connection.execute("SELECT provider, requests, pages FROM spending ORDER BY provider").fetchall()


def test_a_result_and_its_day_say_what_was_spent(settings: Settings, tmp_path: Path) -> None:
    with serving(provider_of(site("Nothing of this here."))) as server:
        [result] = ask(with_prices(settings, tmp_path), server, expansion_budget=1)
    pages = len(bought(server)) - 1  # and a map
    assert pages > 2
    assert {one.provider: (one.requests, one.pages, one.cost) for one in result.spent} == {
        "firecrawl": (pages, pages, 2.0 * pages),
        "firecrawl map": (1, 0, 1.0),
    }
    assert spent_by_day(settings) == [("firecrawl", pages, pages), ("firecrawl map", 1, 0)]
    assert f"firecrawl: {pages} requests, {pages} pages, {2 * pages} EUR" in result.to_markdown()


@pytest.mark.parametrize("limits", [{"max_cost_per_answer": 2.0}, {"max_cost_per_day": 2.0}])
def test_a_limit_of_cost_stops_softly(settings: Settings, tmp_path: Path, limits: dict[str, float]) -> None:
    with serving(provider_of(site("Nothing of this here."))) as server:
        [result] = ask(with_prices(settings, tmp_path, **limits), server)
    assert bought(server) == ["/"]
    assert result.final_decision.rule == "cost-limit"
    assert any("2 of 2 EUR" in warning for warning in result.warnings)


def test_a_limit_that_cannot_count_says_so(settings: Settings) -> None:
    with serving(provider_of(site(ANSWER))) as server:
        [result] = ask(settings.model_copy(update={"max_cost_per_answer": 1.0}), server)
    assert any("no price is set for firecrawl" in warning for warning in result.warnings)


def test_a_judge_chooses_among_the_links_that_it_is_shown_and_is_asked_once_for_evidence(settings: Settings) -> None:
    pages = site("Signing keys are rotated by an operator.", **{"/kernel": page("Kernel", ANSWER)})

    def judge(call: Call) -> Any:
        data = sent_data(call)
        found = any("vault keys rotate" in passage["text"] for passage in data["passages"])
        kernel = [one["number"] for one in data.get("links", ()) if "about kernel" in one["text"]]
        verdict = {"sufficient": "full" if found else "none", "probability": 0.95 if found else 0.05, "passages": [1]}
        return said(
            json.dumps({**verdict, "contradicts": [], "open_parts": [], "missing": [], "follow": [*kernel, 99]})
        )

    with serving(provider_of(pages)) as server, serving(judge) as chat:
        judged = settings.model_copy(
            update={
                "orchestration_llm_base_url": f"{chat.url}/v1",
                "decomposition_mode": "rule_based",
                "judge": "llm",
                "judge_doubt_from": 0.0,
                "webrag_previews": 1,
            }
        )
        [result] = ask(judged, server)
    assert [place for place in bought(server) if place != "map"] == ["/", "/kernel"]
    assert result.final_decision.rule == "judge-complete"
    assert len(chat.calls) == 2
    [first, *_] = result.rounds[0].candidates
    assert (first.url, first.score_breakdown["judge"]) == (f"{SITE}/kernel", 1.0)
    assert result.rounds[0].signals.verdict is not None
