"""How long records stay."""

from __future__ import annotations

from pydantic import Field

from webrag_core.config.home import HomeSettings


class RetentionSettings(HomeSettings):
    """Retention (`webrag prune`)."""

    ledger_retention_days: float = Field(default=90.0, ge=1, description="Days that ledger lines and refreshes stay")
    outbox_retention_days: float = Field(
        default=30.0, ge=1, description="Days that outbox lines stay; longer where a known reader has not read them"
    )
    outbox_reader_days: float = Field(
        default=90.0, ge=1, description="Days without a sign after which a reader of the outbox counts as gone"
    )
    answer_round_retention_days: float = Field(
        default=180.0, ge=1, description="Days that the rounds of an answer can be replayed; the answer itself stays"
    )
    version_retention_days: float | None = Field(
        default=None, ge=1, description="Days that a superseded text stays; cited ones always do; unset = all do"
    )
    retired_model_days: float = Field(
        default=30.0, ge=0, description="Days that the vectors of a retired embedding model stay"
    )
