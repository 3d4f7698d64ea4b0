"""Traces as an operator meets them: the installed server and commands, an SDK's spans, no OpenTelemetry at all."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from mcp import Client
from mcp.client.stdio import stdio_client

from tests.command_line import Webrag, webrag, webrag_here
from tests.conftest import FROZEN_SITE
from tests.local_site import page
from tests.mcp_server.clients import stdio
from tests.provider_server import Call, Reply, serving

pytestmark = [pytest.mark.alone, pytest.mark.slow]

__all__ = ["webrag", "webrag_here"]

IDS = ("4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c")
QUEUES = "https://docs.python.org/3.11/library/asyncio-queue.html"
QUESTIONS = ("At how many degrees is green tea brewed?", "How hot is the water for green tea?")


def parent_of(trace_id: str) -> str:
    return f"00-{trace_id}-00f067aa0ba902b7-01"


def tea(call: Call) -> Reply:
    """One page about tea; everything else is missing."""
    if call.path == "/":
        return Reply(page("Green tea", "Green tea is brewed at eighty degrees."), content_type="text/html")
    return Reply("not here", status=404, content_type="text/plain")


def embeddings(call: Call) -> dict[str, Any]:
    """Some vector for every text."""
    rows = [
        {"object": "embedding", "index": index, "embedding": [1.0, 0.5, float(len(text) % 7), 0.1]}
        for index, text in enumerate(call.body["input"])
    ]
    return {"object": "list", "data": rows, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def ranking(call: Call) -> dict[str, Any]:
    """A score for every passage."""
    return {"results": [{"index": index, "relevance_score": 0.9} for index in range(len(call.body["documents"]))]}


def test_calls_of_the_installed_server_have_the_traces_that_they_name(database_url: str, tmp_path: Path) -> None:
    with serving(tea) as site, serving(embeddings) as model, serving(ranking) as reranker:
        environment = {
            "NO_PROXY": "*",
            "no_proxy": "*",
            "WEBRAG_ALLOW_HOSTS": site.url.removeprefix("http://"),
            "EMBEDDING_PROVIDER": "openai",
            "EMBEDDING_BASE_URL": f"{model.url}/v1",
            "EMBEDDING_MODEL": "m",
            "EMBEDDING_DIMENSIONS": "4",
            "RERANKER_PROVIDER": "jina",
            "RERANKER_BASE_URL": reranker.url,
        }

        async def work() -> list[str]:
            seen = []
            parameters = stdio(database_url, tmp_path, **environment)
            with (tmp_path / "log").open("w") as log:
                async with Client(stdio_client(parameters, errlog=log)) as client:
                    for trace_id, query in zip(IDS, QUESTIONS, strict=True):
                        arguments = {"urls": [f"{site.url}/", f"{site.url}/gone"], "question": query}
                        meta = {"traceparent": parent_of(trace_id)}
                        result = await client.session.call_tool("answer", arguments, meta=meta)  # type: ignore[arg-type]
                        assert not result.is_error, result.content
                        seen.append((result.meta or {})["traceparent"].split("-")[1])
                    for _ in range(2):
                        result = await client.session.call_tool("status", {})
                        seen.append((result.meta or {})["traceparent"].split("-")[1])
            return seen

        seen = asyncio.run(work())
    assert tuple(seen[:2]) == IDS
    assert len(set(seen)) == 4
    with psycopg.connect(database_url) as connection:
        runs = connection.execute("SELECT trace_id FROM answer_runs ORDER BY id").fetchall()
        fetches = connection.execute("SELECT DISTINCT trace_id FROM fetch_log").fetchall()
    assert [row[0] for row in runs] == list(IDS)
    assert (IDS[0],) in fetches
    assert {row[0] for row in fetches} <= set(IDS)
    log = (tmp_path / "log").read_text()
    assert any(f"[{IDS[0]}]: " in line and "/gone" in line for line in log.splitlines()), log
    assert site.calls
    assert not [call for call in site.calls if "traceparent" in call.headers]
    for server in (model, reranker):
        told = {call.headers.get("traceparent", "").partition("-")[2][:32] for call in server.calls}
        assert told >= set(IDS), told


def test_a_command_goes_on_with_the_trace_of_the_environment(webrag: Webrag, webrag_here: Webrag) -> None:
    given = {"WEBRAG_WARC": str(FROZEN_SITE), "WEBRAG_READER": "none", "TRACEPARENT": parent_of(IDS[0])}
    answer = json.loads(webrag("answer", QUEUES, "Is a queue thread-safe?", "--budget", "0", "--json", **given).stdout)
    assert answer["trace_id"] == IDS[0]
    shown = webrag_here("answers", "show", str(answer["answer_id"]), **given).stdout
    assert f"Trace {IDS[0]}" in shown
    for malformed in ("nonsense", parent_of(IDS[0]) + "-00", ""):
        other = webrag_here(
            "answer", QUEUES, "A queue?", "--budget", "0", "--json", **{**given, "TRACEPARENT": malformed}
        )
        assert json.loads(other.stdout)["trace_id"] != IDS[0]


WITHOUT = """
import sys
sys.modules["opentelemetry"] = None
from webrag_core.trace import current_trace_id, span, traced
with traced() as trace_id, span("plan", router="rules"):
    print(trace_id == current_trace_id())
