"""The demo question is none of those that the loop is measured by."""

from __future__ import annotations

from evals.walks.goldens import load_goldens
from evals.walks.scoring import page_of
from evals.walks.suites import own_suites
from webrag_dagster.demo import DEMO_URL

ANSWER = "https://docs.python.org/3.11/library/math.html"


def test_no_golden_starts_where_the_demo_starts_or_ends_where_it_ends() -> None:
    goldens = [golden for suite in own_suites().values() for golden in load_goldens(suite.golden)]
    seeds = {page_of(golden.seed_url) for golden in goldens}
    gold = {page_of(url) for golden in goldens for need in golden.gold_pages for url in need}
    assert page_of(DEMO_URL) not in seeds | gold
    assert page_of(ANSWER) not in seeds | gold
