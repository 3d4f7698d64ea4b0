"""The OpenAI-compatible embedder against local servers that speak the wire format, and the traps of the SDK."""

from __future__ import annotations

import asyncio
import base64
import logging
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from tests.local_site import SITE, LocalSite, page
from tests.pauses import noted_pauses
from tests.provider_server import Call, Reply, serving, silent_url
from webrag_core.config import Settings, load_settings
from webrag_core.errors import EmbeddingError, InvalidInputError, StoreError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.terms import terms
from webrag_core.providers.embedder import (
    ModelIdentity,
    OpenAIEmbedder,
    Vectors,
    WordLlamaEmbedder,
    identity_of,
    make_embedder,
)
from webrag_core.providers.input_types import InputType
from webrag_core.retrieval.search import search_corpus

KEY = "sk-Very-Secret-0123456789"
SIZE = 4


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDKs use the proxies of the environment, also for 127.0.0.1."""
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


def vector(text: str, size: int = SIZE) -> list[float]:
    """Not of unit length; texts with the same words point the same way."""
    values = [0.01] * size
    for term in terms(text):
        values[sum(term.encode()) % size] += 3.0
    return values


def row(index: Any, embedding: Any) -> dict[str, Any]:
    return {"object": "embedding", "index": index, "embedding": embedding}


def envelope(rows: list[dict[str, Any]]) -> dict[str, Any]:
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": rows, "model": "m", "usage": usage}


def openai(call: Call) -> dict[str, Any]:
    """What a good server says."""
    size = call.body.get("dimensions", SIZE)
    return envelope([row(index, vector(text, size)) for index, text in enumerate(call.body["input"])])


def config(url: str | None, **more: Any) -> Settings:
    given = {"embedding_model": "m", "embedding_dimensions": SIZE, "embedding_timeout": 20.0, **more}
    return Settings(embedding_base_url=url, **given)


def embed(settings: Settings, texts: Sequence[str]) -> Vectors:
    async def work() -> Vectors:
        embedder = OpenAIEmbedder(settings)
        try:
            return await embedder.embed(texts)
        finally:
            await embedder.aclose()

    return asyncio.run(work())


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds waited between attempts; nobody really waits."""
    return noted_pauses(monkeypatch)


def test_what_goes_over_the_wire_and_what_comes_back() -> None:
    with serving(openai) as server:
        vectors = embed(config(f"{server.url}/v1", embedding_api_key=KEY), ["red fox", "", "blue whale"])
    assert [(call.path, call.headers["authorization"]) for call in server.calls] == [
        ("/v1/embeddings", f"Bearer {KEY}")
    ]
    assert server.calls[0].body == {
        "model": "m",
        "input": ["red fox", ".", "blue whale"],  # providers refuse empty input
        "encoding_format": "base64",
        "dimensions": SIZE,
    }
    assert vectors.dtype == np.float32
    expected = np.array([vector("red fox"), vector("."), vector("blue whale")])
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)


def test_vectors_come_as_base64_where_the_server_knows_it() -> None:
    def packed(call: Call) -> dict[str, Any]:
        rows = openai(call)["data"]
        for each in rows:
            each["embedding"] = base64.b64encode(np.array(each["embedding"], dtype="<f4").tobytes()).decode()
        return envelope(rows)

    def numbers_only(call: Call) -> Any:
        return Reply({}, 400) if call.body["encoding_format"] == "base64" else openai(call)

    texts = ["red fox", "blue whale"]
    with serving(packed) as modern, serving(numbers_only) as older:
        np.testing.assert_allclose(embed(config(modern.url), texts), embed(config(older.url), texts), rtol=1e-6)
    assert [call.body["encoding_format"] for call in modern.calls] == ["base64"]
    assert older.calls[-1].body["dimensions"] == SIZE


