"""web-platform-tests' URL cases: our host is the one a browser asks, or the URL is refused and the reason is policy."""

from __future__ import annotations

from collections import Counter
from typing import Any

import ada_url
import pytest

from tests.suites import url_cases
from webrag_core.acquisition.urls import MAX_LABEL_CHARS, canonicalise
from webrag_core.errors import FetchError, Reason

HTTP = ("http:", "https:")
EVERY = url_cases()
# what http(s) URLs come out of, and what fails although it starts as one
HTTP_LIKE = [
    case
    for case in EVERY
    if (case["input"].strip().lower().startswith(HTTP) if case.get("failure") else case["protocol"] in HTTP)
]


def policy(case: dict[str, Any]) -> str | None:
    """Why we refuse a URL that the standard takes, from what the suite says of it; None for what we take."""
    if case["username"] or case["password"]:
        return "it holds a user name or password"
    labels = case["hostname"].removesuffix(".").split(".")
    if not case["hostname"].startswith("[") and not all(0 < len(label) <= MAX_LABEL_CHARS for label in labels):
        return "its host name has an empty or too long part"
    return None


def outcome(case: dict[str, Any]) -> str:
    if case.get("failure"):
        return "no URL"
    return policy(case) or "taken"


def test_the_suite_is_whole() -> None:
    assert len(EVERY) == 869
    assert Counter(map(outcome, HTTP_LIKE)) == {
        "no URL": 203,
        "taken": 200,
        "it holds a user name or password": 26,
        "its host name has an empty or too long part": 3,
    }


def test_hosts_are_the_suites_or_the_url_is_refused() -> None:
    for case in HTTP_LIKE:
        url, base = case["input"], case["base"]
        if outcome(case) == "taken":
            parsed = ada_url.URL(canonicalise(url, base))
            wanted = (case["protocol"], case["host"], case["pathname"])
            assert (parsed.protocol, parsed.host, parsed.pathname) == wanted, case
            continue
        with pytest.raises(FetchError) as refused:
            pytest.fail(f"{canonicalise(url, base)} is what becomes of {case}")
        assert refused.value.reason is Reason.INVALID_URL, case
        if not case.get("failure"):
            # policy refused it, not another reading of the host
            assert str(policy(case)) in refused.value.message, case
            assert ada_url.URL(url, base).host == case["host"], case


def test_every_case_is_answered_or_refused() -> None:
    """Also those of other schemes: nothing but a typed error comes out."""
    for case in EVERY:
        try:
            canonical = canonicalise(case["input"], case["base"])
        except FetchError:
            continue
        assert case.get("protocol") in HTTP, case
        assert canonicalise(canonical) == canonical
