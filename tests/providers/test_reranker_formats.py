"""Rankings in the formats of servers that imitate a provider, and servers that take fewer or shorter passages."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from tests.provider_server import Call, Reply, serving
from tests.retrieval.test_rerankers import PROVIDERS, config, envelope, rerank, scored
from webrag_core.errors import RerankError

Rows = Callable[[list[str]], Any]
PASSAGES = [f"passage {number}" for number in range(21)]

for_each_provider = pytest.mark.parametrize("provider", PROVIDERS)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "*")


def score(passage: str) -> float:
    """Higher for a higher number."""
    return int(passage.split()[1]) / 100


def rows(passages: list[str], name: str = "relevance_score") -> list[dict[str, Any]]:
    return [{"index": place, name: score(passage)} for place, passage in enumerate(passages)]


FORMATS: dict[str, Callable[[str, list[str]], Any]] = {
    "score": lambda provider, passages: envelope(provider, rows(passages, "score")),
    "a bare list": lambda provider, passages: rows(passages, "score"),
    "data": lambda provider, passages: {"data": rows(passages)},
    "texts": lambda provider, passages: envelope(
        provider,
        [{"index": str(row["index"]), "relevance_score": str(row["relevance_score"])} for row in rows(passages)],
    ),
    "decimals": lambda provider, passages: envelope(
        provider, [{**row, "index": float(row["index"])} for row in rows(passages)]
    ),
}


@pytest.mark.parametrize(
    ("provider", "name"),
    sorted({*product(PROVIDERS, FORMATS)} - {("cohere", "a bare list")}),  # its SDK takes no list
)
def test_a_ranking_is_read_in_every_format(provider: str, name: str) -> None:
    with serving(lambda call: FORMATS[name](provider, call.body["documents"])) as server:
        reranked = rerank(config(provider, server.url), passages=PASSAGES)
    assert [index for index, _ in scored(reranked)] == list(range(20, -1, -1))
    assert scored(reranked)[0][1] == pytest.approx(0.2)
    assert reranked.warnings == ()


@for_each_provider
def test_what_a_server_of_the_ten_best_leaves_out_is_asked_for(provider: str) -> None:
    def ten_best(call: Call) -> Any:
        best = sorted(rows(call.body["documents"]), key=lambda row: -row["relevance_score"])[:10]
        return envelope(provider, best)

    with serving(ten_best) as server:
        reranked = rerank(config(provider, server.url), passages=PASSAGES)
    assert [index for index, _ in scored(reranked)] == list(range(20, -1, -1))
    assert [len(call.body["documents"]) for call in server.calls] == [21, 11, 1]


@pytest.mark.parametrize("provider", ["jina", "cohere"])
@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_passages_that_are_too_long_are_cut_and_too_many_are_divided(provider: str, status: int) -> None:
    passages = [*PASSAGES[:4], "passage 50 " + "long " * 500, *PASSAGES[5:9]]

    def small(call: Call) -> Any:
        documents = call.body["documents"]
        if len(documents) > 4 or any(len(document) > 1_500 for document in documents):
            return Reply({}, status)
        return envelope(provider, rows([text if " " in text else "passage 0" for text in documents]))

    with serving(small) as server:
        reranked = rerank(config(provider, server.url), passages=passages)
    assert [index for index, _ in scored(reranked)] == [4, 8, 7, 6, 5, 3, 2, 1, 0]
    assert reranked.warnings == ()


def test_a_passage_that_is_refused_is_ranked_last_and_said() -> None:
    def picky(call: Call) -> Any:
        refused = any(document.startswith("passage 3") for document in call.body["documents"])
        if refused or any(document.startswith("pa") and len(document) < 9 for document in call.body["documents"]):
            return Reply({}, 400)
        return envelope("jina", rows([text if " " in text else "passage 0" for text in call.body["documents"]]))

    with serving(picky) as server:
        reranked = rerank(config("jina", server.url), passages=PASSAGES[:8])
    assert [index for index, _ in scored(reranked)] == [7, 6, 5, 4, 2, 1, 0, 3]
    assert reranked.warnings == ("jina scored 7 of 8 passages; the others are ranked last",)


@for_each_provider
def test_scores_that_are_all_zero_are_no_order_and_said(provider: str) -> None:
    def nothing(call: Call) -> Any:
        return envelope(provider, [{**row, "relevance_score": 0} for row in rows(call.body["documents"])])

    with serving(nothing) as server:
        assert rerank(config(provider, server.url), passages=PASSAGES).warnings == (
            f"{provider} scored every passage 0, which is no order",
        )


@pytest.mark.parametrize("number", ["1" + "0" * 400, "1e999", "-1e999"])
def test_a_number_of_any_size_is_data(number: str) -> None:
    body = json.dumps(envelope("jina", [{"index": 0, "relevance_score": 77}])).replace("77", number)
    with serving(Reply(body)) as server, pytest.raises(RerankError, match=r"no finite score|not a ranking"):
        rerank(config("jina", server.url), passages=["passage 1"])
