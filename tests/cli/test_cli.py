"""The command line as a user meets it: its output, its exit codes, what it leaves behind."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg
import pytest

from tests.command_line import Webrag, webrag, webrag_here
from tests.conftest import FROZEN_SITE
from tests.local_site import page

__all__ = ["webrag", "webrag_here"]

ASYNCIO = "https://docs.python.org/3.11/library/asyncio.html"
QUESTION = "Are asyncio queues thread-safe?"

BODIES: dict[str, tuple[int, str, bytes]] = {
    "/": (200, "text/html; charset=utf-8", page("Tea", "Green tea is brewed at eighty degrees.").encode()),
    "/missing": (404, "text/html", b"<h1>Not found</h1>"),
    "/error": (500, "text/html", b"<h1>Server error</h1>"),
    "/empty": (200, "text/html", b"<html><body><nav>Home</nav></body></html>"),
    "/nothing": (200, "text/html", b""),
    "/picture": (200, "image/png", b"\x89PNG\r\n\x1a\n"),
}


class Handler(BaseHTTPRequestHandler):
    """Answers from BODIES."""

    def do_GET(self) -> None:
        status, kind, body = BODIES.get(self.path, BODIES["/missing"])
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test output clean."""


@pytest.fixture(scope="module")
def live_site() -> Iterator[str]:
    """Base URL of a real HTTP server on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def stored(database_url: str) -> dict[str, int]:
    """Rows per table that must stay empty when a command fails early."""
    with psycopg.connect(database_url) as connection:
        counts = {}
        for table in ("document_versions", "chunks", "lexical_postings", "citations"):
            if connection.execute("SELECT to_regclass(%s)", (table,)).fetchone() == (None,):
                continue  # refused before the database was touched
            row = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()  # noqa: S608
            assert row is not None
            counts[table] = int(row[0])
        return counts


@pytest.mark.slow
def test_answer_prints_quotes_pages_and_the_stop_rule(webrag_here: Webrag) -> None:
    done = webrag_here("answer", ASYNCIO, QUESTION, WEBRAG_WARC=str(FROZEN_SITE))
    assert done.returncode == 0, done.stderr
    assert "[1] Queues" in done.stdout
    assert "Although asyncio queues are not thread-safe" in done.stdout
    assert "library/asyncio-queue.html" in done.stdout
    assert "Stopped: complete (calibrated)" in done.stdout
    assert done.stdout.startswith("Answered: confidence ")
    assert "round 1: " in done.stderr


@pytest.mark.slow
def test_answer_as_json_is_one_object_and_proves_its_quotes(webrag_here: Webrag, database_url: str) -> None:
    quick = {"WEBRAG_PREVIEWS": "2", "WEBRAG_READER": "none", "WEBRAG_WARC": str(FROZEN_SITE)}
    done = webrag_here("answer", ASYNCIO, QUESTION, "--json", **quick)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    with psycopg.connect(database_url) as connection:
        for citation in result["citations"]:
            row = connection.execute(
                "SELECT text FROM contract.v_document WHERE content_sha256 = %s", (citation["version_sha256"],)
            ).fetchone()
            assert row is not None
            assert row[0][citation["char_start"] : citation["char_end"]] == citation["verbatim_text"]
        answer = connection.execute("SELECT query, action, rule, citations FROM contract.v_answer").fetchone()
    assert answer is not None
    assert answer[:3] == (QUESTION, "stop", result["final_decision"]["rule"])
    assert [quote["quote"] for quote in answer[3]] == [c["verbatim_text"] for c in result["citations"]]


def test_answer_takes_every_hint_and_keeps_it_with_the_run(
    webrag_here: Webrag, live_site: str, database_url: str
) -> None:
    hints = ("--intent", "how_to", "--constraint", "with times", "--budget", "0")
    known = ("--known-context", "Tea. Green tea is brewed at eighty degrees!")
    allow = {"WEBRAG_ALLOW_HOSTS": live_site.removeprefix("http://")}
    done = webrag_here("answer", f"{live_site}/", "How is tea brewed?", *hints, "--json", **allow)
    assert "eighty degrees" in json.loads(done.stdout)["citations"][0]["verbatim_text"]
    done = webrag_here("answer", f"{live_site}/", "How is tea brewed?", *hints, *known, "--json", **allow)
    result = json.loads(done.stdout)
    assert result["citations"] == []
    assert result["query_analysis"]["query_type"] == "how_to"
    with psycopg.connect(database_url) as connection:
        row = connection.execute("SELECT options FROM answer_runs ORDER BY id DESC LIMIT 1").fetchone()
    assert row is not None
    kept = {name: row[0][name] for name in ("intent", "known_context", "constraints", "budget")}
    assert kept == {"intent": "how_to", "known_context": known[1], "constraints": ["with times"], "budget": 0}


def test_a_model_without_key_and_url_is_named_before_a_page_is_fetched(webrag_here: Webrag, live_site: str) -> None:
    done = webrag_here("answer", f"{live_site}/", "How is tea brewed?", "--json", DECOMPOSITION_MODE="llm")
    assert done.returncode == 2
    assert "ORCHESTRATION_LLM_API_KEY" in json.loads(done.stdout)["error"]["message"]


def test_ingest_search_status_verify(webrag_here: Webrag, live_site: str) -> None:
    allow = live_site.removeprefix("http://")
    assert webrag_here("ingest", f"{live_site}/", WEBRAG_ALLOW_HOSTS=allow).returncode == 0
    done = webrag_here("ingest", f"{live_site}/", f"{live_site}/missing", "--json", WEBRAG_ALLOW_HOSTS=allow)
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert report["reused"] == 1
    assert report["failed"] == {f"{live_site}/missing": "not_found"}

    found = json.loads(webrag_here("search", "brewing temperature of green tea", "--json").stdout)
    assert "eighty degrees" in found["citations"][0]["verbatim_text"]
    assert webrag_here("search", "tea", "--source", "elsewhere.example").returncode == 2

    made = json.loads(webrag_here("model", "windows", "--json").stdout)
    assert (made["made"], made["missing"]) == (1, 0)
    status = json.loads(webrag_here("status", "--json").stdout)
    assert [one["missing"] for one in status["windows"]["sources"]] == [0]
    assert status["sources"][0]["ready"] == 1
    assert status["failures"] == {"not_found": 1}
    assert status["failed_pages"] == [{"url": f"{live_site}/missing", "reason": "not_found"}]
    assert "network, programs and signals (seccomp)" in status["worker_sandbox"]

    checked = webrag_here("verify", "--json")
    assert checked.returncode == 0, checked.stdout
    assert json.loads(checked.stdout)["violations"] == []


@pytest.mark.slow
def test_a_section_is_attached_refreshed_and_paused(webrag_here: Webrag) -> None:
    frozen = {"WEBRAG_WARC": str(FROZEN_SITE)}
    library = "https://docs.python.org/3.11/library/asyncio.html"
    added = webrag_here("source", "add", library, "--pages", "3", "--json", **frozen)
    key = "docs.python.org/3.11/library"
    assert json.loads(added.stdout) == {
        "source": key,
        "pages": 3,
        "seed_url": library,
        "acquirer": None,
        "all_text": False,
        "refresh_hours": None,
        "name": None,
        "owners": [],
    }
    first = webrag_here("refresh", "--json", **frozen)
    assert first.returncode == 0, first.stderr
    [report] = json.loads(first.stdout)["sources"]
    assert (report["fetched"], report["failed"]) == (3, {})
    assert report["skipped"] > 100  # said, and in the ledger
    assert library in report["changed"]
    again = webrag_here("refresh", "docs.python.org", "--due", **frozen)
    assert (again.returncode, again.stdout.split()[-9:-7]) == (0, [key, str(3 + report["skipped"])])
    [source] = json.loads(webrag_here("status", "--json").stdout)["sources"]
    assert (source["ready"], source["gone"], source["due"]) == (3, 0, 0)
    assert webrag_here("source", "pause", "docs.python.org").stdout == f"{key} is paused\n"
    assert json.loads(webrag_here("refresh", "--json", **frozen).stdout)["sources"] == []
    [listed] = json.loads(webrag_here("source", "list", "--json").stdout)["sources"]
    assert (listed["path_prefix"], listed["page_limit"], listed["paused"]) == ("/3.11/library/", 3, True)
    assert webrag_here("refresh", "nowhere.example").returncode == 2
    assert webrag_here("verify").returncode == 0
    assert webrag_here("source", "resume", key).stdout == f"{key} is active\n"
    assert webrag_here("source", "remove", key).stdout == f"{key} is detached; its pages stay stored\n"
    [listed] = json.loads(webrag_here("source", "list", "--json").stdout)["sources"]
    assert (listed["key"], listed["page_limit"]) == ("docs.python.org", None)
    assert "not attached" in webrag_here("source", "remove", "docs.python.org").stderr
    assert webrag_here("source", "add", library, **frozen).returncode == 0
    assert "--yes" in webrag_here("source", "remove", key, "--forget").stderr
    assert len(json.loads(webrag_here("source", "list", "--json").stdout)["sources"]) == 1
    removed = webrag_here("source", "remove", key, "--forget", "--yes")
    assert removed.stdout == f"{key} is detached; 3 pages are removed\n"
    assert json.loads(webrag_here("source", "list", "--json").stdout) == {"sources": []}
    assert webrag_here("verify").returncode == 0


def test_a_private_address_is_not_attached_unless_it_is_allowed(webrag_here: Webrag, live_site: str) -> None:
    place = live_site.removeprefix("http://")
    refused = webrag_here("source", "add", f"{live_site}/docs/")
    assert refused.returncode == 2
    assert f"here WEBRAG_ALLOW_HOSTS={place} [blocked_address]" in refused.stderr
    assert "WEBRAG_ALLOW_HOSTS=host:port" in webrag_here("source", "add", "http://127.0.0.1/").stderr
    beside = webrag_here("source", "add", f"{live_site}/docs/", WEBRAG_ALLOW_HOSTS="127.0.0.1:9")
    assert f"here WEBRAG_ALLOW_HOSTS=127.0.0.1:9,{place} [blocked_address]" in beside.stderr
    added = webrag_here("source", "add", f"{live_site}/docs/", "--pages", "40", WEBRAG_ALLOW_HOSTS=place)
    assert (added.returncode, "already" in added.stderr) == (0, False)
    again = webrag_here("source", "add", f"{live_site}/docs/", "--hours", "3", WEBRAG_ALLOW_HOSTS=place)
    assert (
        "was attached already, and is now kept otherwise: page limit 40, now 500, hours as the settings say"
        in again.stderr
    )
    assumed = webrag_here("source", "add", f"{place}/wiki", "--json", WEBRAG_ALLOW_HOSTS=place)
    assert json.loads(assumed.stdout)["seed_url"] == f"http://{place}/wiki"
    assert f"{place}/wiki means http://{place}/wiki" in assumed.stderr
    listed = json.loads(webrag_here("source", "list", "--json").stdout)["sources"]
    assert [source["key"] for source in listed] == [f"{place}/docs", f"{place}/wiki"]


def test_one_malformed_url_does_not_keep_others_from_being_ingested(webrag_here: Webrag, live_site: str) -> None:
    allow = live_site.removeprefix("http://")
    done = webrag_here("ingest", "not a url", f"{live_site}/", "--json", WEBRAG_ALLOW_HOSTS=allow)
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert (report["requested"], report["fetched"], report["failed"]) == (2, 1, {"not a url": "invalid_url"})
    assert webrag_here("ingest", "not a url", "nor this").returncode == 2


def test_a_mistyped_host_is_listed_nowhere(webrag_here: Webrag, live_site: str) -> None:
    allow = live_site.removeprefix("http://")
    assert webrag_here("ingest", f"{live_site}/missing", WEBRAG_ALLOW_HOSTS=allow).returncode == 1
    again = webrag_here("ingest", f"{live_site}/missing", WEBRAG_ALLOW_HOSTS=allow)
    assert "failed earlier (not_found, HTTP 404" in again.stderr
    assert json.loads(webrag_here("source", "list", "--json").stdout) == {"sources": []}
    assert json.loads(webrag_here("status", "--json").stdout)["sources"] == []
    assert webrag_here("verify").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("answer", "https://no-such-host.invalid/", "why?"), 1, "dns_failure"),
        (("answer", "SITE/missing", "why?"), 1, "not_found"),
        (("answer", "SITE/error", "why?"), 1, "http_status"),
        (("answer", "SITE/empty", "why?"), 1, "empty_page"),
        (("answer", "SITE/nothing", "why?"), 1, "empty_page"),
        (("answer", "SITE/picture", "why?"), 1, "unsupported_type"),
        (("answer", "http://127.0.0.1:1/", "why?"), 1, "blocked_address"),
        (("answer", "http://[::1", "why?"), 2, "invalid_url"),
        (("answer", "ftp://example.org/", "why?"), 2, "invalid_url"),
        (("answer", "not a url", "why?"), 2, "invalid_url"),
        (("answer", "", "why?"), 2, "invalid_url"),
        (("answer", "SITE/", "   "), 2, "invalid_input"),
        (("answer", "SITE/", "why?", "--budget", "-1"), 2, "invalid_input"),
        (("answer", "SITE/", "why?", "--policy", "oracle"), 2, "invalid_input"),
        (("search", " "), 2, "invalid_input"),
        (("ingest",), 2, "invalid_input"),
        (("ingest", "--warc", "no-such-file.warc.gz"), 2, "invalid_input"),
        (("refresh", "--accept"), 2, "invalid_input"),
    ],
)
def test_bad_input_is_a_clear_error_and_leaves_nothing_half_written(
    webrag_here: Webrag, live_site: str, database_url: str, arguments: tuple[str, ...], code: int, reason: str
) -> None:
    arguments = tuple(argument.replace("SITE", live_site) for argument in arguments)
    done = webrag_here(*arguments, "--json", WEBRAG_ALLOW_HOSTS=live_site.removeprefix("http://"))
    assert done.returncode == code, done.stderr
    assert json.loads(done.stdout)["error"]["code"] == reason
    assert "Traceback" not in done.stderr
    assert set(stored(database_url).values()) <= {0}


@pytest.mark.alone
@pytest.mark.slow
def test_the_script_ends_with_the_code_of_its_error(webrag: Webrag, live_site: str) -> None:
    allow = live_site.removeprefix("http://")
    done = webrag("answer", f"{live_site}/missing", "why?", "--json", WEBRAG_ALLOW_HOSTS=allow)
    assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (1, "not_found")
    assert ("[not_found]\n" in done.stderr, "Traceback" in done.stderr) == (True, False)
    assert webrag("answer").returncode == 2


def test_database_down_is_said_without_the_password(webrag_here: Webrag) -> None:
    url = "postgresql://webrag:hunter2@127.0.0.1:1/webrag"
    for command in (("status",), ("answer", ASYNCIO, QUESTION), ("verify",)):
        done = webrag_here(*command, "--json", DATABASE_URL=url, WEBRAG_WARC=str(FROZEN_SITE))
        assert done.returncode == 1
        assert json.loads(done.stdout)["error"]["code"] == "database_unavailable"
        assert "hunter2" not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_a_bad_setting_is_named_but_its_value_is_not(webrag_here: Webrag) -> None:
    done = webrag_here("status", RERANKER_TOP_N="hunter2")
    assert done.returncode == 2
    assert "RERANKER_TOP_N" in done.stderr
    assert "hunter2" not in done.stderr


def test_wrong_usage_exits_with_two(webrag_here: Webrag) -> None:
    assert webrag_here("answer").returncode == 2
    assert webrag_here("no-such-command").returncode == 2
    assert webrag_here("answer", ASYNCIO, QUESTION, "--mode", "sideways").returncode == 2


@pytest.mark.slow
def test_status_shows_breakers_that_are_not_closed(webrag_here: Webrag, database_url: str) -> None:
    assert json.loads(webrag_here("status", "--json").stdout)["breakers"] == []
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "INSERT INTO breakers (name, failures, opened_at, retry_at, last_reason, last_failure_at) VALUES"
            " ('chat down.example', 5, now(), now() + interval '1 hour', 'HTTP 503', now()),"
            " ('chat shaky.example', 2, NULL, NULL, 'HTTP 429', now())"
        )
    shown = webrag_here("status").stdout
    assert "chat down.example: open, 5 failures in a row (HTTP 503), next try" in " ".join(shown.split())
    assert "shaky.example" not in shown
    listed = json.loads(webrag_here("status", "--json").stdout)["breakers"]
    assert [(one["name"], one["state"], one["failures"], one["last_reason"]) for one in listed] == [
        ("chat down.example", "open", 5, "HTTP 503"),
        ("chat shaky.example", "closed", 2, "HTTP 429"),
    ]
    assert listed[0]["retry_at"]