"""


def test_nothing_needs_opentelemetry() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr


SPANS = """
import asyncio, json, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
from webrag_core.answering.manager import Manager, Question
from webrag_core.config import Settings
from webrag_core.errors import WebragError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.trace import traced

async def work():
    async with Corpus.open(Settings()) as corpus:
        for url in sys.argv[2:]:
            try:
                with traced(sys.argv[1]):
                    question = Question("Is asyncio.Queue thread safe?", urls=(url,), expansion_budget=0)
                    await Manager(corpus).answer(question)
            except WebragError as error:
                print(error.code, file=sys.stderr)

asyncio.run(work())
print(json.dumps([json.loads(one.to_json()) for one in exporter.get_finished_spans() if one.name[:7] == "webrag."]))
"""


def test_spans_nest_in_the_trace_and_tell_no_address(database_url: str, tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.sdk")
    missing = "https://docs.python.org/3.11/there-is-no-such-page.html"
    done = subprocess.run(
        [sys.executable, "-c", SPANS, parent_of(IDS[0]), QUEUES, missing],
        cwd=tmp_path,
        env={
            **os.environ,
            "DATABASE_URL": database_url,
            "WEBRAG_WARC": str(FROZEN_SITE),
            "WEBRAG_READER": "none",
            "ANSWER_ITERATIONS": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    spans = json.loads(done.stdout)
    names = {one["name"].removeprefix("webrag.") for one in spans}
    assert names == {"plan", "task", "round", "retrieve", "rerank", "proof", "fetch"}
    assert {one["context"]["trace_id"] for one in spans} == {f"0x{IDS[0]}"}
    by_id = {one["context"]["span_id"]: one["name"] for one in spans}
    above = {(one["name"], by_id.get(one["parent_id"])) for one in spans}
    assert above >= {
        ("webrag.task", None),
        ("webrag.round", "webrag.task"),
        ("webrag.fetch", "webrag.task"),
        ("webrag.retrieve", "webrag.round"),
        ("webrag.rerank", "webrag.round"),
    }
    [failed] = [one for one in spans if one["name"] == "webrag.fetch" and one["status"]["status_code"] == "ERROR"]
    assert failed["attributes"]["error.type"] == "FetchError"
    for word in ("docs.python.org", "asyncio.Queue", "SELECT", "Traceback"):
        assert word not in json.dumps(
            [[one["name"], one["attributes"], one["events"], one["status"], one["links"]] for one in spans]
        )
