"""Pauses between attempts at a model's endpoint, noted instead of waited out."""

from __future__ import annotations

import pytest

from webrag_core.providers import retry as patience


def noted_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The list into which the seconds go that would have been waited, from now on."""
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(patience, "sleep", pause)
    return waited
