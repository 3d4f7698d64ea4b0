"""URLs that a site can make without end."""

from __future__ import annotations

import pytest

from webrag_core.acquisition.traps import MAX_PAGES_PER_PATTERN, count_patterns, find_trap, url_pattern
from webrag_core.corpus.documents import StoredLink
from webrag_core.errors import Reason
from webrag_core.orchestration.frontier import Frontier

SITE = "https://site.example"


@pytest.mark.parametrize(
    "path",
    [
        "/" + "/".join(f"x{number}" for number in range(21)),
        "/a/a/a/",
        "/a/b/a/b/a/b",
        "/shop/red/x/red/y/red/z/red",
        "/about/img/about/img/about/img/page.html",
        "/?q=" + "x" * 2_000,
    ],
)
def test_traps(path: str) -> None:
    error = find_trap(SITE + path, {})
    assert error is not None
    assert error.reason is Reason.CRAWLER_TRAP


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/a/a/b.html",
        "/numpy/numpy/blob/main/numpy/core",
        "/2011/11/11/11/11",
        "/" + "/".join(f"x{number}" for number in range(20)),
        "/3.11/library/asyncio-task.html?highlight=task#x",
        "/https://other.example/page",
    ],
)
def test_honest_urls(path: str) -> None:
    assert find_trap(SITE + path, {}) is None


def test_patterns_fold_numbers_but_not_those_of_the_host() -> None:
    assert url_pattern("https://v2.example/2024/05?day=17") == "https://v2.example/0/0?day=0"
    assert url_pattern("https://v2.example/2023/12?day=1") == "https://v2.example/0/0?day=0"
    assert url_pattern("https://v2.example/words") is None
    assert url_pattern("https://v2.example") is None


def test_a_calendar_ends() -> None:
    days = [f"{SITE}/calendar?year={2000 + number}&month={number}" for number in range(1, 50)]
    taken = count_patterns(days[:MAX_PAGES_PER_PATTERN])
    assert find_trap(days[-1], count_patterns(days[: MAX_PAGES_PER_PATTERN - 1])) is None
    assert find_trap(days[-1], taken) is not None
    assert find_trap(f"{SITE}/calendar", taken) is None
    assert find_trap(days[-1], taken, max_per_pattern=100) is None


def test_the_frontier_offers_no_traps() -> None:
    walk = Frontier((SITE + "/",))
    walk.depths[1], walk.urls[1] = 0, SITE + "/"
    targets = [f"{SITE}/a/a/a/a", f"{SITE}/day/99", f"{SITE}/about"]
    walk.links[1] = [StoredLink(1, walk.urls[1], target, "text", "", [], False, None, None) for target in targets]
    walk.patterns = count_patterns(f"{SITE}/day/{day}" for day in range(10))
    assert [candidate.url for candidate in walk.candidates()] == [f"{SITE}/about"]
