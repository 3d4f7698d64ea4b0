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


def test_version_is_part_of_the_contract() -> None:
    assert TERMS_VERSION == 2


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
