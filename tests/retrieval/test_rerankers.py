"""Rerankers: providers against local servers that speak their wire format, and what happens when they fail."""

from __future__ import annotations

import asyncio
import logging
import math
import sys
import traceback
from typing import Any

import pytest

from tests.local_site import SITE, LocalSite, page
from tests.provider_server import Answer, Call, Provider, Reply, serving, silent_url
from webrag_core.answering.manager import Manager, Question
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError, RerankError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.models import OrchestrationResult
from webrag_core.providers.embedder import WordLlamaEmbedder
from webrag_core.providers.rerankers.protocol import Reranked
from webrag_core.retrieval.local_reranker import LocalReranker
from webrag_core.retrieval.reranking import make_reranker, rank
from webrag_core.retrieval.scope import source_scope
from webrag_core.retrieval.search import CorpusSearch, search_corpus
from webrag_core.retrieval.searcher import Searcher

KEY = "rk-Very-Secret-0123456789"
PROVIDERS = ("zeroentropy", "cohere", "jina")
PASSAGES = ["foxes are red", "whales are blue", "frogs are green"]
PATHS = {"zeroentropy": "/base/models/rerank", "cohere": "/base/v2/rerank", "jina": "/base/rerank"}
MODELS = {"zeroentropy": "zerank-2", "cohere": "rerank-v3.5", "jina": "jina-reranker-v2-base-multilingual"}

for_each_provider = pytest.mark.parametrize("provider", PROVIDERS)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDKs use the proxies of the environment, also for 127.0.0.1."""
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


def results(*pairs: tuple[Any, Any]) -> list[dict[str, Any]]:
    return [{"index": index, "relevance_score": score} for index, score in pairs]


def envelope(provider: str, rows: Any) -> dict[str, Any]:
    """The provider's documented answer around these results."""
    if provider == "zeroentropy":
        return {
            "actual_latency_mode": "fast",
            "e2e_latency": 0.1,
            "inference_latency": 0.1,
            "results": rows,
            "total_bytes": 9,
            "total_tokens": 9,
        }
    if provider == "cohere":
        return {"id": "a-b", "results": rows, "meta": {"api_version": {"version": "2"}}}
    return {"model": "m", "usage": {"total_tokens": 9}, "results": rows}


def good(provider: str) -> Answer:
    """Passages that speak of whales are relevant; best first, as all three providers answer."""

    def answer(call: Call) -> dict[str, Any]:
        scored = [(i, 0.9 if "whale" in text else 0.1) for i, text in enumerate(call.body["documents"])]
        return envelope(provider, results(*sorted(scored, key=lambda pair: -pair[1])))

    return answer


def config(provider: str, url: str | None, key: str | None = KEY, **more: Any) -> Settings:
    given = {"reranker_timeout": 20.0, **more}
    return Settings(reranker_provider=provider, reranker_base_url=url, reranker_api_key=key, **given)


def rerank(settings: Settings, instruction: str | None = None, passages: list[str] | None = None) -> Reranked:
    reranker = make_reranker(settings)
    assert reranker is not None
    texts = PASSAGES if passages is None else passages
    return asyncio.run(reranker.rerank("largest animal", texts, term_idf={}, instruction=instruction))


def scored(reranked: Reranked) -> list[tuple[int, float]]:
    return [(result.index, result.relevance_score) for result in reranked.results]


# --- over the wire ---


@for_each_provider
def test_what_goes_over_the_wire_and_what_comes_back(provider: str) -> None:
    with serving(good(provider)) as server:
        reranked = rerank(config(provider, f"{server.url}/base/"))
    (call,) = server.calls
    assert call.path == PATHS[provider]
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert call.headers["content-type"] == "application/json"
    own = {
        "zeroentropy": {"latency": "fast"},
        "cohere": {},
        "jina": {"top_n": len(PASSAGES), "return_documents": False},
    }
    assert call.body == {
        "model": MODELS[provider],
        "query": "largest animal",
        "documents": PASSAGES,
        **own[provider],  # no top_n, or all of them: every passage needs its score
    }
    assert scored(reranked) == [(1, 0.9), (0, 0.1), (2, 0.1)]
    assert [result.confidence for result in reranked.results] == [None] * 3
    assert reranked.warnings == ()


@for_each_provider
def test_an_instruction_stands_in_front_of_the_query_and_the_model_can_be_chosen(provider: str) -> None:
    with serving(good(provider)) as server:
        rerank(config(provider, server.url, reranker_model="mine"), instruction="prefer official pages")
    (call,) = server.calls
    assert call.body["query"] == "prefer official pages\nlargest animal"
    assert call.body["model"] == "mine"
    assert "instruction" not in call.body


