"""The guard before Dagster's web server: whom it answers, in which form, and what the token opens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import dagster as dg
import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from benchmarks.security.foreign_site import effects_of
from tests.acquisition.served_pages import ServedPages
from webrag_core.answering.manager import Manager, Question
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_dagster.processes.ui_guard import COOKIE, accepted_hosts, guarded
from webrag_dagster.processes.ui_pages import WithPages

OWN, SOCKET = "http://127.0.0.1:3000", "ws://127.0.0.1:3000/graphql"
TOKEN = "correct-horse-battery-staple"
VERSION = {"query": "{ version }"}
ACT = 'mutation { setConcurrencyLimit(concurrencyKey: "acted", limit: 1) }'
LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path_factory.mktemp("instance"))) as made:
        yield made


@pytest.fixture(scope="module")
def app(instance: dg.DagsterInstance, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starlette]:
    """Dagster's own application, of no code location."""
    from webrag_dagster.processes.ui import dagster_app  # seconds that no other process of the tests needs

    workspace = tmp_path_factory.mktemp("workspace") / "workspace.yaml"
    workspace.write_text("load_from: []")
    with dagster_app(instance, workspace) as bare:
        yield bare


def client(app: Starlette, token: str | None = None, base: str = OWN, **settings: object) -> TestClient:
    """A client of the guarded application that listens on loopback and was asked for by `base`."""
    hosts = accepted_hosts(bare(**settings), "127.0.0.1")
    whole = guarded(app, hosts, None if token is None else SecretStr(token))
    return TestClient(whole, base_url=base, follow_redirects=False)


def bare(**settings: object) -> Settings:
    return Settings(**settings)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_uis_own_pages_are_answered(app: Starlette) -> None:
    ui = client(app)
    own = {"origin": OWN, "sec-fetch-site": "same-origin"}
    assert ui.post("/graphql?op=Anything", json=VERSION, headers=own).json() == {"data": {"version": dg.__version__}}
    charset = {"content-type": "application/json; charset=utf-8"}
    assert ui.post("/graphql", content=json.dumps(VERSION), headers=charset).status_code == 200
    assert ui.get("/runs", headers={"sec-fetch-site": "none"}).status_code == 200
    assert ui.get("/favicon.png", headers={"sec-fetch-site": "same-origin"}).status_code == 200
    with ui.websocket_connect(SOCKET, ["graphql-ws"], headers=own) as socket:
        socket.send_json({"type": "connection_init"})
        assert socket.receive_json() == {"type": "connection_ack"}


@pytest.mark.slow
@pytest.mark.parametrize("base", ["http://localhost:3000", "http://[::1]:3000", "http://LOCALHOST:3000", OWN])
def test_every_name_of_this_machine_is_answered(app: Starlette, base: str) -> None:
    assert client(app, base=base).get("/server_info").status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:3000",
        "127.0.0.1:3001",
        "127.0.0.1",
        "127.0.0.1:3000.evil.example",
        "127.0.0.1.evil.example:3000",
        "localhost.evil.example:3000",
        "127.0.0.1:3000@evil.example",
        "evil.example@127.0.0.1:3000",
        "0.0.0.0:3000",
        "127.0.0.1:",
        "127.0.0.1:03000x",
        " ",
    ],
)
def test_another_host_is_not_answered(app: Starlette, host: str) -> None:
    ui = client(app)
    assert ui.get("/", headers={"host": host}).status_code == 421
    assert ui.post("/graphql", json=VERSION, headers={"host": host}).status_code == 421
    refused(ui, {"host": host})


def test_two_hosts_are_not_answered(app: Starlette) -> None:
    both = [("host", "127.0.0.1:3000"), ("host", "evil.example")]
    for hosts in (both, both[::-1], [both[0], both[0]]):
        assert client(app).get("/", headers=hosts).status_code == 421


def test_hosts_of_the_setting_are_answered(app: Starlette) -> None:
    ui = client(app, webrag_ui_hosts="rag.example, dagster.internal:8443")
    for host, status in {
        "rag.example": 200,
        "rag.example:8080": 200,
        "RAG.example": 200,
        "dagster.internal:8443": 200,
        "dagster.internal:8444": 421,
        "a.rag.example": 421,
        "rag.example.": 421,
    }.items():
        assert ui.get("/server_info", headers={"host": host}).status_code == status, host
    own = {"host": "rag.example", "origin": "https://rag.example"}
    other = {"host": "rag.example", "origin": "https://dagster.internal:8443"}
    assert ui.post("/graphql", json=VERSION, headers=own).status_code == 200
    assert ui.post("/graphql", json=VERSION, headers=other).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://127.0.0.1:3001"},
        {"origin": "http://localhost:3000"},
        {"origin": "http://127.0.0.1:3000.evil.example"},
        {"origin": "http://127.0.0.1:3000/"},
        {"origin": "file://"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "same-origin", "origin": "http://evil.example"},
        {"sec-fetch-site": "cross-site", "origin": OWN},
        {**LINK, "sec-fetch-dest": "iframe"},
        {**LINK, "sec-fetch-mode": "no-cors"},
        {**LINK, "origin": "http://evil.example"},
    ],
    ids=str,
)
def test_pages_of_other_origins_are_not_answered(
    app: Starlette, instance: dg.DagsterInstance, headers: dict[str, str]
) -> None:
    ui = client(app)
    assert ui.get("/", headers=headers).status_code == 403
    assert ui.post("/graphql", json={"query": ACT}, headers=headers).status_code == 403
    assert ui.post("/report_asset_materialization/acted", json={}, headers=headers).status_code == 403
    refused(ui, headers)
    assert effects_of(instance) == set()


