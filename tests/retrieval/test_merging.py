"""Merging of sub-queries and rounds."""

from __future__ import annotations

from tests.orchestration.test_signals import ranked
from webrag_core.retrieval import merging as merger
from webrag_core.retrieval.models import RankedChunk


def ids(chunks: list[RankedChunk]) -> list[int]:
    return [chunk.chunk.chunk_id for chunk in chunks]


def test_more_sub_queries_than_places_do_not_break_the_limit() -> None:
    found = [[ranked(number, number / 10)] for number in range(1, 5)]
    assert ids(merger.merge_sub_queries(found, limit=1)) == [1]
    assert ids(merger.merge_sub_queries(found, limit=3)) == [3, 2, 1]


def test_every_sub_query_has_its_share_and_the_rest_goes_by_score() -> None:
    loud = [ranked(number, 0.9 - number / 100) for number in range(1, 5)]
    quiet = [ranked(number, 0.1) for number in range(11, 15)]
    assert ids(merger.merge_sub_queries([loud, quiet], limit=4)) == [1, 2, 11, 12]
    assert ids(merger.merge_sub_queries([loud, quiet[:1]], limit=4)) == [1, 2, 3, 11]


def test_a_chunk_found_twice_keeps_its_best_score() -> None:
    first = [ranked(1, 0.9), ranked(2, 0.8), ranked(3, 0.5)]
    second = [ranked(3, 0.2)]
    merged = merger.merge_sub_queries([first, second], limit=2)
    assert [(chunk.chunk.chunk_id, chunk.reranked_score) for chunk in merged] == [(1, 0.9), (3, 0.5)]


def test_rounds_add_up_and_the_latest_score_counts() -> None:
    merged = merger.accumulate([ranked(1, 0.9), ranked(2, 0.8)], [ranked(2, 0.3), ranked(3, 0.4)])
    assert [(chunk.chunk.chunk_id, chunk.reranked_score) for chunk in merged] == [(1, 0.9), (3, 0.4), (2, 0.3)]


def test_evidence_never_mixes_two_versions_of_a_page() -> None:
    new = ranked(3, 0.4, document=1)
    new.chunk.version_id = 2
    merged = merger.accumulate([ranked(1, 0.9, document=1), ranked(2, 0.8, document=2)], [new])
    assert ids(merged) == [2, 3]
