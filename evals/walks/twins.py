"""Unanswerable twins: the same question, asked of the site without the pages that answer it.

A run that claims to have found the answer of a twin is wrong for certain, whatever it quotes.
"""

from __future__ import annotations

from collections.abc import Sequence

from evals.walks.goldens import GoldenQuery
from webrag_core.acquisition.urls import page_key

_SUFFIX = "-without"


class Twin(GoldenQuery):
    """An unanswerable question; `excluded` are the URLs that are taken out of the site for it."""

    excluded: tuple[str, ...]


def twins_of(goldens: Sequence[GoldenQuery]) -> list[Twin]:
    """The twins of the answerable goldens whose start page is not among the pages that answer."""
    twins = []
    for golden in goldens:
        excluded = tuple(dict.fromkeys(url for need in golden.gold_pages for url in need))
        if excluded and page_key(golden.seed_url) not in map(page_key, excluded):
            values = golden.model_dump() | {"id": f"{golden.id}{_SUFFIX}", "kind": "unanswerable", "oracle_pages": 1}
            twins.append(Twin(**values | {"gold_pages": [], "gold_quotes": [], "excluded": excluded}))
    return twins


def with_twins(goldens: Sequence[GoldenQuery]) -> list[GoldenQuery]:
    """The goldens and their twins."""
    return [*goldens, *twins_of(goldens)]


def is_twin(item: str) -> bool:
    """Whether the id of an item is that of a twin."""
    return item.endswith(_SUFFIX)
