"""The vectors of Google's robots.txt parser: allowed or not, with the three that we read otherwise named."""

from __future__ import annotations

import json
from typing import Any

from tests.conftest import REPOSITORY
from webrag_core.acquisition.robots import parse_robots
from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError

VECTORS: list[dict[str, Any]] = json.loads((REPOSITORY / "tests/suites/robots/google_vectors.json").read_text("utf-8"))
READ_OTHERWISE = "ID_Encoding"
"""Rules and URLs that spell one character with and without percent-escapes: RFC 9309 wants them to meet, protego
compares them as they are written."""


def allowed(vector: dict[str, Any]) -> bool:
    """What our reading says."""
    url = canonicalise(vector["url"] or "http://foo.bar/")  # an empty URL stands for the site
    try:
        parse_robots(vector["robots"], vector["agent"]).check(url)
    except FetchError:
        return False
    return True


def test_only_three_are_read_otherwise() -> None:
    different = [vector for vector in VECTORS if allowed(vector) != vector["allowed"]]
    assert len(VECTORS) == 142
    assert len(different) <= 3
    assert {vector["test"] for vector in different} <= {READ_OTHERWISE}, different