def refused(ui: TestClient, headers: dict[str, str]) -> None:
    """Assert that no web socket is opened with these headers."""
    with pytest.raises(WebSocketDisconnect), ui.websocket_connect(SOCKET, ["graphql-ws"], headers=headers):
        pass


def test_links_of_other_sites_open_pages_only(app: Starlette) -> None:
    ui = client(app)
    assert ui.get("/assets/answers", headers=LINK).status_code == 200
    assert ui.get("/graphql", params={"query": ACT}, headers=LINK).status_code == 405
    for path in ("/logs/a/b.out", "/notebook?path=a.ipynb&repoLocName=webrag", "/dagit/notebook", "/download_debug/1"):
        assert ui.get(path, headers=LINK).status_code == 403, path
        assert ui.get(path.upper(), headers=LINK).status_code == 403, path
    assert ui.get("/logs/a/b.out", headers={"sec-fetch-site": "same-origin"}).status_code == 404
    assert ui.post("/graphql", json=VERSION, headers=LINK).status_code == 403


@pytest.mark.parametrize("path", ["/graphql", "/graphql/", "//graphql", "/%67raphql", "/GraphQL", "/x/../graphql"])
def test_no_graphql_by_get(app: Starlette, instance: dg.DagsterInstance, path: str) -> None:
    ui = client(app)
    for method in ("GET", "HEAD"):
        answer = ui.request(method, path, params={"query": ACT}, headers={"accept": "application/json"})
        assert "json" not in answer.headers["content-type"], "refused, or the page of any unknown address"
    assert ui.get("/graphql", headers={"accept": "text/html"}).status_code == 405
    assert effects_of(instance) == set()


@pytest.mark.parametrize(
    "types",
    [
        [],
        ["text/plain"],
        ["text/plain; application/json"],
        ["text/plain, application/json"],
        ["application/x-www-form-urlencoded"],
        ["multipart/form-data; boundary=application/json"],
        ["application/graphql"],
        ["application/jsonx"],
        ["application/json", "text/plain"],
        [""],
    ],
    ids=str,
)
def test_only_json_is_taken(app: Starlette, instance: dg.DagsterInstance, types: list[str]) -> None:
    ui = client(app)
    headers = [("content-type", value) for value in types]
    for path in ("/graphql", "/report_asset_materialization/acted", "/report_asset_check/acted", "/"):
        content = json.dumps({"query": ACT})
        assert ui.post(path, params={"query": ACT}, content=content, headers=headers).status_code == 415
    assert effects_of(instance) == set()


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY"])
def test_other_methods_are_refused(app: Starlette, method: str) -> None:
    for path in ("/graphql", "/", "/report_asset_materialization/acted"):
        assert client(app).request(method, path, json=VERSION, params=VERSION).status_code == 405


