"""Walks to the answers of keys: where they begin, and how they are counted."""

from __future__ import annotations

from evals.answers.key_walks import KeyWalk, home_of, table
from evals.answers.suite_list import own_key_sets


def _walk(status: str, *, answerable: bool = True, holds: bool = False) -> KeyWalk:
    return KeyWalk("tea", "t-1", answerable, status, holds, requests=4, failed=1, read=2, rule="complete")


def test_a_walk_begins_where_every_address_of_the_site_begins() -> None:
    homes = {chosen.name: home_of(chosen) for chosen in own_key_sets(names=["freedombox-25.9", "fishing-licence-1.76"])}
    assert homes == {
        "freedombox-25.9": "https://freedombox.example/plinth/help/manual/en/",
        "fishing-licence-1.76": None,
    }


def test_a_claim_is_false_where_the_facts_are_missing() -> None:
    walks = [
        _walk("answered", holds=True),
        _walk("partial"),
        _walk("likely", holds=True),
        _walk("not_found"),
        _walk("answered", answerable=False),
        _walk("not_found", answerable=False),
    ]
    last = table(walks).splitlines()[-1]
    assert last == "| all (4, 2) | 0.50 | 0.25 | 0.25 | 1 of 2 | 2.0 | 4.0 | 1.0 |"
