"""The oracle's way through sites drawn by hand, and through the frozen ones."""

from __future__ import annotations

import asyncio

from evals.judging.oracle import best_pages, links_within, oracle_scores
from evals.walks.goldens import load_goldens
from evals.walks.scoring import METRICS, summarise
from evals.walks.site_map import key_of, read_site
from evals.walks.suites import own_suites


def site_of(**links: str) -> dict[str, list[str]]:
    return {name: list(targets) for name, targets in links.items()}


def test_the_way_is_the_shortest_and_in_walking_order() -> None:
    site = site_of(s="xy", x="ab", y="c", a="", b="d", c="", d="")
    assert best_pages(site, "s", []) == ["s"]
    assert best_pages(site, "s", [["s"]]) == ["s"]
    assert best_pages(site, "s", [["d"]]) == ["s", "x", "b", "d"]
    assert best_pages(site, "s", [["a"], ["b"]]) == ["s", "x", "a", "b"]
    assert best_pages(site, "s", [["d"], ["b"]]) == ["s", "x", "b", "d"], "b lies on the way to d"
    assert set(best_pages(site, "s", [["c", "a"], ["d"]]) or []) == {"s", "x", "a", "b", "d"}
    assert best_pages(site, "a", [["s"]]) is None
    assert best_pages(site, "s", [["nowhere"]]) is None


def test_it_agrees_with_the_goldens_of_a_real_site() -> None:
    suite = own_suites()["debian-handbook-11"]
    site = asyncio.run(read_site(suite.warc))
    links = {key: page.links for key, page in site.pages.items()}
    for golden in load_goldens(suite.golden):
        needs = [[key_of(url) for url in need] for need in golden.gold_pages]
        way = best_pages(links, key_of(golden.seed_url), needs)
        assert way is not None
        assert len(way) == golden.oracle_pages, golden.id
        for place, page in enumerate(way[1:], start=1):
            assert any(page in links[earlier] for earlier in way[:place]), "every page is linked from an earlier one"
        assert all(set(need) & set(way) for need in needs)


def test_what_no_fetched_page_links_to_hangs_on_the_seed() -> None:
    site = site_of(s="x", x="a", a="", z="a")
    assert links_within(site, ["s", "x", "a"]) == {"s": ["x"], "x": ["a"], "a": []}
    assert links_within(site, ["s", "a"]) == {"s": ["a"], "a": []}
    assert links_within(site, ["s", "unheard-of"]) == {"s": ["unheard-of"], "unheard-of": []}


def test_the_oracle_is_right_about_everything() -> None:
    goldens = load_goldens(own_suites()["rust-1.63"].golden)
    row = summarise(goldens, oracle_scores(goldens), METRICS)["all"]
    assert [row[metric].mean for metric in ("success", "quotes", "stop_exact", "utility", "net")] == [1.0] * 5
    assert row["false_claim"].mean == 0
