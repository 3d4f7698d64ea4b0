"""When an endpoint that fails is left alone."""

from __future__ import annotations

from pydantic import Field

from webrag_core.config.group import SettingsGroup


class BreakerSettings(SettingsGroup):
    """Breakers."""

    breaker_failures: int = Field(
        default=5, ge=1, description="Transient failures in a row after which an endpoint is not asked for a while"
    )
    breaker_seconds: float = Field(default=60.0, gt=0, description="Seconds until one process tries it again")
