"""The absolute score: its parts against values computed by hand, and odd queries and passages."""

from __future__ import annotations

import numpy as np
import pytest

from webrag_core.indexing.passages import Passage, extract_passages
from webrag_core.indexing.terms import terms
from webrag_core.providers.static_model import token_ids, token_vectors, token_weights
from webrag_core.retrieval.scoring import (
    PassageScores,
    lexical_share,
    profile,
    score_passages,
)
from webrag_core.retrieval.weights import SHIPPED

QUERY = "How does the event loop cancel a task group?"
IDF = dict(zip(dict.fromkeys(terms(QUERY)), (1.0, 2.0, 3.0, 1.5, 0.5), strict=True))


def scores(query: str, *passages: str, idf: dict[str, float] | None = None) -> PassageScores:
    weights = dict.fromkeys(terms(query), 1.0) if idf is None else idf
    return score_passages(profile(query, weights), extract_passages(passages))


def test_the_parts_make_one_whole() -> None:
    assert SHIPPED.vector().sum() == pytest.approx(1.0)


def test_coverage_is_the_idf_share_of_the_terms_held() -> None:
    assert list(IDF) == ["event", "loop", "cancel", "task", "group"]
    found = scores(QUERY, "Loops and tasks.", "Nothing of it.", "Cancelling task groups in event loops.", idf=IDF)
    assert found.coverage == pytest.approx([3.5 / 8, 0.0, 1.0])


def test_neighbours_count_when_they_stand_close_in_either_order() -> None:
    far = "event " + "x " * 30 + "loop"
    found = scores(QUERY, "an event loop", "a loop of event handlers", far, "event loop; task group", idf=IDF)
    total = 1.0 + 2.0 + 1.5 + 0.5  # the lesser idf of each neighbouring two
    assert found.proximity == pytest.approx([1 / total, 1 / total, 0.0, 1.5 / total])


def test_neighbours_do_not_meet_across_passages() -> None:
    assert scores(QUERY, "an event", "loop", idf=IDF).proximity.tolist() == [0.0, 0.0]


def test_meaning_is_the_weighted_best_cosine_of_each_token() -> None:
    query, passage = "cancel a coroutine", "The task was aborted."
    ids = np.unique(token_ids([query])[0])
    cosines = token_vectors()[ids] @ token_vectors()[np.unique(token_ids([passage])[0])].T
    weights = token_weights()[ids]
    expected = float(cosines.max(axis=1) @ (weights / weights.sum()))
    assert scores(query, passage).token_match == pytest.approx([expected], abs=1e-5)
    assert scores(query, query).token_match == pytest.approx([1.0], abs=1e-5)


def test_a_family_knows_what_each_of_its_members_knows() -> None:
    query = profile("cancel a coroutine", {"cancel": 1.0, "coroutin": 1.0})
    first, second, whole = extract_passages(["The task was cancelled.", "A coroutine waits.", "Unrelated zebras."])
    found = score_passages(query, [first, second, whole], [7, 7, 9])
    both = Passage(first.terms, np.unique(np.concatenate([first.tokens, second.tokens])))
    assert found.sibling[:2] == pytest.approx([score_passages(query, [both]).token_match[0]] * 2, abs=1e-6)
    assert found.sibling[2] == found.token_match[2]


def test_a_family_takes_each_part_from_the_member_that_is_best_at_it() -> None:
    found = scores(QUERY, "an event loop", "a task group", "zebras", idf=IDF)
    cosine = np.array([0.1, 0.5, 0.3], dtype=np.float32)
    joined = found.total_by_parent(cosine, [4, 4, 9])
    best = SHIPPED.coverage * found.coverage[:2].max() + SHIPPED.proximity * found.proximity[:2].max()
    best += SHIPPED.token_match * found.token_match[:2].max() + SHIPPED.sibling * found.sibling[:2].max()
    best += SHIPPED.cosine * 0.5
    assert joined == pytest.approx([best, found.total(cosine)[2]])
    assert scores(QUERY).total_by_parent(np.empty(0, dtype=np.float32), []).shape == (0,)


def test_a_better_passage_scores_higher_and_all_lie_between_0_and_1() -> None:
    good = "To cancel a task group, let the event loop raise an exception in its body."
    joined = scores(QUERY, good, "A group of people.", "", "!?", idf=IDF).total(np.array([1.0, 0.2, -1.0, 0.0]))
    assert joined[0] > joined[1] > joined[2]
    assert ((joined >= 0) & (joined <= 1 - SHIPPED.lexical + 1e-6)).all()


@pytest.mark.parametrize("query", ["what is it", "!?", "кошка", "猫", "\u202e", "word " * 10_000])
def test_odd_queries_have_finite_scores(query: str) -> None:
    found = scores(query, "A cat sleeps.", "кошка спит", "")
    assert np.isfinite(found.total(np.zeros(3, dtype=np.float32))).all()


def test_another_script_is_found_by_its_own_words() -> None:
    assert scores("кошка спит", "кошка спит", "A cat sleeps.").coverage.tolist() == [1.0, 0.0]


def test_no_passages_and_no_terms_are_no_error() -> None:
    assert score_passages(profile("cat", {"cat": 1.0}), []).coverage.shape == (0,)
    assert scores("of the", "A cat.").coverage.tolist() == [0.0]
    assert lexical_share(profile("of the", {}), extract_passages(["A cat."])).tolist() == [0.0]


def test_a_lexical_share_is_bm25_at_mean_length() -> None:
    query = profile("cat dog", {"cat": 1.0, "dog": 3.0})
    found = lexical_share(query, extract_passages(["cat cat", "dog", "bird"]))
    assert found == pytest.approx([2 / 3.2 / 4, 3 / 2.2 / 4, 0.0])
