"""Recorded runs for the tests of what is made from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from evals.recorded import RecordedRun
from tests.evals.recordings import recorder


@dataclass(frozen=True)
class Recordings:
    """The same items under several policies and limits."""

    matrix: list[RecordedRun]
    until_cap: list[RecordedRun]
    two_rounds: list[RecordedRun]
    three_pages: list[RecordedRun]
    floored: list[RecordedRun]

    @property
    def all(self) -> list[RecordedRun]:
        return [*self.matrix, *self.until_cap, *self.two_rounds, *self.three_pages, *self.floored]


@pytest.fixture(scope="session")
def recordings(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recordings]:
    with recorder(server_url, tmp_path_factory.mktemp("recordings")) as record:
        yield Recordings(
            matrix=record("matrix", "seed-matrix"),
            until_cap=record("until-cap", "", until_cap=True, webrag_max_pages=12),
            two_rounds=record("two-rounds", "fixed-k:2"),
            three_pages=record("three-pages", "fixed-k:5", webrag_max_pages=3),
            floored=record("floored", "fixed-k:5", expansion_min_candidate_score=0.2),
        )
