"""The frontier and its scores are the same however much of them was worked out before."""

from __future__ import annotations

from random import Random

import pytest

from webrag_core.acquisition.traps import count_patterns, find_trap
from webrag_core.acquisition.urls import page_key, source_key
from webrag_core.corpus.documents import StoredLink
from webrag_core.orchestration import link_scorers
from webrag_core.orchestration.frontier import Frontier, _target
from webrag_core.orchestration.link_scorers import LinkCandidate, words_and_meaning
from webrag_core.orchestration.models import RunDocument

SITE = "https://site.example"
TARGETS = (
    *(f"{SITE}/day/{number}" for number in range(20)),
    *(
        f"{SITE}{path}"
        for path in ("/", "/index.html", "/a/", "/a/index.html", "/a/index.html?x=1", "/b", "/b/b/b/b/b")
    ),
    *("https://elsewhere.example/a", "http://site.example/b", f"{SITE}:8443/b"),
)


def walk(random: Random) -> Frontier:
    """A run over a few pages whose links and visits are random."""
    made = Frontier((f"{SITE}/",))
    for number in range(random.randint(1, 12)):
        url = f"{SITE}/day/{number}" if number else f"{SITE}/"
        made.depths[number], made.urls[number] = min(number, 3), url
        made.visited.add(page_key(url))
        made.patterns.update(count_patterns([url]))
        made.documents.append(
            RunDocument(url=url, document_id=number, round=number, link_depth=min(number, 3), outcome="fetched")
        )
        made.links[number] = [
            StoredLink(number, url, target, random.choice(("more", "bridge", "")), "", [], False, None, None)
            for target in random.choices(TARGETS, k=random.randint(0, 30))
        ]
    return made


@pytest.mark.slow
def test_every_link_to_an_unvisited_page_of_the_site_is_a_candidate_once() -> None:
    random = Random(3)
    for _ in range(100):
        made = walk(random)
        _target.cache_clear()
        fresh = made.candidates()
        assert made.candidates() == fresh
        targets = [link.target_url for number in sorted(made.links) for link in made.links[number]]
        wanted = {
            page_key(target)
            for target in targets
            if source_key(target) == "site.example" and page_key(target) not in made.visited
        }
        spelled = {page: next(target for target in targets if page_key(target) == page) for page in wanted}
        assert {candidate.url for candidate in fresh} == {
            url for url in spelled.values() if find_trap(url, made.patterns) is None
        }
        assert len({page_key(candidate.url) for candidate in fresh}) == len(fresh)


def test_scores_do_not_depend_on_what_was_asked_before() -> None:
    links = [LinkCandidate(target, f"{SITE}/", 1, (text,)) for target in TARGETS for text in ("bridge", "toll span")]
    queries = [f"Which {word} is the longest?" for word in ("bridge", "river", "", "\u2603", "toll " * 50)]
    fresh = []
    for query in queries:
        link_scorers._query_cosines.cache_clear()
        link_scorers._FEATURES.clear()
        fresh.append(words_and_meaning(links, query))
    assert [words_and_meaning(links, query) for query in queries] == fresh
    assert link_scorers._query_cosines.cache_info().hits
