"""`webrag ask`: what a user and a program see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from tests.command_line import Webrag, webrag_here
from tests.conftest import FROZEN_SITE
from webrag_core.cli.ask import Forms
from webrag_core.routing.question import Form

__all__ = ["webrag_here"]

QUEUES = "https://docs.python.org/3.11/library/asyncio-queue.html"
QUESTION = "Is asyncio.Queue thread safe?"
FROZEN = {"WEBRAG_WARC": str(FROZEN_SITE), "WEBRAG_READER": "none"}


def test_ask_prints_sentences_and_writes_pages(webrag_here: Webrag, tmp_path: Path) -> None:
    html, markdown = tmp_path / "answer.html", tmp_path / "answer.md"
    done = webrag_here(
        *(
            "ask",
            QUESTION,
            "--url",
            QUEUES,
            "--budget",
            "0",
            "--html",
            str(html),
            "--markdown",
            str(markdown),
            "--proof",
        ),
        **FROZEN,
    )
    assert done.returncode == 0, done.stderr
    assert "not thread-safe" in done.stdout
    assert "verbatim: the page's own words" in done.stdout
    assert done.stdout.startswith("Answered")
    assert f"written: {html}\nwritten: {markdown}\n" in done.stderr
    assert "<mark>Although asyncio queues are not thread-safe" in html.read_text(encoding="utf-8")
    assert QUESTION.rstrip("?") in markdown.read_text(encoding="utf-8")

    again = tmp_path / "again.md"
    opened = webrag_here("answers", "show", "1", "--markdown", str(again), **FROZEN)
    assert "not thread-safe" in opened.stdout
    assert again.read_text(encoding="utf-8") == markdown.read_text(encoding="utf-8")
    assert "Its quotes today" in opened.stdout
    verified = json.loads(webrag_here("verify", "--json", **FROZEN).stdout)
    assert verified["violations"] == []
    assert verified["sentences"] >= 1
    replayed = webrag_here("replay", "1", **FROZEN)
    assert "is in prose" in replayed.stderr
    again = webrag_here("replay", "1", "--answers", "--json", **FROZEN)
    assert json.loads(again.stdout)["same"]
    assert again.returncode == 0


def test_a_plan_is_printed_and_nothing_is_run(webrag_here: Webrag) -> None:
    done = webrag_here("plan", QUESTION, "--url", QUEUES, **FROZEN)
    assert done.returncode == 0, done.stderr
    assert f"walk: pages – read {QUEUES} and follow links (required)" in done.stdout
    assert "Nothing was run." in done.stdout
    made = json.loads(webrag_here("plan", QUESTION, "--url", QUEUES, "--json", **FROZEN).stdout)
    assert made["made_by"] == "rules: unknown_site"
    assert [task["params"]["kind"] for task in made["tasks"]] == ["pages.walk"]
    assert json.loads(webrag_here("answers", "list", "--all", "--json", **FROZEN).stdout) == {"answers": []}
    assert json.loads(webrag_here("status", "--json", **FROZEN).stdout)["sources"] == []


def test_a_stream_is_one_object_a_line(webrag_here: Webrag) -> None:
    done = webrag_here("ask", QUESTION, "--url", QUEUES, "--budget", "0", "--stream", "--form", "explain", **FROZEN)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    types = [event["type"] for event in events]
    assert types[:3] == ["planned", "phase", "page"]
    assert [one for one in types if one not in ("phase", "page")][:4] == ["planned", "round", "task_done", "citation"]
    assert types[-1] == "done"
    assert events[-1]["answer"]["walk"][0]["pages"] == [QUEUES]


def test_errors_have_a_status_as_json(webrag_here: Webrag) -> None:
    blocked = webrag_here("ask", "x" * 9_000, "--json", **FROZEN)
    assert blocked.returncode == 2
    output = json.loads(blocked.stdout)
    assert output["status"] == "blocked"
    assert "at most 8,000" in output["error"]["message"]
    missing = webrag_here("ask", QUESTION, "--url", "https://site.example/", "--json", **FROZEN)
    assert missing.returncode == 1
    assert json.loads(missing.stdout)["status"] == "failed"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--html", "/nowhere/a.html"), "/nowhere/a.html cannot be written: there is no folder /nowhere"),
        (("--markdown", "/"), "/ cannot be written: it is a folder"),
        (("--json", "--stream"), "--json prints one object, --stream one a line"),
        (("--form", "sonnet"), "Invalid value for '--form'"),
    ],
)
def test_what_cannot_work_is_refused_before_asking(webrag_here: Webrag, options: tuple[str, ...], problem: str) -> None:
    done = webrag_here("ask", QUESTION, "--url", QUEUES, *options, **FROZEN)
    assert done.returncode == 2
    assert problem in done.stderr
    assert json.loads(webrag_here("answers", "list", "--all", "--json", **FROZEN).stdout) == {"answers": []}


def test_a_warning_is_said_once(webrag_here: Webrag) -> None:
    question = ("ask", QUESTION, "--url", QUEUES, "--budget", "3")
    limited = {**FROZEN, "MAX_EXPANSION_DEPTH": "0"}
    done = webrag_here(*question, **limited)
    assert done.stdout.count("expansion budget 3 lowered to 0") == 1
    assert "expansion budget" not in done.stderr
    stale = {**limited, "WEBRAG_MAX_AGE": "0"}  # else the stored page is enough, and nothing is read again
    as_json = webrag_here(*question, "--json", **stale)
    assert "expansion budget" in " ".join(json.loads(as_json.stdout)["warnings"])
    assert "expansion budget" not in as_json.stderr


def test_without_an_answer_few_passages_are_printed(webrag_here: Webrag) -> None:
    question = "Which planet has the largest queue of moons?"
    asked = webrag_here("ask", question, "--url", QUEUES, "--budget", "0", "--fail-unless-answered", **FROZEN)
    assert asked.returncode == 3
    short = asked.stdout
    assert short.startswith("No answer: ")
    assert "The nearest passages\n" in short
    assert "  [1] Queues — Python 3.11.2 documentation" in short
    assert short.count("      │ ") >= 3
    assert "      │ :" not in short
    assert "support" not in short
    stored = json.loads(webrag_here("answers", "show", "1", "--json", **FROZEN).stdout)
    more = len(stored["highlights"]) - 3
    assert more > 0
    assert f"({more} more: webrag answers show 1 --all)" in short
    whole = webrag_here("answers", "show", "1", "--all", **FROZEN).stdout
    assert f"  [{len(stored['highlights'])}] Queues" in whole
    assert "more: webrag" not in whole


def test_the_parts_without_an_answer_are_named(webrag_here: Webrag) -> None:
    question = "Which planet has the largest queue of moons, and how is bread baked?"
    done = webrag_here("ask", question, "--url", QUEUES, "--budget", "0", **FROZEN)
    assert "below_floor" not in done.stdout
    assert done.stdout.count("– nothing sure enough was found for this part") == 2


def test_the_forms_are_those_of_an_answer() -> None:
    assert set(get_args(Forms)) == set(get_args(Form))


def test_what_is_stored_is_asked_without_a_fetch(webrag_here: Webrag) -> None:
    webrag_here("ingest", QUEUES, **FROZEN)
    live = {"WEBRAG_READER": "none"}  # no snapshot: a fetch would go to the web, and fail
    done = webrag_here("ask", QUESTION, "--json", **live)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert "not thread-safe" in " ".join(one["quote"] for one in answer["citations"])
    assert answer["confidence_note"].startswith("calibrated")
    past = json.loads(webrag_here("ask", QUESTION, "--at", "now", "--json", **live).stdout)
    assert past["confidence_note"] == "uncalibrated: fitted for what is stored today"
    assert answer["spent"]["pages"] == 0
