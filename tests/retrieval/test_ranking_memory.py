"""What is sent to a paid reranker: each pair of query and passage once, the queries of a call at the same time."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.local_site import SITE, LocalSite, page
from tests.provider_server import Call, Reply, serving
from webrag_core.config import Settings
from webrag_core.errors import RerankError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.models import OrchestrationResult
from webrag_core.providers.rerankers.memory import RankingMemory, RememberingReranker
from webrag_core.providers.rerankers.protocol import Reranked, RerankResult
from webrag_core.retrieval.search import search_corpus

QUESTION = "How do I rotate the signing keys, and how long do old keys stay valid, and who may audit the vault?"
PAGES = {
    "/": page(
        "Vault", "The vault keeps signing keys.", {"/rotate": "rotate signing keys", "/audit": "audit the vault"}
    ),
    "/rotate": page("Rotate", "Rotate the signing keys with the command.", {"/valid": "how long old keys stay valid"}),
    "/valid": page("Validity", "Old keys stay valid for two days."),
    "/audit": page("Audit", "Administrators may audit the vault."),
}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


class Counting:
    """A reranker that scores a passage by its number and keeps what it was sent; above 1 where it gives logits."""

    name = "counting"

    def __init__(self, scale: float = 0.01) -> None:
        self.sent: list[tuple[str, str | None, str]] = []
        self.scale = scale

    async def rerank(self, query: str, passages: Any, *, term_idf: Any, instruction: str | None = None) -> Reranked:
        self.sent += [(query, instruction, text) for text in passages]
        rows = [RerankResult(index=at, relevance_score=int(text) * self.scale) for at, text in enumerate(passages)]
        return Reranked(sorted(rows, key=lambda row: -row.relevance_score))


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["rotate", "audit"]),
            st.sampled_from([None, "official pages"]),
            st.lists(st.integers(0, 9), max_size=6),
        ),
        max_size=8,
    )
)
def test_each_pair_is_sent_once_and_the_ranking_is_that_of_the_provider(
    calls: list[tuple[str, str | None, list[int]]],
) -> None:
    inner = Counting()
    reranker = RememberingReranker(inner, RankingMemory())
    for query, instruction, numbers in calls:
        passages = [str(number) for number in numbers]
        asked = reranker.rerank(query, passages, term_idf={}, instruction=instruction)
        fresh = Counting().rerank(query, passages, term_idf={}, instruction=instruction)
        assert asyncio.run(asked).results == asyncio.run(fresh).results
    assert len(inner.sent) == len(set(inner.sent))


def test_scores_of_two_scales_are_not_mixed() -> None:
    """The second request shows that the provider gives logits; the first looked like probabilities."""

    class Logits(Counting):
        async def rerank(self, query: str, passages: Any, *, term_idf: Any, instruction: str | None = None) -> Reranked:
            rows = [RerankResult(index=at, relevance_score=0.9) for at, _ in enumerate(passages)]
            return Reranked(rows, squashed="9" in passages)

    memory = RankingMemory()
    reranker = RememberingReranker(Logits(), memory)
    first = asyncio.run(reranker.rerank("q", ["1"], term_idf={}))
    assert (first.results[0].relevance_score, first.squashed) == (0.9, False)
    both = asyncio.run(reranker.rerank("q", ["1", "9"], term_idf={}))
    assert [(row.index, round(row.relevance_score, 3)) for row in both.results] == [(1, 0.9), (0, 0.711)]


def test_a_failure_is_not_remembered() -> None:
    class Failing(Counting):
        async def rerank(self, query: str, passages: Any, *, term_idf: Any, instruction: str | None = None) -> Reranked:
            if not self.sent:
                self.sent.append((query, instruction, ""))
                raise RerankError(self.name, "down")
            return await Counting.rerank(self, query, passages, term_idf=term_idf, instruction=instruction)

    reranker = RememberingReranker(Failing(), RankingMemory())
    with pytest.raises(RerankError):
        asyncio.run(reranker.rerank("q", ["1"], term_idf={}))
    assert asyncio.run(reranker.rerank("q", ["1"], term_idf={})).results


def by_words(call: Call) -> Any:
    words = set(call.body["query"].lower().replace(",", "").replace("?", "").split())
    shares = [len(words & set(text.lower().split())) / len(words) for text in call.body["documents"]]
    return {"results": [{"index": at, "relevance_score": share} for at, share in enumerate(shares)]}


def ask(settings: Settings, url: str, times: int = 1, **more: Any) -> list[OrchestrationResult]:
    own = Settings.model_validate(
        settings.model_dump() | {"reranker_provider": "jina", "reranker_base_url": url, "reranker_timeout": 5.0} | more
    )

    async def work() -> list[OrchestrationResult]:
        async with Corpus.open(own, LocalSite(PAGES)) as corpus:
            request = AnswerRequest((f"{SITE}/",), QUESTION, policy="fixed-k:2")
            results = [await OrchestratorEngine(corpus).run(request) for _ in range(times)]
            await search_corpus(corpus, QUESTION)
            return results

    return asyncio.run(work())


def pairs(calls: list[Call]) -> list[tuple[str, str]]:
    return [(call.body["query"], text) for call in calls for text in call.body["documents"]]


def test_a_run_of_several_rounds_pays_for_each_pair_once(settings: Settings) -> None:
    with serving(by_words) as server:
        results = ask(settings, server.url, times=2)
    assert len(results[0].rounds) > 2
    sent = pairs(server.calls)
    assert len({query for query, _ in sent}) >= 3
    assert len(sent) == len(set(sent)) > 8


def test_the_parts_of_a_question_are_ranked_at_the_same_time(settings: Settings) -> None:
    together = threading.Barrier(3)

    def wait(call: Call) -> Any:
        together.wait(timeout=60)  # broken, and so an error, unless three requests are under way
        return by_words(call)

    with serving(by_words, wait, wait, wait) as server:
        [result] = ask(settings, server.url)
    assert not together.broken
    assert not any("failed" in warning for warning in result.warnings)


def test_a_full_context_is_ranked_by_its_best_passages(settings: Settings) -> None:
    sections = (f"<h2>Keys {n}</h2><p>{''.join(f'Signing keys {n}-{k}. ' for k in range(90))}</p>" for n in range(6))
    pages = {"/": page("Keys", "".join(sections))}
    own = Settings.model_validate(
        settings.model_dump()
        | {"reranker_provider": "jina", "reranker_timeout": 5.0, "reranker_top_n": 2, "parent_max_tokens": 300}
    )

    async def work(url: str) -> OrchestrationResult:
        configured = own.model_copy(update={"reranker_base_url": url})
        async with Corpus.open(configured, LocalSite(pages)) as corpus:
            request = AnswerRequest((f"{SITE}/",), "signing keys", expansion_budget=0, mode="full_context")
            return await OrchestratorEngine(corpus).run(request)

    with serving(by_words) as server:
        result = asyncio.run(work(server.url))
    assert result.mode == "full_context"
    assert [len(call.body["documents"]) for call in server.calls] == [2]
    assert len(result.chunks) == result.corpus_stats.total_parent_chunks > 4


def test_queries_of_a_round_are_embedded_by_one_request(settings: Settings) -> None:
    def embeddings(call: Call) -> Any:
        rows = [{"object": "embedding", "index": at, "embedding": [1.0] * 8} for at, _ in enumerate(call.body["input"])]
        return {"object": "list", "data": rows, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}

    with serving(embeddings) as model, serving(Reply({}, 500)) as server:
        ask(settings, server.url, embedding_base_url=model.url, embedding_model="m", embedding_dimensions=8)
    inputs = [call.body["input"] for call in model.calls]
    queries = [texts for texts in inputs if any("rotate the signing keys, and" in text for text in texts)]
    assert len(queries) == 1
    assert len(queries[0]) >= 3
