"""What work may cost."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from webrag_core.config.home import HomeSettings


class CostSettings(HomeSettings):
    """Cost."""

    prices_file: Path | None = Field(
        default=None, description="What providers charge (TOML); unset = WEBRAG_HOME/prices.toml, if it is there"
    )
    max_cost_per_answer: float | None = Field(
        default=None, ge=0, description="Cost, by the file of prices, from which an answer follows no more links"
    )
    max_cost_per_day: float | None = Field(
        default=None, ge=0, description="The same for all work of a day (UTC); unset = no limit"
    )
