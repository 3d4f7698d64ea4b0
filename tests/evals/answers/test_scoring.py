"""What counts as the gold sentence, and which corruptions are made."""

from __future__ import annotations

import random

from evals.answers.proofs import corruptions
from evals.answers.scoring import gold_shares
from evals.walks.goldens import GoldenQuery

PAGE = "https://example.org/tea"
QUOTE = "Green tea is brewed at seventy degrees for three minutes."
GOLDEN = GoldenQuery(
    id="tea",
    site="tea",
    seed_url=PAGE,
    query="How hot is green tea brewed?",
    kind="on_seed",
    gold_pages=[[PAGE]],
    gold_quotes=[[QUOTE]],
    oracle_pages=1,
)


def test_a_sentence_counts_by_the_share_of_the_quote_that_it_holds() -> None:
    assert gold_shares(GOLDEN, PAGE, f"Note: *{QUOTE}* Enjoy.") == {0: 1.0}
    half = gold_shares(GOLDEN, PAGE, "Green tea is brewed at seventy degrees")
    assert 0.5 < half[0] < 1
    assert gold_shares(GOLDEN, PAGE, "Black tea is brewed at ninety degrees.") == {}
    assert gold_shares(GOLDEN, "https://example.org/coffee", QUOTE) == {}


def test_corruptions_change_the_sentence() -> None:
    sentence = "All servers must wait 30 seconds, unless Tomcat is told otherwise."
    changed = dict(corruptions(sentence, random.Random(1)))
    assert changed.keys() == {"negation", "quantifier", "modality", "unit", "number", "name", "clauses"} - {
        "quantifier"
    }
    assert all(one != sentence for one in changed.values())
    assert "31 seconds" in changed["number"]
