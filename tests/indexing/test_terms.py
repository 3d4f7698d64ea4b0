"""Terms: a query and a page must be cut the same way, code included."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.indexing import terms as terms_module
from webrag_core.indexing.terms import TERMS_VERSION, terms
from webrag_core.language.stop_words import ENGLISH


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The running tasks", ["run", "task"]),
        ("task, Task; TASKS", ["task", "task", "task"]),
        ("asyncio.to_thread", ["asyncio.to_thread", "asyncio", "to_thread", "thread"]),
        ("to_thread()", ["to_thread", "thread"]),
        ("TaskGroups", ["taskgroup", "task", "group"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("std::move", ["std::move", "std", "move"]),
        ("max_pages_2", ["max_pages_2", "max", "page"]),
        ("__init__", ["init"]),
        ("PyPI", ["pypi"]),
        ("node.js", ["node.js", "node", "js"]),
        ("C++ and C#, not C", ["c++", "c#", "c"]),
        ("Python 3.11.4", ["python", "3.11.4"]),
        ("8MiB or 2.5GB", ["8mib", "8", "mib", "2.5gb", "2.5", "gb"]),
        ("5300mAh", ["5300mah", "5300", "mah"]),
        ("1,000 and 2'500", ["1000", "1", "000", "2500", "2", "500"]),
        ("1.000.000", ["1000000", "1.000.000"]),
        ("3.11.100 0.123", ["3.11.100", "0.123"]),
        ("2nd 3rd x86 h264 0x1f", ["2nd", "3rd", "x86", "h264", "0x1f"]),
        ("HTTP 404", ["http", "404"]),
        ("state-of-the-art", ["state", "art"]),
        ("It's what you don't do.", []),
        ("Café Zürich", ["cafe", "zurich"]),
        ("東京都", ["東京", "京都"]),
        ("ららら", ["らら", "らら"]),
        ("Python3で書く", ["python3", "python", "で書", "書く"]),
        ("# [link](https://example.test/x)", ["link", "https", "example.test", "exampl", "test", "x"]),
        ("", []),
        ("--- ... ¶", []),
        ("a" * 65, []),
        ("a" * 60 + ".run", ["a" * 60 + ".run", "a" * 60, "run"]),
        ("a" * 61 + ".run", ["a" * 61, "run"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize("apart", ["8 MiB", "2.5 GB", "12 V", "5300 mAh", "30 ms", "16 px", "1.5 kWh"])
def test_a_unit_is_found_with_and_without_a_blank(apart: str) -> None:
    assert set(terms(apart)) <= set(terms(apart.replace(" ", "")))


@pytest.mark.parametrize("written", ["1,000", "1.000", "1 000", "1'000", "1\u202f000", "1\u00a0000", "1’000"])
def test_thousands_are_found_however_they_are_grouped(written: str) -> None:
    assert "1000" in terms(written)
    assert "12345678" in terms(written.replace("1", "12").replace("000", "345") + written[1] + "678")


def test_version_is_part_of_the_contract() -> None:
    assert TERMS_VERSION == 3


@given(st.lists(st.sampled_from(sorted(ENGLISH))))
def test_stop_words_give_nothing(words: list[str]) -> None:
    assert terms(" ".join(words).title()) == []


@given(st.text())
def test_lower_case_and_repeatable(text: str) -> None:
    found = terms(text)
    assert found == terms(text)
    assert all(found)
    assert all(term == term.lower() for term in found)


@given(st.text(), st.text())
def test_lines_can_be_cut_apart(above: str, below: str) -> None:
    assert terms(f"{above}\n{below}") == terms(above) + terms(below)


def test_threads_share_one_cache() -> None:
    words = [f"{stem}{ending}" for stem in ("walk", "jump", "call") for ending in ("", "s", "ed", "ing")] * 50
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(terms, words))
    assert {term for one in found for term in one} == {"walk", "jump", "call"}


def test_a_word_is_analysed_once_however_often_it_occurs(monkeypatch: pytest.MonkeyPatch) -> None:
    analysed: list[str] = []

    class Counting(terms_module._TermCache):
        def __missing__(self, word: str) -> tuple[str, ...]:
            analysed.append(word)
            return super().__missing__(word)

    counting = Counting()
    monkeypatch.setattr(terms_module, "_cache", lambda name: counting)
    text = "Waits for all tasks in asyncio.TaskGroup and cancels the remaining ones.\n" * 14_000
    assert len(terms(text)) > 100_000
    assert len(analysed) == len(set(analysed)) == 11
