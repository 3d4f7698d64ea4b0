"""REST on a real server: every endpoint answers as its OpenAPI description says, refuses the rest, can be stopped."""

from __future__ import annotations

import json
import re
import shlex
import socket
from collections.abc import Iterator
from typing import Any

import httpx2
import psycopg
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from tests.conftest import REPOSITORY, fresh_database
from tests.mcp_server.tea_site import PAGES, QUESTION, SEED, HeldSite, tea_settings
from tests.waiting import wait_until
from tests.web.serving import web_server
from webrag_core.http_server import Limits

STREAM = {"accept": "text/event-stream"}


@pytest.fixture(scope="module")
def site() -> HeldSite:
    """The tea site; `/history` waits until a test releases it."""
    return HeldSite(dict(PAGES), held=frozenset(["/history"]))


@pytest.fixture(scope="module")
def database(server_url: str) -> Iterator[str]:
    with fresh_database(server_url) as url:
        yield url


@pytest.fixture(scope="module")
def client(database: str, site: HeldSite) -> Iterator[httpx2.Client]:
    """A server that has answered one question: its first answer."""
    settings = tea_settings(database, mcp_feedback=True, webrag_previews=0)
    with web_server(settings, site, Limits()) as client:
        # no link is followed: the walk would wait for the page that is held
        first = {"question": QUESTION, "urls": [SEED, f"{SEED}green-tea", f"{SEED}coffee"], "expansion_budget": 0}
        client.post("/api/ask", json=first).raise_for_status()
        yield client


@pytest.fixture(scope="module")
def document(client: httpx2.Client) -> dict[str, Any]:
    """The OpenAPI description."""
    return dict(client.get("/api/openapi.json").json())


@pytest.fixture(scope="module")
def proof(client: httpx2.Client) -> int:
    """The number of an answer in prose."""
    return int(client.get("/api/answers").json()["answers"][0]["answer_id"])


def described(document: dict[str, Any], schema: dict[str, Any]) -> Draft202012Validator:
    """A validator of one schema of the description."""
    return Draft202012Validator({**schema, "components": document["components"]})


def checked(document: dict[str, Any], response: httpx2.Response, method: str, path: str) -> Any:
    """The JSON of a response, which is what the description says of its status."""
    responses = document["paths"][path][method]["responses"]
    told = responses.get(str(response.status_code), responses["default"])
    content = response.json()
    described(document, told["content"]["application/json"]["schema"]).validate(content)
    return content


@pytest.mark.slow
def test_the_description_is_valid_and_complete(document: dict[str, Any]) -> None:
    validate(document)
    reading = ["/search", "/answers", "/answers/{number}", "/history", "/changes", "/sources", "/status"]
    reading += ["/conversations", "/conversations/{number}", "/gaps", "/changes/latest", "/answers/changed"]
    watching = ["/watches", "/watches/{number}"]
    attaching = ["/gaps/golden", "/gaps/pages"]
    attaching += ["/shares", "/shares/{number}"]
    attaching += [f"/sources/{name}" for name in ("preview", "refresh", "reading", "stop", "pause")]
    assert sorted(document["paths"]) == sorted(["/ask", "/answer", "/feedback", *reading, *watching, *attaching])
    parameters = document["paths"]["/history"]["get"]["parameters"]
    assert [(one["name"], one["required"]) for one in parameters] == [
        ("url", True),
        ("at", False),
        ("time", False),
        ("limit", False),
    ]


