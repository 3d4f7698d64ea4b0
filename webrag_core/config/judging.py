"""Who judges whether evidence suffices."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from webrag_core.config.group import SettingsGroup


class JudgingSettings(SettingsGroup):
    """Judging."""

    judge: Literal["auto", "local", "llm"] = Field(
        default="auto",
        description="Who judges whether evidence suffices: numbers (local), or in doubt the chat model too (llm);"
        " auto = llm when ORCHESTRATION_LLM_* names a key or a URL",
    )
    judge_doubt_from: float = Field(
        default=0.35, ge=0, le=1, description="Probability of the local judge from which the chat model is asked too"
    )
    judge_doubt_to: float = Field(
        default=0.97,
        ge=0,
        le=1,
        description="Probability of the local judge from which it is sure enough without the chat model",
    )
