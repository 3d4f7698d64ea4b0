"""Link scorers: every signal of the baseline by hand, absent texts, and the order of the default scorer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.orchestration.frontier import parent_urls
from webrag_core.orchestration.link_scorers import SEED_WEIGHTS, WEIGHTS, LinkCandidate, seed_weights, words_and_meaning
from webrag_core.orchestration.models import ScoredCandidate
from webrag_core.orchestration.query_analyzer import analyze_query

QUERY = "How do I cancel a task group?"  # terms: cancel, task, group
ANALYSIS = analyze_query(QUERY)
BARE = LinkCandidate(url="https://example.test/", from_url="https://example.test/start", link_depth=1, in_degree=1)


def score(**changes: object) -> ScoredCandidate:
    return seed_weights([replace(BARE, **changes)], QUERY, ANALYSIS)[0]  # type: ignore[arg-type]


def test_weights_are_the_specified_ones() -> None:
    assert SEED_WEIGHTS == {"url_path": 0.15, "title": 0.4, "description": 0.3, "in_degree": 0.05, "depth": 0.1}


def test_all_five_signals() -> None:
    found = score(
        url="https://example.test/lib/task-groups.html",
        title="Task groups",
        description="How a group is cancelled.",
        in_degree=3,
        link_depth=2,
    )
    third = 1 / 3
    assert found.score_breakdown == pytest.approx(
        {"url_path": 2 * third, "title": 2 * third, "description": 2 * third, "in_degree": 0.6, "depth": 0.6}
    )
    assert found.score == pytest.approx(0.85 * 2 * third + 0.05 * 0.6 + 0.10 * 0.6)


def test_a_perfect_candidate_scores_one() -> None:
    words = "cancel task group"
    found = score(
        url="https://example.test/cancel_task_group",
        title=words,
        description=words,
        in_degree=5,
        link_depth=0,
    )
    assert found.score == pytest.approx(1.0)


def test_a_long_description_does_not_sink() -> None:
    short = score(description="Cancel a task group.")
    long = score(description="Cancel a task group. " + "Something else entirely follows here. " * 50)
    assert long.score_breakdown["description"] == short.score_breakdown["description"] == 1.0


def test_identifiers_meet_plain_words() -> None:
    assert score(title="asyncio.TaskGroup").score_breakdown["title"] == pytest.approx(2 / 3)
    assert score(url="https://example.test/api/TaskGroup.cancel").score_breakdown["url_path"] == pytest.approx(1)
    assert score(url="https://example.test/task%20group").score_breakdown["url_path"] == pytest.approx(2 / 3)


def test_anchor_and_sentence_stand_in() -> None:
    found = score(anchor_texts=("here", "Task groups"), context="To cancel one, read on.")
    assert found.score_breakdown["title"] == pytest.approx(2 / 3)
    assert found.score_breakdown["description"] == pytest.approx(1 / 3)
    assert found.anchor_text == "Task groups"
    mapped = score(anchor_texts=("Task groups",), context="cancel", title="Billing", description="Invoices")
    assert (mapped.score_breakdown["title"], mapped.score_breakdown["description"]) == (0.0, 0.0)


@pytest.mark.parametrize("anchor", ["here", "Read more »", "  ", "¶", "click here."])
def test_an_anchor_that_says_nothing_is_no_title(anchor: str) -> None:
    found = score(anchor_texts=(anchor,))
    assert "title" not in found.score_breakdown
    assert found.anchor_text == anchor


def test_the_weight_of_absent_texts_goes_to_those_present() -> None:
    url = "https://example.test/task/cancel"  # two of the three terms
    base = 0.05 * 0.2 + 0.10 * 0.8
    assert score(url=url).score == pytest.approx(0.85 * 2 / 3 + base)
    with_title = score(url=url, title="Group")
    assert with_title.score == pytest.approx(0.85 * (0.15 * 2 / 3 + 0.40 / 3) / 0.55 + base)
    assert "description" not in with_title.score_breakdown


def test_a_bare_url_cannot_live_on_depth_and_in_degree() -> None:
    assert score(url="https://example.test/imprint", in_degree=50).score < 0.2


@pytest.mark.parametrize(("in_degree", "value"), [(0, 0.0), (1, 0.2), (5, 1.0), (500, 1.0)])
def test_in_degree(in_degree: int, value: float) -> None:
    assert score(in_degree=in_degree).score_breakdown["in_degree"] == pytest.approx(value)


@pytest.mark.parametrize(("link_depth", "value"), [(0, 1.0), (1, 0.8), (5, 0.0), (9, 0.0)])
def test_depth(link_depth: int, value: float) -> None:
    assert score(link_depth=link_depth).score_breakdown["depth"] == pytest.approx(value)


def test_best_first_then_by_url() -> None:
    urls = ["https://example.test/b", "https://example.test/task", "https://example.test/a"]
    found = seed_weights([replace(BARE, url=url) for url in urls], QUERY, ANALYSIS)
    assert [c.url for c in found] == [urls[1], urls[2], urls[0]]


def test_a_query_of_stop_words_scores_no_text() -> None:
    found = seed_weights([replace(BARE, title="The Who")], "the who", analyze_query("the who"))[0]
    assert found.score == pytest.approx(0.05 * 0.2 + 0.10 * 0.8)


texts = st.text(max_size=30) | st.sampled_from(["cancel", "task group", "here", "ꙮ"])


@given(
    st.lists(
        st.builds(
            LinkCandidate,
            url=st.sampled_from(["https://[", "x", ""]) | texts,
            from_url=texts,
            anchor_texts=st.lists(texts, max_size=3).map(tuple),
            context=texts,
            heading_path=st.just(()),
            title=st.none() | texts,
            description=st.none() | texts,
            link_depth=st.integers(-1, 20),
            in_degree=st.integers(-1, 20),
            in_navigation=st.booleans(),
        ),
        max_size=6,
    ),
    texts.filter(str.strip),
)
def test_scores_are_shares_whatever_the_page_says(candidates: list[LinkCandidate], query: str) -> None:
    found = seed_weights(candidates, query, analyze_query(query))
    assert len(found) == len(candidates)
    for candidate in found:
        assert 0 <= candidate.score <= 1
        assert all(0 <= value <= 1 for value in candidate.score_breakdown.values())
        assert candidate.score_breakdown.keys() <= SEED_WEIGHTS.keys()


@pytest.mark.parametrize(
    ("url", "parents"),
    [
        (
            "https://example.test/stable/modules/ensemble.html",
            ["https://example.test/stable/modules/", "https://example.test/stable/"],
        ),
        ("https://example.test/a/b/", ["https://example.test/a/"]),
        ("https://example.test:8443/a/b?q=1#top", ["https://example.test:8443/a/"]),
        ("https://example.test/a//b", ["https://example.test/a/"]),
        ("https://example.test/a", []),
        ("https://example.test/", []),
        ("https://example.test", []),
        ("mailto:someone@example.test", []),
        ("/a/b/c", []),
        ("https://[", []),
    ],
)
def test_parent_urls(url: str, parents: list[str]) -> None:
    assert parent_urls(url) == parents


# --- words-and-meaning ---

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
