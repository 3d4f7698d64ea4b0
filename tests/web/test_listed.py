"""What a list says of an answer: green is for what is answered and stands, and for nothing else."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from webrag_core.answering.models import Band
from webrag_core.history.answers import StoredAnswer
from webrag_core.web.listed import ListedAnswer

DAY = datetime(2026, 1, 1, tzinfo=UTC)


def row(band: Band | None = "high", quotes: dict[str, int] | None = None, **run: Any) -> ListedAnswer:
    """An answer in a list."""
    fields = {"kind": "prose", "state": "done", "reason": None, "probability": 0.9, "seed_url": None, **run}
    answer = StoredAnswer(answer_id=1, query="Which tea?", started_at=DAY, citations=0, **fields)
    return ListedAnswer(answer, band, Counter(quotes or {"valid": 2}))


@pytest.mark.parametrize(
    ("listed", "verdict", "look"),
    [
        (row("high"), "answered", "standing"),
        (row("medium"), "answered", "standing"),
        (row("high", {"valid": 1, "changed": 1}), "answered", "doubtful"),
        (row("low"), "answered in part", "doubtful"),
        (row("likely"), "likely", "doubtful"),
        (row("high", {"valid": 0}), "forgotten", "refused"),
        (row(None, kind="evidence", probability=0.95, status="forgotten"), "forgotten", "refused"),
        (row("insufficient"), "no answer", "refused"),
        (row(None, state="failed"), "failed", "refused"),
        (row(None, state="running"), "running", "refused"),
        (row(None, kind="evidence", probability=0.95), "evidence", "standing"),
        (row(None, kind="evidence", probability=0.1), "no sure evidence", "refused"),
    ],
)
def test_only_what_is_answered_and_stands_is_green(listed: ListedAnswer, verdict: str, look: str) -> None:
    assert (listed.verdict, listed.look) == (verdict, look)


def test_quotes_of_a_refused_answer_prove_nothing() -> None:
    assert [row(band).has_sentences for band in ("high", "low", "likely", "insufficient")] == [True, True, False, False]
