"""Embedding endpoints that take fewer texts, other texts or other forms of a request than they are sent."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.pauses import noted_pauses
from tests.provider_server import Call, Provider, Reply, serving
from webrag_core.config import Settings
from webrag_core.errors import EmbeddingError
from webrag_core.providers.embedder import OpenAIEmbedder, RefusedTextsError, Vectors

SIZE = 4
Server = Callable[[Call], Any]


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds waited between attempts; nobody really waits."""
    return noted_pauses(monkeypatch)


def direction(text: str) -> list[float]:
    """Of unit length, and another one for each number in the text."""
    angle = sum(map(ord, text))
    return [math.cos(angle), math.sin(angle), 0.0, 0.0]


def answer(call: Call) -> dict[str, Any]:
    rows = [{"index": at, "embedding": direction(text)} for at, text in enumerate(call.body["input"])]
    return {"data": rows, "model": "m", "usage": {"prompt_tokens": len(rows), "total_tokens": len(rows)}}


def at_most(count: int, status: int) -> Server:
    return lambda call: Reply({}, status) if len(call.body["input"]) > count else answer(call)


def refusing(word: str, reply: Reply) -> Server:
    return lambda call: reply if any(word in text for text in call.body["input"]) else answer(call)


def no_longer_than(characters: int, status: int) -> Server:
    return lambda call: (
        Reply({}, status) if any(len(text) > characters for text in call.body["input"]) else answer(call)
    )


def embedder(server: Provider, **more: Any) -> OpenAIEmbedder:
    given = {"embedding_model": "m", "embedding_dimensions": SIZE, "embedding_timeout": 20.0, **more}
    return OpenAIEmbedder(Settings(embedding_base_url=server.url, **given))


def embed(server: Provider, *portions: Sequence[str], **more: Any) -> list[Vectors | RefusedTextsError]:
    """The vectors of each portion of texts, by one embedder."""

    async def work() -> list[Vectors | RefusedTextsError]:
        model = embedder(server, **more)
        results: list[Vectors | RefusedTextsError] = []
        for texts in portions:
            try:
                results.append(await model.embed(texts))
            except RefusedTextsError as error:
                results.append(error)
        await model.aclose()
        return results

    return asyncio.run(work())


def same(found: object, of: Sequence[str]) -> None:
    """The vectors are those of the texts."""
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, expected(of), atol=1e-6)


def expected(texts: Sequence[str]) -> Vectors:
    return np.array([direction(text) for text in texts], dtype=np.float32)


