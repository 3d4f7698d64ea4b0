"""The measurement of P6: what counts as found, the baselines, and the table."""

from __future__ import annotations

import random
from datetime import UTC, datetime

from evals.graph.boost import Results, at_random, by_titles, pages_in_order, recall, seed_boosted, table, told
from evals.walks.goldens import GoldenQuery, Kind
from webrag_core.retrieval.graph.reach import Reached
from webrag_core.retrieval.models import RetrievedChunk
from webrag_core.retrieval.scope import Scope

SITE = "https://site.example"


def golden(kind: Kind, *needs: list[str]) -> GoldenQuery:
    pages = [[f"{SITE}{path}" for path in need] for need in needs]
    return GoldenQuery(
        id="-".join(path for need in needs for path in need),
        site="site",
        seed_url=f"{SITE}/{kind}",
        query="Which?",
        kind=kind,
        gold_pages=pages,
        gold_quotes=[["quote"] for _ in pages],
        oracle_pages=2,
    )


def chunk(document_id: int, score: float, title: str = "") -> RetrievedChunk:
    return RetrievedChunk(
        chunk_id=document_id,
        document_id=document_id,
        version_id=document_id,
        version_sha256="0" * 64,
        source_url=f"{SITE}/{document_id}",
        title=title,
        text="text",
        heading_path=[],
        chunk_index=0,
        char_start=0,
        char_end=4,
        match_start=0,
        match_end=4,
        match_heading_path=[],
        token_count=1,
        score=score,
        raw_score=score,
        raw_similarity=0.0,
        lexical_score=0.0,
        depth=0,
        flags=[],
        fetched_at=datetime.now(UTC),
    )


def test_every_need_must_have_a_page_among_the_first() -> None:
    asked = golden("multi_page", ["/1", "/2"], ["/3"])
    listed = pages_in_order([chunk(2, 0.9), chunk(2, 0.8), chunk(4, 0.7), chunk(3, 0.6)])
    assert len(listed) == 3
    assert recall(asked, listed, 3) == 1.0
    assert recall(asked, listed, 2) == 0.0


def test_the_boost_of_the_specification_stops_at_one() -> None:
    chunks = [chunk(1, 0.9), chunk(2, 0.8), chunk(3, 0.7)]
    near = {2: Reached(1.0, 1.0, "", ()), 3: Reached(1.0, 1.0, "", ())}
    assert [one.document_id for one in seed_boosted(chunks, near)] == [2, 3, 1]


def test_pages_at_random_have_the_paths_of_those_reached() -> None:
    reached = {1: Reached(0.5, 1.0, "a", (1,)), 2: Reached(0.4, 0.3, "b", (2,))}
    drawn = at_random(reached, Scope(tuple(range(1, 50)), {}), random.Random(3))
    assert sorted(way.strength for way in drawn.values()) == [0.4, 0.5]
    assert len(drawn.keys() | reached.keys()) == 4


def test_the_ceiling_lifts_gold_pages_that_are_reached_and_no_other() -> None:
    reached = {1: Reached(0.5, 0.2, "a", (1,)), 2: Reached(0.4, 1.0, "b", (2,))}
    names = dict(enumerate(pages_in_order([chunk(1, 1.0), chunk(2, 0.9)]), start=1))
    assert told(golden("two_hop", ["/1", "/3"]), reached, names) == {1: Reached(0.5, 1.0, "a", (1,))}


def test_titles_alone_are_compared_with_the_best_one() -> None:
    close = by_titles([chunk(1, 0.9, "Signing keys"), chunk(2, 0.8, "Keys")], {"sign": 3.0, "key": 1.0})
    assert (close[1].closeness, close[2].closeness) == (1.0, 0.25)


def test_the_table_has_the_paired_difference_of_each_kind_of_question() -> None:
    results = Results()
    for kind, base, own in (("two_hop", "/9", "/1"), ("on_seed", "/1", "/1")):
        results.goldens.append(golden(kind, ["/1"]))  # type: ignore[arg-type]
        pages = {"reranked": base, "graph": own}
        results.pages.append({name: pages_in_order([chunk(int(path[1:]), 0.5)]) for name, path in pages.items()})
    lines = table(results)
    assert lines[0] == "two_hop, multi_page: 1 questions, 1 seed pages"
    assert "@10 1.000 (+1.000 [+1.000, +1.000], 1 won, 0 lost)" in lines[2]
    assert "@10 1.000 (+0.000 [+0.000, +0.000], 0 won, 0 lost)" in lines[5]
