"""Pauses between attempts at a model's endpoint, noted instead of waited out."""

from __future__ import annotations

import pytest

from webrag_core.providers import rate_limits, retry


def noted_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The list into which the seconds go that would have been waited, from now on."""
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    for module in (retry, rate_limits):
        monkeypatch.setattr(module, "sleep", pause)
    return waited