@for_each_provider
def test_a_self_hosted_server_needs_no_key_and_gets_none_of_the_environment(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ZEROENTROPY_API_KEY", "CO_API_KEY", "COHERE_API_KEY", "JINA_API_KEY"):
        monkeypatch.setenv(name, "from-the-environment")
    for name in ("ZEROENTROPY_BASE_URL", "CO_API_URL"):
        monkeypatch.setenv(name, silent_url())
    with serving(good(provider)) as server:
        rerank(config(provider, server.url, key=None))
    (call,) = server.calls
    assert "from-the-environment" not in str(call.headers)
    assert call.headers.get("authorization") == (None if provider == "jina" else "Bearer unused")


def test_a_jina_url_may_name_the_endpoint_itself() -> None:
    with serving(good("jina")) as server:
        rerank(config("jina", f"{server.url}/v2/rerank"))
    assert server.calls[0].path == "/v2/rerank"


@for_each_provider
def test_the_default_endpoint_is_the_providers_own(provider: str) -> None:
    reranker = make_reranker(config(provider, None))
    assert reranker is not None
    urls = {
        "zeroentropy": "https://api.zeroentropy.dev/v1",
        "cohere": "https://api.cohere.com",
        "jina": "https://api.jina.ai/v1",
    }
    assert vars(reranker)["_url"] == urls[provider]


@for_each_provider
def test_no_passages_no_request(provider: str) -> None:
    with serving(good(provider)) as server:
        assert rerank(config(provider, server.url), passages=[]).results == []
    assert not server.calls


# --- answers that are no ranking ---

THREE = [(0, 0.3), (1, 0.2), (2, 0.1)]
BAD_ROWS: dict[str, tuple[Any, str]] = {
    "no rows": (results(), "results for 0 of 3"),
    "index too large": (results(*THREE[:2], (3, 0.1)), "not sent"),
    "negative index": (results(*THREE[:2], (-1, 0.1)), "not sent"),
    "no index": ([*results(*THREE[:2]), {"relevance_score": 0.1}], "not sent"),
    "rows are texts": (["0", "1", "2"], "not sent|not a ranking"),
    "rows are null": ([None, None, None], "not sent|not a ranking"),
    "index twice": (results(*THREE, (1, 0.1)), "two results for passage 1"),
    "NaN": (results(*THREE[:2], (2, math.nan)), "passage 2 has no finite score"),
    "infinite": (results(*THREE[:2], (2, math.inf)), "passage 2 has no finite score"),
    "score is a text": (results(*THREE[:2], (2, "high")), "passage 2 has no finite score"),
    "score is null": (results(*THREE[:2], (2, None)), "passage 2 has no finite score"),
    "no score": ([*results(*THREE[:2]), {"index": 2}], "passage 2 has no finite score"),
    "results are null": (None, "not a ranking"),
    "results are a text": ("all of them", "not a ranking"),
}


@for_each_provider
def test_a_passage_without_a_score_is_ranked_last(provider: str) -> None:
    with serving(lambda call: envelope(provider, results((1, 0.2), (2, 0.9)))) as server:
        reranked = rerank(config(provider, server.url))
    assert [(row.index, row.relevance_score) for row in reranked.results] == [(2, 0.9), (1, 0.2), (0, 0.0)]
    assert reranked.warnings == (f"{provider} scored 2 of 3 passages; the others are ranked last",)


# Cohere's SDK turns these into numbers, so only the others are asked
ODD_INDEX = {
    "text": results(*THREE[:2], ("second", 0.1)),
    "half": results(*THREE[:2], (1.5, 0.1)),
    "truth value": results((0, 0.1), (True, 0.1), (2, 0.1)),
}
GARBAGE: dict[str, Any] = {
    "HTML page": Reply(f"<html>{KEY}</html>", content_type="text/html"),
    "HTML called JSON": Reply(f"<html>{KEY}</html>"),
    "nothing": Reply(""),
    "list": Reply([]),
    "null": Reply(None),
    "number": Reply(7),
    "empty object": Reply({}),
    "error with 200": Reply({"error": f"bad key {KEY}"}),
}


@for_each_provider
@pytest.mark.parametrize("name", BAD_ROWS)
def test_results_that_do_not_score_every_passage_once_are_refused(provider: str, name: str) -> None:
    rows, message = BAD_ROWS[name]
    with (
        serving(lambda call: envelope(provider, rows)) as server,
        pytest.raises(RerankError, match=message) as caught,
    ):
        rerank(config(provider, server.url))
    assert caught.value.provider == provider
    assert len(server.calls) == 1


@pytest.mark.parametrize("provider", ["zeroentropy", "jina"])
@pytest.mark.parametrize("name", ODD_INDEX)
def test_an_index_is_a_number(provider: str, name: str) -> None:
    rows = ODD_INDEX[name]
    with serving(lambda call: envelope(provider, rows)) as server, pytest.raises(RerankError, match="not sent"):
        rerank(config(provider, server.url))


@for_each_provider
@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_no_ranking(provider: str, name: str) -> None:
    with (
        serving(lambda call: GARBAGE[name]) as server,
        pytest.raises(RerankError, match=r"not a ranking|for 0 of 3") as caught,
    ):
        rerank(config(provider, server.url))
    assert KEY not in "".join(traceback.format_exception(caught.value))


@for_each_provider
def test_scores_on_another_scale_are_squashed_in_order_and_said(provider: str) -> None:
    rows = results((0, -4.5), (2, 12.0), (1, 0.5))
    with serving(lambda call: envelope(provider, rows)) as server:
        reranked = rerank(config(provider, server.url))
    assert [index for index, _ in scored(reranked)] == [2, 1, 0]
    assert 1 > scored(reranked)[0][1] > scored(reranked)[1][1] > 0.5 > scored(reranked)[2][1] > 0
    assert len(reranked.warnings) == 1
    assert provider in reranked.warnings[0]
    assert "-4.5 to 12" in reranked.warnings[0]


def test_enormous_scores_keep_their_order() -> None:
    rows = results((0, 1e300), (1, -1e300), (2, 2e300))
    with serving(lambda call: envelope("jina", rows)) as server:
        assert scored(rerank(config("jina", server.url))) == [(2, 1.0), (0, 1.0), (1, 0.0)]


def test_rounding_at_the_ends_of_the_range_is_no_other_scale() -> None:
    rows = results((0, 1.0000001), (1, -0.0000001), (2, 1))
    with serving(lambda call: envelope("jina", rows)) as server:
        reranked = rerank(config("jina", server.url))
    assert scored(reranked) == [(0, 1.0), (2, 1.0), (1, 0.0)]
    assert reranked.warnings == ()


# --- failures on the way ---


@for_each_provider
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "HTTP 400"),
        (401, r"HTTP 401 \(check RERANKER_API_KEY\)"),
        (404, r"HTTP 404 \(check RERANKER_BASE_URL and RERANKER_MODEL\)"),
        (422, "HTTP 422"),
        (429, r"HTTP 429 \(rate limit or quota\)"),
        (500, "HTTP 500"),
        (503, "HTTP 503"),
    ],
)
def test_an_http_error_is_not_tried_again(provider: str, status: int, message: str) -> None:
    error = Reply({"message": f"no, {KEY}", "detail": KEY}, status, {"Retry-After": "1"})
    with serving(lambda call: error) as server, pytest.raises(RerankError, match=message) as caught:
        rerank(config(provider, server.url))
    # the SDK's own retries are off; what may be due to the passages is asked for any text
    assert [call.body["documents"] for call in server.calls[1:]] == ([["text"]] if status in (400, 422, 500) else [])
    assert KEY not in "".join(traceback.format_exception(caught.value))