def test_every_endpoint_answers_as_described(client: httpx2.Client, document: dict[str, Any], proof: int) -> None:
    def got(path: str, template: str | None = None, **query: object) -> Any:
        response = client.get(f"/api{path}", params=query)  # type: ignore[arg-type]
        assert response.status_code == 200, response.text
        return checked(document, response, "get", template or path)

    def posted(path: str, status: int = 200, **body: object) -> Any:
        response = client.post(f"/api{path}", json=body)
        assert response.status_code == status, response.text
        described(document, document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"])
        return checked(document, response, "post", path)

    answer = posted("/ask", question=QUESTION, sources=["site.example"], form="lookup")
    assert "eighty degrees" in answer["sentences"][0]["text"]
    evidence = posted("/answer", question=QUESTION, urls=[SEED], expansion_budget=0, scope="source", mode="chunk")
    assert "eighty degrees" in evidence["citations"][0]["verbatim_text"]
    search = posted("/search", question="green tea", top_k=2, urls=[f"{SEED}green-tea"], pattern="hybrid_search")
    assert search["citations"][0]["source_url"] == f"{SEED}green-tea"
    assert posted("/search", question="green tea", at="now")["citations"]

    opened = got(f"/answers/{proof}", "/answers/{number}")
    assert opened["answer"]["question"] == opened["run"]["query"]
    assert {one["state"] for one in opened["citations"]} == {"valid"}
    assert got(f"/answers/{evidence['answer_id']}", "/answers/{number}")["answer"] is None
    first = got("/answers", limit=1, every_run=True)
    second = got("/answers", limit=1, every_run=True, before=first["next"])
    assert first["answers"][0]["answer_id"] > second["answers"][0]["answer_id"]

    past = got("/history", url=f"{SEED}green-tea", at="now")
    assert past["periods"] == len(past["history"]["periods"]) == 1
    assert "eighty degrees" in past["at"]["text"]
    changes = got("/changes", target="site.example", limit=2, offset=1)
    assert (len(changes["changes"]), changes["total"]) == (2, len(got("/changes", target="site.example")["changes"]))
    (source,) = got("/sources")["sources"]
    assert (source["key"], source["ready"] > 2, source["last_checked"] is not None) == ("site.example", True, True)
    status = got("/status")
    assert (status["sources"], status["ready"]) == (1, source["ready"])
    usual, every_run = (len(got("/answers", limit=200, every_run=hidden)["answers"]) for hidden in (False, True))
    assert (status["answers"], usual < every_run) == (usual, True)
    noted = posted("/feedback", 201, answer=proof, kind="helpful", text="It helped.")
    assert (noted["weight"], noted["state"], noted["actor_kind"]) == (0, "new", "model")
    watch = posted("/watches", 201, page=f"{SEED}green-tea", pace="daily")
    assert got("/watches") == {"watches": [watch], "total": 1}
    removed = client.delete(f"/api/watches/{watch['watch_id']}")
    assert checked(document, removed, "delete", "/watches/{number}") == watch
    assert got("/watches")["total"] == 0


def test_events_arrive_as_described(client: httpx2.Client, document: dict[str, Any]) -> None:
    response = client.post("/api/ask", json={"question": QUESTION}, headers=STREAM)
    messages = re.findall(r"id: (\d+)\r\nevent: (\w+)\r\ndata: (.*)\r\n\r\n", response.text)
    assert [int(number) for number, _, _ in messages] == list(range(len(messages)))
    names = [name for _, name, _ in messages]
    assert (names[0], names[-1]) == ("planned", "done")
    assert "sentence" in names
    validator = described(document, document["components"]["schemas"]["AskEvent"])
    for _, name, data in messages:
        event = json.loads(data)
        validator.validate(event)
        assert name in event.values()
    failed = client.post("/api/ask", json={"question": "Why?", "sources": ["no.example"]}, headers=STREAM)
    name, data = re.findall(r"event: (\w+)\r\ndata: (.*)\r\n\r\n", failed.text)[-1]
    assert name == "error"
    described(document, document["components"]["schemas"]["ErrorReply"]).validate(json.loads(data))
    assert json.loads(data)["error"]["code"] == "invalid_input"


REFUSED: list[tuple[int, str, str, str, object]] = [
    (400, "invalid_input", "post", "/ask", {"question": " "}),
    (400, "invalid_input", "post", "/ask", {"question": "Why?", "unknown": 1}),
    (400, "invalid_input", "post", "/ask", {"question": "Why?", "time": "valid"}),
    (400, "invalid_input", "post", "/ask", {"question": "Why?", "at": "soon"}),
    (400, "invalid_input", "post", "/ask", {"question": "Why?", "urls": [SEED] * 1_000}),
    (400, "invalid_input", "post", "/ask", {"question": "Why?", "sources": ["no.example"]}),
    (422, "blocked", "post", "/ask", {"question": "Why \u0007?"}),
    (400, "invalid_url", "post", "/ask", {"question": "Why?", "urls": ["javascript:alert(1)"]}),
    (422, "not_found", "post", "/answer", {"question": "Why?", "urls": [f"{SEED}nowhere"]}),
    (400, "invalid_input", "post", "/answer", {"question": "Why?", "urls": []}),
    (400, "invalid_input", "post", "/answer", {"question": "Why?", "urls": [SEED], "policy": "none"}),
    (400, "invalid_input", "post", "/answer", {"question": "Why?", "urls": [SEED], "expansion_budget": "3"}),
    (400, "invalid_input", "post", "/search", {"question": "tea", "top_k": 51}),
    (400, "invalid_input", "post", "/search", {"question": "tea", "flags": ["none"]}),
    (400, "invalid_input", "post", "/search", [1]),
    (404, "not_stored", "get", "/answers/999", None),
    (404, "not_stored", "get", "/answers/0", None),
    (404, "not_stored", "get", f"/answers/{2**63}", None),
    (400, "invalid_input", "get", "/answers/x", None),
    (400, "invalid_input", "get", "/answers?limit=1&limit=2", None),
    (400, "invalid_input", "get", "/answers?limit=201", None),
    (400, "invalid_input", "get", "/answers?offset=1", None),
    (404, "not_stored", "get", f"/history?url={SEED}nowhere", None),
    (400, "invalid_input", "get", f"/history?url={SEED}nowhere&time=valid", None),
    (400, "invalid_url", "get", "/history?url=nowhere", None),
    (400, "invalid_input", "get", "/changes?target=no.example&since=soon", None),
    (404, "not_stored", "get", "/changes?target=no.example", None),
    (400, "invalid_input", "post", "/feedback", {"answer": 999, "kind": "helpful"}),
    (400, "invalid_input", "post", "/feedback", {"answer": 1, "kind": "praise"}),
    (404, "not_stored", "post", "/gaps/golden", {"answers": [999]}),
    (400, "invalid_input", "post", "/gaps/golden", {"answers": []}),
    (400, "invalid_input", "post", "/gaps/pages", {"urls": [f"{SEED}nowhere"]}),
    (400, "invalid_input", "post", "/watches", {"section": ["Brewing"]}),
    (400, "invalid_input", "post", "/watches", {"page": f"{SEED}green-tea", "section": ["No such"]}),
    (404, "not_stored", "get", "/changes/latest?source=no.example", None),
    (404, "not_stored", "get", "/conversations/999", None),
    (404, "not_stored", "get", "/sources/reading?source=no.example", None),
    (404, "not_stored", "post", "/sources/stop", {"source": "no.example"}),
    (404, "not_stored", "post", "/sources/refresh", {"source": "no.example"}),
    (404, "not_stored", "post", "/sources/pause", {"source": "no.example"}),
    (404, "not_stored", "delete", "/sources?source=no.example&by=me", None),
    (404, "not_stored", "delete", "/sources?source=no.example&by=me&forget=true", None),
    (404, "not_stored", "delete", "/watches/999", {}),
    (404, "not_stored", "delete", "/shares/999", {}),
    (404, "unknown_path", "get", "/nothing", None),
    (405, "method_not_allowed", "get", "/ask", None),
    (405, "method_not_allowed", "post", "/status", {}),
]


def test_what_cannot_be_meant_is_refused_with_its_reason(client: httpx2.Client, document: dict[str, Any]) -> None:
    error = described(document, document["components"]["schemas"]["ErrorReply"])
    for status, code, method, path, body in REFUSED:
        response = client.request(method, f"/api{path}", json=body)
        content = response.json()
        error.validate(content)
        assert (response.status_code, content["error"]["code"]) == (status, code), (path, body, content)
        template = "/answers/{number}" if path.startswith("/answers/") else path.partition("?")[0]
        operation = document["paths"].get(template, {}).get(method)
        assert operation is None or str(status) in operation["responses"], (path, status)


def test_bodies_that_are_no_json(client: httpx2.Client) -> None:
    def status(content: bytes, kind: str = "application/json") -> int:
        return client.post("/api/search", content=content, headers={"content-type": kind}).status_code

    body = b'{"question": "tea"}'
    assert status(body, "application/json; charset=utf-8") == 200
    assert [status(body, kind) for kind in ("text/plain", "application/x-www-form-urlencoded", "")] == [415] * 3
    for broken in (b"", b"{", b"\xff", b'{"question": "\\ud800"}', b"[" * 100_000, body.decode().encode("utf-16")):
        assert status(broken) == 400, broken[:20]
    assert status(b" " * 2_000_000 + body) == 413


def latest_run(database: str) -> tuple[int, str, str | None]:
    """Number, state and reason."""
    with psycopg.connect(database) as connection:
        row = connection.execute("SELECT id, state, reason FROM answer_runs ORDER BY id DESC LIMIT 1").fetchone()
    assert row is not None
    return row[0], row[1], row[2]


@pytest.mark.parametrize(
    ("path", "body", "headers"),
    [
        ("/api/ask", {"question": "Who brought tea over the sea?", "urls": [f"{SEED}history"]}, {}),
        ("/api/ask", {"question": "Who brought tea over the sea?", "urls": [f"{SEED}history"]}, STREAM),
        ("/api/answer", {"question": "Who brought tea over the sea?", "urls": [f"{SEED}history"]}, {}),
    ],
)
def test_who_hangs_up_stops_the_run(
    client: httpx2.Client, site: HeldSite, database: str, path: str, body: dict[str, Any], headers: dict[str, str]
) -> None:
    before, _, _ = latest_run(database)
    site.waiting.clear()
    request = client.build_request("POST", path, json=body, headers=headers)
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in request.headers.items()), "", ""]
    with socket.create_connection((request.url.host, request.url.port or 80)) as leaving:
        leaving.sendall("\r\n".join(lines).encode() + request.content)
        wait_until(site.waiting.is_set)
    wait_until(lambda: latest_run(database)[0] > before and latest_run(database)[1] == "failed")
    assert latest_run(database)[2] == "cancelled"


