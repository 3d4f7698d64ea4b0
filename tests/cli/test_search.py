"""`webrag search` as a user meets it: patterns, filters, errors that name what there is, quotes by version and span."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import psycopg
import pytest

from tests.command_line import Webrag, webrag_here
from tests.conftest import FROZEN_SITE
from webrag_core.errors import InvalidInputError
from webrag_core.retrieval.dates import moment

__all__ = ["webrag_here"]

ASYNCIO = "https://docs.python.org/3.11/library/asyncio.html"
OTHER = "https://docs.python.org/3.11/library/heapq.html"
QUESTION = "Which heap operation keeps the smallest items?"

Search = Callable[..., str]


@pytest.fixture
def search(webrag_here: Webrag, monkeypatch: pytest.MonkeyPatch) -> Search:
    """Run `webrag search` here, on a fresh database; what it printed."""
    monkeypatch.setenv("WEBRAG_WARC", str(FROZEN_SITE))

    def call(*arguments: str) -> str:
        return webrag_here("search", *arguments).stdout

    return call


@pytest.fixture
def filled(search: Search, webrag_here: Webrag, database_url: str) -> Search:
    """Two pages of the frozen site; that on heaps is dated 2022-03-04, the other one not at all."""
    assert webrag_here("ingest", ASYNCIO, OTHER).returncode == 0
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "UPDATE document_versions SET published = '2022-03-04 12:00Z' WHERE document_id ="
            " (SELECT id FROM documents WHERE canonical_url = %s)",
            (OTHER,),
        )
    return search


def test_plain_output_names_version_span_and_date(filled: Search, database_url: str) -> None:
    done = filled(QUESTION, "--quotes", "1", "--since", "2022", "--proof")
    result = json.loads(filled(QUESTION, "--json", "--since", "2022"))
    first = result["citations"][0]
    with psycopg.connect(database_url) as connection:
        row = connection.execute(
            "SELECT text FROM contract.v_document WHERE content_sha256 = %s", (first["version_sha256"],)
        ).fetchone()
    assert row is not None
    assert row[0][first["char_start"] : first["char_end"]] == first["verbatim_text"]
    lines = done.splitlines()
    assert lines[0].startswith("[1] ")
    assert lines[1].startswith(f"    {OTHER}#:~:text=")
    assert lines[1].endswith(f"  relevance {first['relevance']:.0%}, dated 2022-03-04")
    place = f"characters {first['char_start']} to {first['char_end']}, sha256 {first['quote_sha256'][:12]}"
    assert lines[2] == f"    version {first['version_sha256'][:12]}, {place}"
    assert any("»" in line for line in lines), "the sentences that answer are marked"
    assert "sha256" not in filled(QUESTION, "--since", "2022")
    assert any(
        line.startswith("  (") and " more" in line and line.endswith(": --quotes N, --all or --json)") for line in lines
    )
    stats = result["corpus_stats"]
    assert stats["total_documents"] == 1
    searched = f"Searched 1 page, {stats['total_parent_chunks']} passages; {result['candidates']} candidates"
    assert any(line.startswith(f"{searched} (reranked_retrieval), ") for line in lines)
    assert "Warning: pages without a date, excluded by the date filter: 1" in lines


def test_every_pattern_answers_and_says_which_it_was(filled: Search) -> None:
    for arguments, name in (
        (("--pattern", "semantic"), "semantic_search"),
        (("--pattern", "P2", "--alpha", "0.3"), "hybrid_search"),
        (("--pattern", "hybrid", "--fusion", "rrf"), "hybrid_search"),
        (("--pattern", "filtered", "--source", "docs.python.org", "--top-k", "2"), "filtered_retrieval"),
        (("--pattern", "multi_query", "--formulation", "nsmallest heapq"), "multi_query_retrieval"),
    ):
        found = json.loads(filled(QUESTION, *arguments, "--json"))
        assert found["pattern"] == name
        assert found["citations"][0]["source_url"] == OTHER
        assert len(found["chunks"]) <= (2 if "--top-k" in arguments else 20)
        assert all(0 <= one["reranked_score"] <= 1 for one in found["chunks"])
    assert "Also searched for: nsmallest heapq" in filled(
        QUESTION, "--pattern", "P5", "--formulation", "nsmallest heapq"
    )


def test_filters_narrow_and_an_empty_result_says_why(filled: Search) -> None:
    narrowed = json.loads(filled(QUESTION, "--flag", "table", "--flag", "code", "--json"))
    assert narrowed["chunks"]
    assert all({"table", "code"} & set(one["chunk"]["flags"]) for one in narrowed["chunks"])
    for arguments in (("--language", "de"), ("--year", "2021"), ("--until", "2022-03-03"), ("--type", "pdf")):
        assert filled(QUESTION, *arguments).startswith("No results.\n")
    assert filled(QUESTION, "--until", "2022-03-04").startswith("[1] ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--pattern magic", "there are semantic (P1), hybrid (P2), filtered (P3), reranked (P4), multi_query (P5)"),
        ("--pattern filtered", "filtered_retrieval needs a filter: source, URL, date, year, language, type or flag"),
        ("--type docx", "no such document type: docx; there are html, pdf, text, office"),
        ("--flag tables", "no such flag: tables; there are admonition, code, definition_list, image"),
        ("--source nowhere.example", "no such source: nowhere.example; there are none"),
        ("--since yesterday", "since: 'yesterday' is not a date; write 2024, 2024-05, 2024-05-17"),
        ("--since 2024 --until 2023", "until 2023 lies before since 2024"),
        ("--alpha 2 --pattern hybrid", "alpha: 1 at most"),
    ],
)
def test_a_wrong_word_is_answered_with_the_right_ones(webrag_here: Webrag, arguments: str, message: str) -> None:
    done = webrag_here("search", "anything", *arguments.split())
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2024", datetime(2024, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)),
        (" 2024-12 ", datetime(2024, 12, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)),
        ("2024-02", datetime(2024, 2, 1, tzinfo=UTC), datetime(2024, 3, 1, tzinfo=UTC)),
        ("2024-02-29", datetime(2024, 2, 29, tzinfo=UTC), datetime(2024, 3, 1, tzinfo=UTC)),
        ("2024-12-31", datetime(2024, 12, 31, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)),
        ("2024-05-17T09:30", datetime(2024, 5, 17, 9, 30, tzinfo=UTC), datetime(2024, 5, 17, 9, 30, tzinfo=UTC)),
    ],
)
def test_dates_as_people_write_them(text: str, start: datetime, end: datetime) -> None:
    assert moment(text, "--since") == start
    assert moment(text, "--until", end=True) == end


def test_a_time_zone_is_kept() -> None:
    assert moment("2024-05-17T09:30+02:00", "--since").utcoffset() == timezone(timedelta(hours=2)).utcoffset(None)


@pytest.mark.parametrize(
    "text", ["", "0000", "2023-02-29", "2024-13", "24", "2024-5", "٢٠٢٤", "tomorrow", "9999-12-31"]
)
def test_what_is_no_date(text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"--until: .* is not a date; write 2024"):
        moment(text, "--until", end=True)