@for_each_provider
def test_an_error_page_that_is_no_json(provider: str) -> None:
    with (
        serving(lambda call: Reply("<h1>Bad gateway</h1>", 502, content_type="text/html")) as server,
        pytest.raises(RerankError, match="HTTP 502"),
    ):
        rerank(config(provider, server.url))


@for_each_provider
def test_an_endpoint_nobody_listens_on(provider: str) -> None:
    with pytest.raises(RerankError, match="cannot be reached"):
        rerank(config(provider, silent_url()))


@for_each_provider
def test_a_reply_slower_than_the_time_out(provider: str) -> None:
    with (
        serving(lambda call: Reply({}, hold=True)) as server,
        pytest.raises(RerankError, match=r"no answer within 0\.5 s"),
    ):
        rerank(config(provider, server.url, reranker_timeout=0.5))


@for_each_provider
def test_the_key_is_in_no_log_and_no_representation(provider: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(good(provider), Reply({"message": "no"}, 401)) as server:
        settings = config(provider, server.url)
        with pytest.raises(RerankError) as caught:
            rerank(settings)
        rerank(settings)
    assert caught.value.__context__ is None
    assert KEY not in caplog.text
    assert KEY not in repr(settings) + str(settings.model_dump())
    assert KEY not in repr(make_reranker(settings)) + str(vars(make_reranker(settings)))


# --- which reranker the settings choose ---


@for_each_provider
def test_a_provider_without_key_and_url_is_refused_at_start(provider: str, settings: Settings) -> None:
    chosen = settings.model_copy(update={"reranker_provider": provider})

    async def start() -> None:
        async with Corpus.open(chosen, LocalSite({})) as corpus:
            with pytest.raises(InvalidInputError, match="RERANKER_API_KEY"):
                OrchestratorEngine(corpus)
            with pytest.raises(InvalidInputError, match="RERANKER_API_KEY"):
                await search_corpus(corpus, "anything")

    asyncio.run(start())


@pytest.mark.parametrize("provider", ["zeroentropy", "cohere"])
def test_a_missing_package_is_said_at_start(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, provider, None)
    with pytest.raises(InvalidInputError, match=r"pip install 'webrag\[providers\]'"):
        make_reranker(config(provider, None))


def test_local_and_none_need_nothing() -> None:
    assert isinstance(make_reranker(Settings()), LocalReranker)
    assert make_reranker(Settings(reranker_provider="none")) is None


def test_constraints_that_nothing_ranks_by_are_named() -> None:
    told = asyncio.run(rank(None, [], top_n=5, instruction="green frogs"))
    assert [warning.partition(" without")[0] for warning in told.warnings] == ["constraints change no order"]
    assert asyncio.run(rank(None, [], top_n=5, instruction=None)).warnings == []


def test_the_local_reranker_weighs_words_and_instruction() -> None:
    local = make_reranker(Settings())
    assert local is not None
    idf = {"whale": 2.0, "anim": 1.0}
    plain = asyncio.run(local.rerank("whale animal", PASSAGES, term_idf=idf))
    told = asyncio.run(local.rerank("whale animal", PASSAGES, term_idf=idf, instruction="green frogs"))
    assert plain.results[0].index == 1
    assert dict(scored(told))[2] > dict(scored(plain))[2]
    assert asyncio.run(local.rerank("whale", [], term_idf=idf)).results == []


@pytest.mark.parametrize("query", ["whale", "what is it", "кит", "!?"])
def test_the_local_reranker_scores_any_list(query: str) -> None:
    local = LocalReranker(WordLlamaEmbedder())
    for passages in (["A whale."], PASSAGES, ["", "whale"]):
        found = asyncio.run(local.rerank(query, passages, term_idf={}))
        assert sorted(index for index, _ in scored(found)) == list(range(len(passages)))
        assert all(0 <= score <= 1 for _, score in scored(found))


def test_without_weights_the_words_of_the_query_count_alike() -> None:
    found = asyncio.run(LocalReranker(WordLlamaEmbedder()).rerank("blue whale", PASSAGES, term_idf={}))
    assert scored(found)[0][0] == 1


def test_the_local_reranker_judges_by_what_retrieval_found(settings: Settings) -> None:
    async def body() -> None:
        async with Corpus.open(settings, site()) as corpus:
            for path in ("/", "/foxes"):
                await corpus.add(SITE + path)
            async with corpus.database.connection() as connection:
                scope = await source_scope(connection, None)
            model = await corpus.model_id()
            searcher = Searcher(corpus.database, corpus.embedder, model, settings)
            chunks = (await searcher.retrieve("Where does the red fox live?", scope)).chunks
        local = LocalReranker(corpus.embedder)
        plain = scored(local.judge(chunks))
        assert plain == [(i, chunk.relevance) for i, chunk in enumerate(chunks)]
        told = dict(scored(local.judge(chunks, "largest animal that has ever lived")))
        other = next(i for i, chunk in enumerate(chunks) if chunk.source_url == f"{SITE}/")
        assert told[other] > chunks[other].relevance
        assert local.judge([]).results == []
        with pytest.raises(ValueError, match="has no relevance"):
            local.judge([chunks[0].model_copy(update={"relevance": None})])

    asyncio.run(body())


# --- through the engine and the search ---


def site() -> LocalSite:
    return LocalSite(
        {
            "/": page(
                "Animals",
                "The blue whale is the largest animal that has ever lived.",
                {"/foxes": "red fox and other animals"},
            ),
            "/foxes": page("Foxes", "The red fox is a small animal of the northern hemisphere, unlike the whale."),
        }
    )


QUESTION = "How large is the blue whale compared with the red fox?"


def ask(settings: Settings, **more: Any) -> OrchestrationResult:
    async def work() -> OrchestrationResult:
        async with Corpus.open(settings, site()) as corpus:
            return await OrchestratorEngine(corpus).run(AnswerRequest((f"{SITE}/",), QUESTION, scope="run", **more))

    return asyncio.run(work())


def provided(settings: Settings, provider: str, server: Provider) -> Settings:
    own = config(provider, server.url)
    names = ("reranker_provider", "reranker_base_url", "reranker_api_key", "reranker_timeout")
    return settings.model_copy(update={name: getattr(own, name) for name in names})


def evidence(result: OrchestrationResult) -> list[tuple[str, str, float]]:
    return [(c.source_url, c.quote_sha256, round(c.relevance, 6)) for c in result.citations]


@for_each_provider
def test_a_run_takes_the_providers_scores(settings: Settings, provider: str) -> None:
    with serving(good(provider)) as server:
        result = ask(provided(settings, provider, server), constraints=("prefer facts",))
    assert result.warnings == []
    assert {c.relevance for c in result.citations} <= {0.9, 0.1}
    assert all(call.body["query"].startswith("prefer facts\n") for call in server.calls)
    assert len(server.calls) >= len(result.query_analysis.sub_queries)


@for_each_provider
def test_a_run_whose_provider_refuses_is_ranked_locally_and_says_so(
    settings: Settings, provider: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    local = ask(settings)
    refusal = Reply({"message": f"too many requests for {KEY}"}, 429, {"Retry-After": "1"})
    with serving(lambda call: refusal) as server:
        result = ask(provided(settings, provider, server))
    assert evidence(result) == evidence(local) != []
    assert result.warnings == [
        f"reranking by {provider} failed (HTTP 429 (rate limit or quota)); ranked locally instead"
    ]
    queries, rounds = len(result.query_analysis.sub_queries), len(result.rounds)
    assert len(server.calls) < queries + rounds  # after a failure it is asked one by one, and no more in that round
    assert result.warnings[0] in caplog.text
    assert KEY not in caplog.text + result.model_dump_json()


def test_all_queries_of_a_round_are_scored_by_one_reranker(settings: Settings) -> None:
    """One sub-query fails, so the scores of the others, on another scale, are not used either."""
    local = ask(settings, expansion_budget=0)
    queries = len(local.query_analysis.sub_queries)
    assert queries > 1
    with serving(lambda call: Reply({}, 503), good("jina")) as server:
        result = ask(provided(settings, "jina", server), expansion_budget=0)
    assert len(server.calls) <= queries
    assert evidence(result) == evidence(local)


def test_the_provider_is_asked_again_in_the_next_round(settings: Settings) -> None:
    with serving(good("jina"), Reply({}, 503)) as server:
        result = ask(provided(settings, "jina", server), policy="fixed-k:1")
    assert len(result.rounds) == 2
    assert len(server.calls) > 1
    assert len(result.warnings) == 1


def test_scores_on_another_scale_are_a_warning_of_the_run(settings: Settings) -> None:
    def logits(call: Call) -> Any:
        return envelope("cohere", results(*((i, 3.0 - i) for i in range(len(call.body["documents"])))))

    with serving(logits) as server:
        result = ask(provided(settings, "cohere", server), expansion_budget=0)
    assert any("instead of 0 to 1" in warning for warning in result.warnings)
    assert all(0 <= c.relevance <= 1 for c in result.citations)


@for_each_provider
def test_a_search_falls_back_likewise(settings: Settings, provider: str) -> None:
    async def work(chosen: Settings) -> CorpusSearch:
        async with Corpus.open(chosen, site()) as corpus:
            await corpus.add(f"{SITE}/")
            return await search_corpus(corpus, "blue whale")

    with serving(good(provider), Reply("<html>", content_type="text/html")) as server:
        first = asyncio.run(work(provided(settings, provider, server)))
        second = asyncio.run(work(provided(settings, provider, server)))
    assert first.warnings == [f"reranking by {provider} failed (the answer is not a ranking); ranked locally instead"]
    assert second.warnings == []
    assert second.citations[0].relevance == 0.9
    assert first.citations[0].quote_sha256 == second.citations[0].quote_sha256


def test_prose_tells_a_reranker_what_is_wanted_of_a_walk_and_of_a_search(settings: Settings) -> None:
    async def work(settings: Settings) -> None:
        async with Corpus.open(settings, site()) as corpus:
            manager = Manager(corpus)
            wanted: dict[str, Any] = {"intent": "comparison", "constraints": ("prefer facts",)}
            await manager.answer(Question(QUESTION, urls=(f"{SITE}/",), **wanted))
            await manager.answer(Question(QUESTION, **wanted))

    with serving(good("zeroentropy")) as server:
        asyncio.run(work(provided(settings, "zeroentropy", server)))
    queries = [call.body["query"] for call in server.calls]
    ranked = [query for query in queries if query.startswith("looking for a comparison; prefer facts\n")]
    assert len(ranked) > 1