def test_too_many_questions_are_told_to_come_again(client: httpx2.Client) -> None:
    asked = {"question": "Who brought tea over the sea?", "url": f"{SEED}history"}
    runs = [client.post("/ask", data=asked).headers["location"] for _ in range(32)]
    busy = client.post("/api/ask", json={"question": QUESTION})
    assert (busy.status_code, busy.json()["error"]["code"]) == (503, "busy")
    assert busy.headers["retry-after"] == "30"
    assert client.post("/ask", data=asked).status_code == 503
    for path in runs:  # most of them have not begun
        assert client.post(f"{path}/stop").headers["location"] == path
    for path in runs:
        wait_until(lambda path=path: "stopped" in client.get(path).text.lower())  # type: ignore[misc]
    assert client.post("/api/ask", json={"question": QUESTION}).status_code == 200


@pytest.mark.slow
def test_the_examples_of_the_reference_work(client: httpx2.Client, proof: int) -> None:
    text = (REPOSITORY / "docs" / "web-api.md").read_text(encoding="utf-8")
    commands = [line for line in text.replace("\\\n", " ").splitlines() if line.startswith("curl ")]
    assert len(commands) >= 8
    own = str(client.base_url).rstrip("/")
    watch = 1
    for command in commands:
        method, path, headers, body = "GET", "", {}, None
        words = iter(shlex.split(command)[1:])
        for word in words:
            if word == "-H":
                name, _, value = next(words).partition(": ")
                headers[name] = value
            elif word == "-X":
                method = next(words)
            elif word == "-d":
                method, body = "POST", next(words)
            elif not word.startswith("-"):
                path = word
        assert path.startswith("http://127.0.0.1:8765/api/"), command
        address = path.replace("http://127.0.0.1:8765", own).replace("/answers/1", f"/answers/{proof}")
        address = address.replace("/watches/1", f"/watches/{watch}")
        content = None if body is None else body.replace('"answer": 1,', f'"answer": {proof},')
        response = client.request(method, address, headers=headers, content=content)
        assert response.is_success, (command, response.text)
        if path.endswith("/watches") and method == "POST":
            watch = response.json()["watch_id"]
