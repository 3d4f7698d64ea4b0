"""`webrag graph` as a user meets it: sentences under their kinds, JSON, errors, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.sites.packing import write_warc
from tests.command_line import Webrag, webrag_here
from tests.conftest import FROZEN_SITE

__all__ = ["webrag_here"]

QUEUE = "https://docs.python.org/3.11/library/asyncio-queue.html"
IMP = "https://docs.python.org/3.11/library/imp.html"


@pytest.fixture
def filled(webrag_here: Webrag, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Webrag:
    """A corpus of two pages."""
    monkeypatch.setenv("WEBRAG_WARC", str(FROZEN_SITE))
    assert webrag_here("ingest", QUEUE, IMP).returncode == 0
    return webrag_here


def test_every_command_answers_in_text_and_in_json(filled: Webrag) -> None:
    done = filled("graph", "linked", "python:imp.find_module")
    assert done.returncode == 0
    titles = [line for line in done.stdout.splitlines() if line and not line.startswith(" ")]
    assert [title.partition(" (")[0] for title in titles[1:]] == ["documented", "deprecated", "replaced", "mentioned"]
    assert "│ Deprecated since version 3.3: Use" in done.stdout

    result = json.loads(filled("graph", "linked", "python:asyncio.Queue.get", "--json").stdout)
    (answer,) = result["results"]
    assert answer["key"]["status"] == "found"
    assert [edge["kind"] for edge in answer["items"]] == ["defines", "mentions"]
    assert "Nowhere deprecated." in filled("graph", "linked", "python:asyncio.Queue.get").stdout
    assert json.loads(filled("graph", "linked", IMP, "--out", "--kind", "replaces", "--json").stdout)

    under = filled("graph", "under", "asyncio.Queue").stdout.splitlines()
    assert under[1] == "  symbol asyncio.Queue.maxsize"
    up = json.loads(filled("graph", "under", "--up", "asyncio.Queue.get", "--json").stdout)
    assert up["results"][0]["items"][-1]["node"]["key"] == QUEUE

    related = json.loads(filled("graph", "related", "asyncio.Queue", "--of", "page", "--json").stdout)
    assert related["items"][0]["node"]["key"] == QUEUE
    assert "defines" in filled("graph", "related", "asyncio.Queue", "-k", "1").stdout

    now = json.loads(filled("graph", "at", QUEUE, "--date", "now", "--json").stdout)
    assert [page["url"] for page in now["results"][0]["pages"]] == [QUEUE]
    assert "version 1" in filled("graph", "at", QUEUE, "--date", "now").stdout

    check = json.loads(filled("graph", "check", "--json").stdout)
    assert (check["pages"], check["different"], check["missing"]) == (2, [], [])
    assert filled("verify").returncode == 0


SHOP = """<html><head><title>Kettle One</title><link rel="canonical" href="https://shop.test/other">
<script type="application/ld+json">{"@type": "Product", "name": "Kettle One", "brand": {"@type": "Brand",
"name": "ACME\\u202e <b>{0} %s"}, "manufacturer": {"@type": "Organization", "name": "Acme Works"}}</script></head>
<body><main><h1>Kettle One</h1><p>It boils water in three minutes. Acme Works make it.</p></main></body></html>"""


def test_what_mark_up_states_is_told_from_what_the_text_says(
    webrag_here: Webrag, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "kettle.html").write_text(SHOP)
    write_warc(tmp_path / "shop.warc.gz", [("https://shop.test/kettle.html", tmp_path / "kettle.html")])
    monkeypatch.setenv("WEBRAG_WARC", str(tmp_path / "shop.warc.gz"))
    assert webrag_here("ingest", "https://shop.test/kettle.html").returncode == 0
    made = webrag_here("graph", "linked", "acme works").stdout
    assert "described in mark-up (1)" in made
    assert "Kettle One manufacturer Acme Works: " in made
    assert "│ Acme Works make it." in made
    assert "stated in the page's mark-up: JSON-LD: Product" in made
    brand = webrag_here("graph", "linked", "Kettle One", "--out", "--kind", "typed").stdout
    assert "stated in the page's mark-up, not in its text: JSON-LD: Product" in brand
    assert "ACME <b>{0} %s" in brand
    assert "\u202e" not in brand
    same = webrag_here("graph", "linked", "https://shop.test/other", "--kind", "same_as").stdout
    assert 'rel="canonical" https://shop.test/other' in same
    drawn = str(tmp_path / "near.html")
    related = webrag_here("graph", "related", "https://shop.test/kettle.html", "--of", "entity", "--html", drawn)
    assert "Acme Works  (entity Organization:Acme Works)" in related.stdout
    picture = Path(drawn).read_text()
    assert "<b>{0}" not in picture
    assert "manufacturer" in picture
    assert json.loads(webrag_here("graph", "check", "--json").stdout)["different"] == []
    assert webrag_here("verify").returncode == 0


def test_what_cannot_be_answered_says_so(filled: Webrag) -> None:
    unknown = filled("graph", "linked", "no.such.name", "--json")
    assert unknown.returncode == 1
    assert json.loads(unknown.stdout)["results"][0]["key"]["status"] == "unknown_key"
    several = filled("graph", "under", "get_nowait")
    assert several.returncode == 0
    assert filled("graph", "linked", "no.such.name", "asyncio.Queue").returncode == 0
    for arguments in (
        ("related", "asyncio.Queue", "--kind", "nonsense"),
        ("related", "asyncio.Queue", "--of", "nonsense"),
        ("at", "asyncio.Queue", "--date", "soon"),
        ("at", "asyncio.Queue", "--date", "2999"),
        ("related", "asyncio.Queue", "--depth", "3"),
    ):
        done = filled("graph", *arguments, "--json")
        assert done.returncode == 2, arguments
        if "--depth" not in arguments:
            assert json.loads(done.stdout)["error"]["code"] == "invalid_input"


def test_a_check_that_finds_missing_edges_fails_until_they_are_made(filled: Webrag, database_url: str) -> None:
    import psycopg

    with psycopg.connect(database_url) as connection:
        connection.execute("TRUNCATE graph_edges, graph_documents")
    missing = filled("graph", "check")
    assert missing.returncode == 1
    assert "webrag graph check --rebuild" in missing.stdout
    assert filled("graph", "check", "--rebuild").returncode == 0
    assert filled("graph", "check").returncode == 0