CONVENTIONS: dict[str, tuple[str, str, dict[str, str], dict[str, str]]] = {
    "text-embedding-3-small": ("x", "x", {}, {}),
    "intfloat/multilingual-e5-large": ("query: x", "passage: x", {}, {}),
    "BAAI/bge-base-en-v1.5": ("Represent this sentence for searching relevant passages: x", "x", {}, {}),
    "BAAI/bge-m3": ("x", "x", {}, {}),
    "nomic-embed-text:latest": ("search_query: x", "search_document: x", {}, {}),
    "Qwen/Qwen3-Embedding-0.6B": (
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:x",
        "x",
        {},
        {},
    ),
    "voyage-3.5": ("x", "x", {"input_type": "query"}, {"input_type": "document"}),
    "embed-v4.0": ("x", "x", {"input_type": "search_query"}, {"input_type": "search_document"}),
    "jina-embeddings-v3": ("x", "x", {"task": "retrieval.query"}, {"task": "retrieval.passage"}),
}


def sent(settings: Settings, input_type: InputType) -> tuple[str, dict[str, str]]:
    """Text and further fields of the request for "x"."""

    async def work(url: str) -> None:
        embedder = OpenAIEmbedder(settings.model_copy(update={"embedding_base_url": url}))
        await embedder.embed(["x"], input_type)
        await embedder.aclose()

    with serving(openai) as server:
        asyncio.run(work(server.url))
    body = server.calls[0].body
    own = {"model", "input", "encoding_format", "dimensions"}
    return body["input"][0], {name: value for name, value in body.items() if name not in own}


@pytest.mark.parametrize("model", CONVENTIONS)
def test_queries_and_documents_are_told_apart_as_the_model_wants_it(model: str) -> None:
    query, document, query_fields, document_fields = CONVENTIONS[model]
    settings = config(silent_url(), embedding_model=model)
    assert sent(settings, "query") == (query, query_fields)
    assert sent(settings, "document") == (document, document_fields)
    plain = config(silent_url(), embedding_model=model, embedding_document_prefix="", embedding_input_types="")
    as_is = document == "x" and not document_fields
    assert (identity_of(settings) == identity_of(plain)) is as_is  # vectors of other inputs are never mixed
    assert (identity_of(settings).key == identity_of(plain).key) is as_is


def test_settings_replace_what_the_name_of_a_model_implies() -> None:
    settings = config(
        None,
        embedding_model="intfloat/e5-base",
        embedding_query_prefix="Q ",
        embedding_document_prefix="",
        embedding_input_types="kind=q,d",
    )
    assert sent(settings, "query") == ("Q x", {"kind": "q"})
    assert sent(settings, "document") == ("x", {"kind": "d"})


def test_a_query_is_sent_once() -> None:
    async def work(settings: Settings) -> None:
        embedder = OpenAIEmbedder(settings)
        first = await embedder.embed(["red fox", "whale"], "query")
        again = await embedder.embed(["whale", "red fox", "frog", "whale"], "query")
        np.testing.assert_array_equal(again[[1, 0, 3]], first[[0, 1, 1]])
        await embedder.embed(["whale"], "document")
        await embedder.aclose()

    with serving(openai) as server:
        asyncio.run(work(config(server.url)))
    assert [call.body["input"] for call in server.calls] == [["red fox", "whale"], ["frog"], ["whale"]]


def test_no_texts_no_request() -> None:
    with serving(openai) as server:
        assert embed(config(server.url), []).shape == (0, SIZE)
    assert not server.calls


def test_a_local_server_needs_no_key_and_gets_none_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, f"from-{name}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "x-secret: from-OPENAI_CUSTOM_HEADERS")
    monkeypatch.setenv("OPENAI_BASE_URL", silent_url())
    with serving(openai) as server:
        embed(config(server.url), ["x"])
    assert "authorization" not in server.calls[0].headers
    assert not [value for value in server.calls[0].headers.values() if "from-OPENAI" in value]