@pytest.mark.parametrize(("most", "status"), [(1, 400), (10, 400), (10, 500), (32, 413), (32, 422), (64, 413)])
def test_a_server_that_takes_fewer_texts_gets_fewer_and_the_number_is_remembered(
    most: int, status: int, pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    texts = [f"first {number}" for number in range(2 * most + 5)]
    others = [f"second {number}" for number in range(2 * most + 5)]
    with serving(at_most(most, status)) as server:
        vectors = embed(server, texts, others)
    for found, of in zip(vectors, (texts, others), strict=True):
        same(found, of)
    again = [len(call.body["input"]) for call in server.calls if call.body["input"][0].startswith("second")]
    assert max(again) <= most  # the second time nothing is tried out
    assert f"takes {max(again)} texts in a request" in caplog.text


POISON = {
    "400": Reply({}, 400),
    "413": Reply({}, 413),
    "500": Reply({"error": "NaN"}, 500),
    "null": Reply({"data": None}),
    "not finite": Reply({"data": [{"index": 0, "embedding": [float("nan")] * SIZE}]}),
}


@pytest.mark.parametrize("name", POISON)
def test_a_text_that_is_refused_costs_itself_alone(name: str, pauses: list[float]) -> None:
    texts = ["red", "green", "pppp", "blue", "yellow", "black", "grey"]
    with serving(refusing("p", POISON[name])) as server:
        [error] = embed(server, texts)
    assert isinstance(error, RefusedTextsError)
    assert list(error.refused) == [2]
    good = [place for place in range(len(texts)) if place != 2]
    np.testing.assert_allclose(error.vectors[good], expected(texts)[good], atol=1e-6)
    assert not error.vectors[2].any()
    assert len(server.calls) < 40


def test_two_refused_texts_in_several_batches_are_found_at_their_places(pauses: list[float]) -> None:
    texts = [f"text {number}" for number in range(20)]
    texts[3] = texts[17] = "pppp"
    with serving(refusing("p", Reply({}, 400))) as server:
        [error] = embed(server, texts, embedding_batch_size=8)
    assert isinstance(error, RefusedTextsError)
    assert sorted(error.refused) == [3, 17]


@pytest.mark.parametrize("status", [400, 413, 500])
def test_of_a_text_that_is_too_long_the_beginning_is_embedded(
    status: int, pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    texts = ["short", "long " * 100, "also short"]
    with serving(no_longer_than(300, status)) as server:
        [vectors] = embed(server, texts)
    sent = max((text for call in server.calls for text in call.body["input"] if len(text) <= 300), key=len)
    same(vectors, [texts[0], sent, texts[2]])
    assert texts[1].startswith(sent)
    assert "50 % of a text were embedded" in caplog.text


def test_an_endpoint_that_takes_no_text_at_all_is_not_asked_for_each(pauses: list[float]) -> None:
    texts = [f"text {number}" for number in range(64)]
    with serving(lambda call: Reply({}, 500)) as server, pytest.raises(EmbeddingError, match="HTTP 500") as caught:
        embed(server, texts)
    assert not isinstance(caught.value, RefusedTextsError)
    assert caught.value.transient
    assert len(server.calls) == 7


@pytest.mark.parametrize("status", [401, 402, 403, 429, 503])
def test_keys_and_limits_are_nothing_to_divide_for(status: int, pauses: list[float]) -> None:
    reply = Reply({}, status, {"Retry-After": "9999"})
    with serving(lambda call: reply) as server, pytest.raises(EmbeddingError, match=str(status)):
        embed(server, ["a", "b", "c"])
    assert len(server.calls) == 1


def test_three_queries_reach_a_server_that_takes_a_single_text(pauses: list[float]) -> None:
    async def work(server: Provider) -> Vectors:
        model = embedder(server)
        try:
            return await model.embed(["a", "b", "c"], "query")
        finally:
            await model.aclose()

    with serving(at_most(1, 422)) as server:
        same(asyncio.run(work(server)), ["a", "b", "c"])


# --- forms of a request ---

NO_VECTOR: dict[str, Any] = {
    "500": Reply({}, 500),
    "501": Reply({}, 501),
    "404": Reply({}, 404),
    "415": Reply({}, 415),
    "null": {"data": [{"index": 0, "embedding": None}]},
    "empty text": {"data": [{"index": 0, "embedding": ""}]},
    "empty list": {"data": [{"index": 0, "embedding": []}]},
    "no data": {"data": []},
    "an error with 200": {"error": {"message": "no base64"}},
    "HTML": Reply("<html>", content_type="text/html"),
}


@pytest.mark.parametrize("name", NO_VECTOR)
@pytest.mark.parametrize("option", ["base64", "dimensions"])
def test_an_option_that_spoils_the_answer_is_left_out_from_then_on(option: str, name: str, pauses: list[float]) -> None:
    def spoilt(call: Call) -> Any:
        asked = call.body["encoding_format"] == option or option in call.body
        return NO_VECTOR[name] if asked else answer(call)

    with serving(spoilt) as server:
        for vectors in embed(server, ["red"], ["green"]):
            assert not isinstance(vectors, RefusedTextsError)
        assert [call.body["input"] for call in server.calls].count(["green"]) == 1


def test_a_model_that_needs_the_length_and_knows_no_base64(pauses: list[float]) -> None:
    def server_of_many_lengths(call: Call) -> Any:
        if call.body["encoding_format"] == "base64":
            return {"data": [{"index": 0, "embedding": None}]}
        rows = answer(call)["data"]
        if "dimensions" not in call.body:
            rows[0]["embedding"] = [1.0] * (2 * SIZE)
        return {"data": rows}

    with serving(server_of_many_lengths) as server:
        first, second = embed(server, ["red"], ["green"])
    same(first, ["red"])
    same(second, ["green"])
    assert len(server.calls) <= 5


def test_rows_without_numbers_are_in_order_where_there_are_as_many_as_texts() -> None:
    def plain(call: Call) -> Any:
        return {"data": [{"embedding": direction(text)} for text in call.body["input"]]}

    with serving(plain) as server:
        same(embed(server, ["a", "b"])[0], ["a", "b"])


def test_a_server_that_answers_one_vector_whatever_it_is_sent() -> None:
    def first_only(call: Call) -> Any:
        return {"data": answer(call)["data"][:1]}

    with serving(first_only) as server:
        same(embed(server, ["a", "b", "c"])[0], ["a", "b", "c"])


def test_numbers_of_any_size_are_data() -> None:
    huge = '{"data": [{"index": 0, "embedding": [1' + "0" * 400 + ", 0, 0, 0]}]}"
    with serving(Reply(huge)) as server, pytest.raises(EmbeddingError, match=r"list of numbers|not finite|not one of"):
        embed(server, ["a"])


# --- limits of requests ---


@pytest.mark.parametrize("status", [429, pytest.param(503, marks=pytest.mark.slow)])
@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 4])
def test_a_server_that_turns_eight_of_nine_requests_away_gets_all_texts(
    workers: int, status: int, pauses: list[float]
) -> None:
    calls = 0

    def limited(call: Call) -> Any:
        nonlocal calls
        calls += 1
        return answer(call) if calls % 9 == 0 else Reply({}, status)

    texts = [f"text {number}" for number in range(24)]
    with serving(limited) as server:
        more = {"embedding_batch_size": 4, "embedding_max_workers": workers, "embedding_max_wait": 600.0}
        [vectors] = embed(server, texts, **more)
    same(vectors, texts)


def test_a_limit_that_never_ends_is_given_up_after_the_wait_of_the_settings(pauses: list[float]) -> None:
    with serving(lambda call: Reply({}, 429)) as server, pytest.raises(EmbeddingError, match="429") as caught:
        embed(server, ["a"], embedding_max_wait=60.0)
    assert caught.value.transient
    assert 30 < sum(pauses) < 60 + 4 * 36  # nobody really waits: the last attempts fit into EMBEDDING_TIMEOUT too
    assert all(later > 1.2 * earlier for earlier, later in itertools.pairwise(pauses[:5]))


def test_a_wait_that_is_named_too_short_again_and_again_grows(pauses: list[float]) -> None:
    limited = Reply({}, 503, {"Retry-After": "0"})
    with serving(lambda call: limited) as server, pytest.raises(EmbeddingError, match="503"):
        embed(server, ["a"], embedding_max_wait=60.0)
    assert len(server.calls) < 20
    assert sum(pauses) > 30


def test_all_requests_wait_for_one_pause_and_follow_the_first_after_it(pauses: list[float]) -> None:
    seen: list[int] = []

    def limited(call: Call) -> Any:
        seen.append(len(seen))
        return Reply({}, 429, {"Retry-After": "7"}) if len(seen) == 1 else answer(call)

    with serving(limited) as server:
        embed(server, *[[f"text {number}" for number in range(6)]], embedding_batch_size=1, embedding_max_workers=1)
    assert pauses == pytest.approx([7.0], abs=0.5)
