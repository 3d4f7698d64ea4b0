"""Counts, times and reasons in words; parts of long comparisons."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from webrag_core.corpus.source_pages import CorpusContents
from webrag_core.errors import Reason
from webrag_core.history.compare import PageComparison, VersionText
from webrag_core.history.diff import diff_texts
from webrag_core.retrieval import filters
from webrag_core.retrieval.quotes import matching_words
from webrag_core.web import phrases
from webrag_core.web.comparing import comparison_part
from webrag_core.web.phrases import ago, counted, language_text, reason_text
from webrag_core.web.query import pager
from webrag_core.web.rendering import fragment
from webrag_core.web.searching import NUMBERS, SearchForm

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("distance", "words"),
    [
        (timedelta(seconds=3), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(hours=23, minutes=59), "23 hours ago"),
        (timedelta(days=29), "29 days ago"),
        (timedelta(days=800), "2 years ago"),
        (-timedelta(seconds=3), "in a moment"),
        (-timedelta(days=45), "in 1 month"),
    ],
)
def test_times_are_told_in_their_largest_unit(distance: timedelta, words: str) -> None:
    assert ago(NOW - distance, NOW) == words


def test_every_reason_has_words() -> None:
    texts = {reason: reason_text(reason) for reason in Reason}
    assert all("_" not in text and text != reason.value for reason, text in texts.items())
    assert len(set(texts.values())) == len(texts)


def test_every_filter_has_words() -> None:
    assert set(phrases.TYPES) == set(filters.TYPES)
    assert set(phrases.FLAGS) == set(filters.FLAGS)


def test_the_search_form_names_few_sources_and_suggests_many() -> None:
    def form(contents: CorpusContents) -> str:
        values = {"results": None, "problem": "", "types": phrases.TYPES, "flags": phrases.FLAGS, "numbers": NUMBERS}
        values |= {"is_member": True, "can_log_out": False, "reads_all": True}
        return fragment("search", form=SearchForm(), contents=contents, here="/search", **values)

    assert form(CorpusContents(["a.example", "b.example"], {"en": 2})).count('name="source"') == 2
    many = form(CorpusContents([f"{number}.example" for number in range(900)], {"en": 2, "de": 1}))
    assert many.count('name="source"') == 1
    assert many.count("<option value=") < 510
    assert "Nothing is stored yet" in form(CorpusContents([], {}))


def test_counts_and_languages() -> None:
    assert counted(1, "page") == "1 page"
    assert counted(12_000, "page") == "12,000 pages"
    assert language_text("en-gb") == "English (en-gb)"
    assert language_text("") == "not clear"


def test_words_of_a_query_are_marked_in_any_form_and_script() -> None:
    def words(passage: str, query: str, language: str | None = "en") -> list[str]:
        return [span.of(passage) for span in matching_words(passage, query, language)]

    assert words("Running tasks: run the Task.", "How do I run a task?") == ["Running", "tasks", "run", "Task"]
    assert words("`asyncio.Queue` and QueueFull", "queue") == ["asyncio.Queue", "QueueFull"]
    assert words("Größe der Häuser", "Haus Größe", "de") == ["Größe", "Häuser"]
    assert words("明日の東京都の天気", "東京の天気", "ja") == ["東京", "の天気"]
    assert words("nothing of it", "tea") == []


def test_a_pager_leads_to_the_pages_beside_it() -> None:
    first = pager("/x", {"q": "a b", "empty": ""}, page=1, size=10, rows=11)
    assert (first.first, first.last, first.before, first.after) == (1, 10, None, "/x?q=a+b&page=2")
    last = pager("/x", {}, page=2, size=10, rows=3)
    assert (last.first, last.last, last.before, last.after) == (11, 13, "/x?", None)


def version(number: int, text: str) -> VersionText:
    return VersionText(
        version_id=number,
        version=number,
        url="https://tea.example/",
        sha256=f"{number}" * 64,
        title="Tea",
        seen_from=NOW,
        seen_last=NOW,
        text=text,
    )


def compared(before: str, after: str) -> PageComparison:
    return PageComparison(
        url="https://tea.example/",
        before=version(1, before),
        after=version(2, after),
        diff=diff_texts(before, after),
    )


def test_a_long_comparison_comes_in_parts_that_hold_every_change_once() -> None:
    blocks = [f"茶 {number} " + " ".join(f"w{number}x{place}" for place in range(400)) for number in range(40)]
    changed = [block.replace("茶", "tea") if number % 2 else block for number, block in enumerate(blocks)]
    comparison = compared("\n\n".join(blocks), "\n\n".join(changed))
    first = comparison_part(comparison, 1)
    parts = [comparison_part(comparison, number) for number in range(1, first.parts + 1)]
    assert first.parts > 2
    assert all(sum(len(row.left.encode()) for run in part.runs for row in run.rows) < 60_000 for part in parts)
    edited = [row for part in parts for run in part.runs for row in run.rows if row.kind == "edited"]
    assert len(edited) == 20
    assert comparison_part(comparison, 99).number == first.parts
    assert not first.is_cut


def test_the_end_of_a_very_long_block_is_left_out() -> None:
    comparison = compared("Same.", "Same.\n\n" + "<b>tea</b> " * 20_000)
    part = comparison_part(comparison, 1)
    (row,) = [row for run in part.runs for row in run.rows if row.kind == "added"]
    assert part.is_cut
    assert len(row.right.encode()) < 40_000
    assert "<b>" not in row.right