def test_a_dated_api_gets_its_key_and_its_version_as_it_wants_them() -> None:
    with serving(openai) as server:
        address = f"{server.url}/openai/deployments/small?api-version=2024-10-21"
        embed(config(address, embedding_api_key=KEY), ["x"])
    [call] = server.calls
    assert call.path == "/openai/deployments/small/embeddings?api-version=2024-10-21"
    assert call.headers["api-key"] == KEY
    assert "authorization" not in call.headers


def test_the_first_request_with_a_key_is_announced_once_for_a_corpus(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(own: Settings) -> list[int]:
        counts = []
        for _ in range(2):
            async with Corpus.open(own, LocalSite({})) as corpus:
                await corpus.embedder.embed(["x"])
            counts.append(sum("the first request to" in record.getMessage() for record in caplog.records))
        return counts

    with serving(openai) as server:
        own = {"embedding_base_url": server.url, "embedding_model": "m", "embedding_dimensions": SIZE}
        assert asyncio.run(work(settings.model_copy(update=own))) == [
            0,
            0,
        ]  # nobody charges for a request without a key
        own["embedding_api_key"] = SecretStr(KEY)
        assert asyncio.run(work(settings.model_copy(update=own))) == [1, 1]
    assert f"{server.url} with a key, for the model m: 256 texts a request" in caplog.text
    assert KEY not in caplog.text


def test_rows_are_put_in_the_order_of_the_input() -> None:
    def shuffled(call: Call) -> dict[str, Any]:
        return envelope(openai(call)["data"][::-1])

    texts = ["red fox", "blue whale", "green tree frog"]
    with serving(shuffled) as reordered, serving(openai) as ordered:
        np.testing.assert_array_equal(embed(config(reordered.url), texts), embed(config(ordered.url), texts))


def test_batches_run_concurrently_within_the_bound_and_keep_their_order() -> None:
    texts = [f"{word} {number}" for number in range(6) for word in ("fox", "whale", "frog")]
    with serving(openai) as server, serving(openai) as whole:
        limits = {"embedding_batch_size": 4, "embedding_max_workers": 2}
        parts = embed(config(server.url, **limits), texts)
        np.testing.assert_allclose(parts, embed(config(whole.url), texts), rtol=1e-6)
    assert sorted(len(call.body["input"]) for call in server.calls) == [2, 4, 4, 4, 4]


def test_never_more_requests_at_a_time_than_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    running: list[int] = [0]
    most: list[int] = [0]

    async def ask(self: OpenAIEmbedder, texts: list[str], *_: object) -> Vectors:
        running[0] += 1
        most[0] = max(most[0], running[0])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        running[0] -= 1
        return np.ones((len(texts), SIZE), dtype=np.float32)

    monkeypatch.setattr(OpenAIEmbedder, "_ask", ask)
    embed(config(silent_url(), embedding_batch_size=1, embedding_max_workers=3), ["x"] * 20)
    assert most == [3]


GOOD = vector("x")
BAD_ANSWERS: dict[str, tuple[Any, str]] = {
    "HTML page": (Reply("<html>Welcome!</html>", content_type="text/html"), "not one of an embeddings endpoint"),
    "HTML called JSON": (Reply("<html>Welcome!</html>"), "not one of an embeddings endpoint"),
    "nothing": (Reply(""), "not one of an embeddings endpoint"),
    "list": ([], "not one of an embeddings endpoint"),
    "null": (None, "not one of an embeddings endpoint"),
    "number": (7, "not one of an embeddings endpoint"),
    "empty object": ({}, "not one of an embeddings endpoint"),
    "error with 200": ({"error": {"message": f"bad key {KEY}"}}, "not one of an embeddings endpoint"),
    "empty data": (envelope([]), "not one of an embeddings endpoint"),
    "data is a text": ({"data": "rows"}, "not one of an embeddings endpoint"),
    "row is a number": ({"data": [1, 2]}, "not numbered|shape"),
    "extra row": (envelope([row(0, GOOD), row(1, GOOD), row(2, GOOD)]), "3 rows for 2 texts"),
    "index twice": (envelope([row(0, GOOD), row(0, GOOD)]), "not numbered"),
    "index out of range": (envelope([row(1, GOOD), row(2, GOOD)]), "not numbered"),
    "index is a text": (envelope([row("0", GOOD), row("1", GOOD)]), "not numbered"),
    "no embedding": (envelope([{"index": 0}, {"index": 1}]), "shape|list of numbers"),
    "wrong dimension": (envelope([row(0, [1.0] * 3), row(1, [1.0] * 3)]), r"shape \(2, 3\), expected \(2, 4\)"),
    "ragged": (envelope([row(0, GOOD), row(1, [1.0] * 3)]), "different lengths"),
    "nested": (envelope([row(0, [GOOD]), row(1, [GOOD])]), "shape"),
    "other base64": (envelope([row(0, "AACAPwAAAAA="), row(1, "AACAPwAAAAA=")]), r"shape \(2, 2\)"),
    "not base64": (envelope([row(0, "?"), row(1, "?")]), "list of numbers"),
    "words": (envelope([row(0, ["a"] * 4), row(1, ["a"] * 4)]), "list of numbers"),
    "NaN": (envelope([row(0, GOOD), row(1, [float("nan"), 0, 0, 0])]), "not finite"),
    "null in a row": (envelope([row(0, GOOD), row(1, [None, 0, 0, 0])]), "not finite"),
    "infinite": (envelope([row(0, GOOD), row(1, [float("inf"), 0, 0, 0])]), "not finite"),
    "too large for a float": (envelope([row(0, GOOD), row(1, [1e300, 0, 0, 0])]), "not finite"),
    "zero vector": (envelope([row(0, GOOD), row(1, [0, 0, 0, 0])]), "zero vector"),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_an_answer_that_is_never_what_was_asked_for_is_an_error_after_the_plainest_form_and_a_plain_text(
    name: str,
) -> None:
    answer, message = BAD_ANSWERS[name]
    with serving(lambda call: answer) as server, pytest.raises(EmbeddingError, match=message) as caught:
        embed(config(server.url, embedding_api_key=KEY), ["a", "b"])
    assert len(server.calls) <= 6
    assert not {("text",), ("a", "b")} - {tuple(call.body["input"]) for call in server.calls}
    assert KEY not in caught.value.message


def test_huge_and_tiny_vectors_are_normalised_without_overflow() -> None:
    rows = envelope([row(0, [1e30, 1e30, 0, 0]), row(1, [1e-30, 0, 0, 0])])
    with serving(lambda call: rows) as server:
        vectors = embed(config(server.url), ["a", "b"])
    np.testing.assert_allclose(vectors, [[0.5**0.5, 0.5**0.5, 0, 0], [1, 0, 0, 0]], rtol=1e-6)


def test_a_rate_limit_is_waited_out_as_long_as_the_server_says(pauses: list[float]) -> None:
    limited = Reply({"error": {"message": "slow down"}}, 429, {"Retry-After": "3"})
    with serving(openai, limited, limited) as server:
        assert embed(config(server.url), ["x"]).shape == (1, SIZE)
    assert pauses == pytest.approx([3.0, 3.0], abs=0.5)
    assert len(server.calls) == 3  # the SDK's own retries are off


def test_a_wait_that_exceeds_the_budget_fails_at_once(pauses: list[float]) -> None:
    limited = Reply({}, 429, {"Retry-After": "600"})
    with serving(openai, limited) as server, pytest.raises(EmbeddingError, match=r"429.*600 s exceeds"):
        embed(config(server.url), ["x"])
    assert not pauses
    assert len(server.calls) == 1


def test_what_the_server_asks_to_wait_comes_on_top_of_the_budget_for_documents_only(pauses: list[float]) -> None:
    async def query(settings: Settings) -> None:
        embedder = OpenAIEmbedder(settings)
        with pytest.raises(EmbeddingError, match="45 s exceeds"):
            await embedder.embed(["x"], "query")
        await embedder.aclose()

    limited = Reply({}, 429, {"Retry-After": "45"})
    with serving(openai, limited, limited) as server:
        assert embed(config(server.url), ["x"]).shape == (1, SIZE)
        assert pauses == pytest.approx([45.0, 45.0], abs=0.5)
    with serving(openai, limited) as server:
        asyncio.run(query(config(server.url)))
    assert pauses == pytest.approx([45.0, 45.0], abs=0.5)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_passing_failures_are_tried_again(status: int, pauses: list[float]) -> None:
    with serving(openai, Reply("oops", status), Reply({}, status)) as server:
        assert embed(config(server.url), ["x"]).shape == (1, SIZE)
    assert len(server.calls) == 3
    assert pauses[1] > pauses[0] > 0


def test_lasting_failures_end_after_four_attempts(pauses: list[float]) -> None:
    with serving(lambda call: Reply({}, 500)) as server, pytest.raises(EmbeddingError, match="HTTP 500"):
        embed(config(server.url), ["x"])
    retried = [call.body for call in server.calls if call.body["input"] == ["x"]]
    assert [body["encoding_format"] for body in retried] == ["base64"] * 4 + ["float"]
    assert len(server.calls) == 7  # whether it takes any text, once in both forms
    assert len(pauses) == 3


def test_an_endpoint_nobody_listens_on(pauses: list[float]) -> None:
    with pytest.raises(EmbeddingError, match="cannot be reached"):
        embed(config(silent_url()), ["x"])
    assert len(pauses) == 3


@pytest.mark.parametrize(
    ("status", "hint"), [(401, "EMBEDDING_API_KEY"), (403, "EMBEDDING_API_KEY"), (404, "EMBEDDING_BASE_URL")]
)
def test_refusals_are_not_tried_again_and_say_what_to_check(status: int, hint: str, pauses: list[float]) -> None:
    with serving(lambda call: Reply({}, status)) as server, pytest.raises(EmbeddingError, match=hint):
        embed(config(server.url), ["x"])
    assert len(server.calls) == (2 if status == 404 else 1)  # some servers say 404 to an option


def test_a_reply_slower_than_the_budget() -> None:
    with (
        serving(lambda call: Reply({}, hold=True)) as server,
        pytest.raises(EmbeddingError, match=r"no answer within 0\.3 s"),
    ):
        embed(config(server.url, embedding_timeout=0.3), ["x"])


@pytest.mark.parametrize("status", [400, 422])
def test_models_that_refuse_to_be_asked_for_a_length_are_asked_without_it_from_then_on(status: int) -> None:
    def one_length_only(call: Call) -> Any:
        return Reply({}, status) if "dimensions" in call.body else openai(call)

    async def twice(settings: Settings) -> None:
        embedder = OpenAIEmbedder(settings)
        await embedder.embed(["x"])
        await embedder.embed(["y"])
        await embedder.aclose()

    with serving(one_length_only) as server:
        asyncio.run(twice(config(server.url)))
    assert ["dimensions" in call.body for call in server.calls] == [True, False, False]


def test_a_request_that_is_bad_either_way_is_an_error() -> None:
    with serving(lambda call: Reply({}, 400)) as server, pytest.raises(EmbeddingError, match=r"400 .*EMBEDDING_MODEL"):
        embed(config(server.url), ["x"])
    assert len(server.calls) == 8  # in base64 and as numbers, with a length and without; any text too


def test_one_failing_batch_fails_the_whole_call() -> None:
    def picky(call: Call) -> Any:
        return Reply({}, 401) if "bad" in call.body["input"] else openai(call)

    with serving(picky) as server, pytest.raises(EmbeddingError, match="401"):
        embed(config(server.url, embedding_batch_size=1), ["good", "bad", "bad", "good"])


@pytest.mark.parametrize("status", [200, 401, 429])
def test_the_key_is_in_no_message_no_traceback_and_no_log(
    status: int, pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = Reply({"error": {"message": f"Incorrect API key provided: {KEY}", "code": KEY}}, status)
    settings = config(None, embedding_api_key=KEY)
    with serving(lambda call: echo) as server, pytest.raises(EmbeddingError) as caught:
        embed(settings.model_copy(update={"embedding_base_url": server.url}), ["x"])
    assert server.calls[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None
    assert KEY not in caplog.text
    assert KEY not in repr(settings) + str(settings.model_dump())


# --- which embedder the settings choose ---


def test_without_key_and_url_everything_stays_offline() -> None:
    assert isinstance(make_embedder(Settings()), WordLlamaEmbedder)


def test_a_blank_variable_is_an_unset_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_API_KEY", "  ")
    monkeypatch.setenv("EMBEDDING_BASE_URL", "")
    assert isinstance(make_embedder(load_settings()), WordLlamaEmbedder)


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ({"embedding_api_key": f"{KEY}\n"}, "https://api.openai.com/v1"),
        ({"embedding_base_url": "http://127.0.0.1:9/v1/"}, "http://127.0.0.1:9/v1"),
    ],
)
def test_a_key_or_a_url_chooses_the_endpoint(given: dict[str, str], url: str) -> None:
    embedder = make_embedder(Settings(**given))
    assert isinstance(embedder, OpenAIEmbedder)
    assert embedder.identity == ModelIdentity("openai-compatible", "text-embedding-3-small", 1536, "l2")
    assert str(embedder._client().base_url).rstrip("/") == url


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EMBEDDING_BASE_URL", f"http://user:{KEY}@host/v1"),
        ("EMBEDDING_BASE_URL", f"http://host/v1?key={KEY}"),
        ("EMBEDDING_BASE_URL", f"http://host/v1?api-version=1&key={KEY}"),
        ("EMBEDDING_BASE_URL", f"ftp://{KEY}"),
        ("EMBEDDING_BASE_URL", f"http://host:{KEY}/"),
        ("EMBEDDING_API_KEY", f"“{KEY}”"),
        ("EMBEDDING_API_KEY", f"{KEY} {KEY}"),
        ("EMBEDDING_DIMENSIONS", "4001"),
        ("EMBEDDING_INPUT_TYPES", "input_type=query"),
        ("EMBEDDING_MAX_WORKERS", "0"),
        ("EMBEDDING_TIMEOUT", "0"),
    ],
)
def test_unusable_settings_are_refused_by_name_and_never_shown(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(InvalidInputError, match=name) as caught:
        load_settings()
    assert KEY not in caught.value.message


def test_a_missing_package_is_said_at_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(InvalidInputError, match=r"pip install 'webrag\[providers\]'"):
        make_embedder(Settings(embedding_api_key=KEY))


# --- end to end ---


def test_pages_are_indexed_and_found_with_a_remote_model_and_never_mixed_with_another(settings: Settings) -> None:
    site = LocalSite(
        {
            "/whales": page("Whales", "The blue whale is the largest animal that has ever lived on Earth."),
            "/foxes": page("Foxes", "The red fox lives across the entire northern hemisphere."),
        }
    )

    async def work(remote: Settings) -> None:
        async with Corpus.open(remote, site) as corpus:
            added = [await corpus.add(f"{SITE}{path}") for path in site.pages]
            assert all(document.embedded > 0 for document in added)
            found = await search_corpus(corpus, "largest animal blue whale")
            assert found.citations[0].source_url == f"{SITE}/whales"
            assert "blue whale" in found.citations[0].verbatim_text
            assert found.warnings == []
        async with Corpus.open(settings, site) as corpus:
            with pytest.raises(StoreError, match="indexed with m"):
                await corpus.add(f"{SITE}/whales")

    with serving(openai) as server:
        own = {"embedding_base_url": server.url, "embedding_model": "m", "embedding_dimensions": 64}
        asyncio.run(work(settings.model_copy(update=own)))
    sent = [text for call in server.calls for text in call.body["input"]]
    assert "largest animal blue whale" in sent
    assert sum("northern hemisphere" in text for text in sent) == 1  # reranking sends no passage anywhere