def test_every_answer_keeps_other_sites_out_of_it(app: Starlette) -> None:
    for answer in (client(app).get("/"), client(app).get("/", headers={"host": "evil.example"})):
        assert answer.headers["x-frame-options"] == "SAMEORIGIN"
        assert "frame-ancestors 'self'" in answer.headers.get_list("content-security-policy")
        assert answer.headers.get_list("referrer-policy") == ["no-referrer"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert any("script-src" in policy for policy in client(app).get("/").headers.get_list("content-security-policy"))


def test_every_route_of_dagster_was_looked_at(app: Starlette) -> None:
    """A route that is new in another version: decide whether links of other sites may open it."""
    shown = {"/server_info", "/dagit_info", "/{path:path}", "/"}
    files = {"/logs/{path:path}", "/notebook", "/dagit/notebook", "/download_debug/{run_id:str}"}
    taken = {f"/report_asset_{kind}/{{asset_key:path}}" for kind in ("materialization", "check", "observation")}
    routes = {
        route.path
        for route in app.routes
        if not (isinstance(route, Mount | Route) and route.name in ("root_static", "_next_static", "vendor_static"))
    }
    assert routes == shown | files | taken | {"/graphql"}


def test_the_token_opens_the_ui_once_for_a_browser(app: Starlette) -> None:
    ui = client(app, TOKEN)
    for path in ("/", "/graphql", "/?token=wrong", f"/?token={TOKEN}x", f"/?token={TOKEN}&token={TOKEN}", "/?token=é"):
        answer = ui.get(path)
        assert answer.status_code == 401, path
        assert "set-cookie" not in answer.headers
        assert TOKEN not in answer.text
    refused(ui, {})
    assert ui.get("/server_info").status_code == 200

    visit = ui.get("/runs", params={"token": TOKEN})
    assert (visit.status_code, visit.headers["location"]) == (303, "/runs")
    cookie = visit.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert ui.get("/runs").status_code == 200  # the client keeps the cookie
    assert ui.post("/graphql", json=VERSION).status_code == 200
    with ui.websocket_connect(SOCKET, ["graphql-ws"]):
        pass
    assert ui.get("/", headers={"origin": "http://evil.example"}).status_code == 403, "with the cookie, too"
    assert ui.get("/runs", params={"token": TOKEN}).status_code == 303, "the token leaves the address bar"


@pytest.mark.parametrize("cookie", ["", "guessed", TOKEN, "é"])
def test_another_cookie_opens_nothing(app: Starlette, cookie: str) -> None:
    headers = {"cookie": f"{COOKIE}={cookie}".encode()}
    assert client(app, TOKEN).get("/", headers=headers).status_code == 401


def test_the_token_opens_the_ui_to_other_clients(app: Starlette) -> None:
    ui = client(app, TOKEN)
    right = {"authorization": f"Bearer {TOKEN}"}
    assert ui.post("/graphql", json=VERSION, headers=right).status_code == 200
    assert ui.get("/", headers={**right, "host": "evil.example"}).status_code == 421
    for wrong in (TOKEN, f"Bearer {TOKEN} ", f"bearer {TOKEN}", "Bearer", f"Basic {TOKEN}", "Bearer é"):
        assert ui.get("/", headers={"authorization": wrong.encode()}).status_code == 401, wrong


@pytest.mark.parametrize("path", ["//evil.example", "/\\evil.example", "/%5Cevil.example", "///evil.example/"])
def test_a_visit_leads_to_no_other_site(app: Starlette, path: str) -> None:
    location = client(app, TOKEN).get(f"{OWN}{path}?token={TOKEN}").headers["location"]
    assert location.startswith("/evil.example")


def test_a_token_must_be_long_and_is_in_no_text() -> None:
    with pytest.raises(InvalidInputError, match="WEBRAG_UI_TOKEN is shorter") as error:
        accepted_hosts(bare(webrag_ui_token="short-token"), "127.0.0.1")
    assert "short-token" not in error.value.message
    settings = bare(webrag_ui_token=TOKEN)
    assert TOKEN not in repr(settings)
    assert bare(webrag_ui_token="  ").webrag_ui_token is None


def test_a_bind_beyond_this_machine_needs_names_and_says_that_no_token_is_asked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for bind in ("0.0.0.0", "::", "192.168.1.5", "example.org", ""):
        with pytest.raises(InvalidInputError, match="WEBRAG_UI_HOSTS"):
            accepted_hosts(bare(webrag_ui_token=TOKEN), bind)
    assert accepted_hosts(bare(webrag_ui_hosts="rag.example", webrag_ui_token=TOKEN), "0.0.0.0")
    assert caplog.text == ""
    accepted_hosts(bare(webrag_ui_hosts="rag.example"), "0.0.0.0")
    assert "WEBRAG_UI_TOKEN" in caplog.text
    for wrong in ("http://rag.example", "rag.example/ui", "*", "rag.example:http"):
        with pytest.raises(InvalidInputError, match="WEBRAG_UI_HOSTS"):
            accepted_hosts(bare(webrag_ui_hosts=wrong), "127.0.0.1")


def test_pages_to_read_are_served_without_scripts(settings: Settings) -> None:
    asyncio.run(stored_answer(settings))
    ui = client(WithPages(Starlette(), settings))  # type: ignore[arg-type]
    page = ui.get("/webrag/answers/answer-1.html")
    assert page.status_code == 200
    assert "What is tea?" in page.text
    policy = page.headers.get_list("content-security-policy")
    assert any(one.startswith("default-src 'none'") and "sandbox" in one for one in policy)
    assert not any("allow-scripts" in one or "allow-same-origin" in one for one in policy)
    assert ui.get("/webrag/answers/answer-1.html", headers=LINK).status_code == 403
    assert "answers list" in ui.get("/webrag/answers/answer-2.html").text
    for path in (
        "answers",
        "answers/answer-2.html",
        "answers/answer-01.html",
        f"answers/answer-{'9' * 18}.html",
        f"answers/answer-{'9' * 19}.html",
        "answers/../secret.html",
        "answers/%2e%2e%2fsecret.html",
        "graphs",
        "graphs?source=",
        "graphs?source=tea.example",
        "graphs?source=tea.example~09of02",
        "graphs/tea.example.html",
    ):
        assert ui.get(f"/webrag/{path}").status_code == 404, path


def test_pages_say_that_the_database_is_away(settings: Settings) -> None:
    away = settings.model_copy(update={"database_url": "postgresql://127.0.0.1:1/none"})
    page = client(WithPages(Starlette(), away)).get("/webrag/answers/answer-1.html")  # type: ignore[arg-type]
    assert (page.status_code, "cannot be reached" in page.text) == (503, True)


async def stored_answer(settings: Settings) -> None:
    """One answer in prose, to which nothing is stored."""
    async with Corpus.open(settings, ServedPages({})) as corpus:
        await Manager(corpus).answer(Question("What is tea?"))
