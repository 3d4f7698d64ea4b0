"""The default link scorer: what it reads, what it does without anything to read."""

from __future__ import annotations

import pytest

from webrag_core.orchestration.link_ranking import WEIGHTS, words_and_meaning
from webrag_core.orchestration.link_scoring import LinkCandidate

SITE = "https://site.example"


def link(path: str, *anchors: str, context: str = "", title: str | None = None) -> LinkCandidate:
    """A link on the front page."""
    return LinkCandidate(
        url=f"{SITE}/{path}", from_url=f"{SITE}/", link_depth=1, anchor_texts=anchors, context=context, title=title
    )


def order(query: str, *candidates: LinkCandidate) -> list[str]:
    """Paths of the candidates, best first."""
    return [scored.url.removeprefix(f"{SITE}/") for scored in words_and_meaning(candidates, query)]


def test_the_weights_add_up_to_one() -> None:
    assert sum(WEIGHTS.values()) == pytest.approx(1)


def test_rare_words_of_the_question_lead() -> None:
    links = [link("a", "Python queues"), link("b", "Python timeouts"), link("c", "Python sockets")]
    assert order("How do timeouts work in Python?", *links)[0] == "b"


def test_meanings_meet_where_no_word_is_shared() -> None:
    links = [link("a", "Cooking recipes"), link("b", "Automobile repair"), link("c", "Tax law")]
    assert order("How do I fix my car?", *links)[0] == "b"


def test_the_sentence_the_title_and_the_path_count() -> None:
    said = [link("1", "here", context="Prices of the tickets are listed here."), link("2", "here", context="Home.")]
    assert order("What does a ticket cost?", *reversed(said))[0] == "1"
    assert order("ticket prices", link("1", "more"), link("2", "more", title="Ticket prices"))[0] == "2"
    assert order("ticket prices", link("x/y", "more"), link("ticket-prices", "more"))[0] == "ticket-prices"


@pytest.mark.parametrize("query", ["", "!!!", "the of and", "何ですか", "\u0627\u0644\u0633"])
def test_scores_stay_in_range_and_ties_go_by_url(query: str) -> None:
    links = [link("b"), link("a", ""), link("c", "x" * 5_000)]
    scored = words_and_meaning(links, query)
    assert all(0 <= each.score <= 1 and min(each.score_breakdown.values()) >= 0 for each in scored)
    assert words_and_meaning(list(reversed(links)), query) == scored
    assert words_and_meaning([], query) == []
