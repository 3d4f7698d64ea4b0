"""How an answer in prose is planned and composed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from webrag_core.config.chat import ChatSettings
from webrag_core.config.judging import JudgingSettings
from webrag_core.config.reranking import RerankingSettings
from webrag_core.env_file import warn_retired


class AnsweringSettings(ChatSettings, JudgingSettings, RerankingSettings):
    """Answers in prose."""

    answer_max_words: int = Field(default=120, ge=20, le=1_000, description="Words of an answer in prose")
    answer_composer: Literal["llm", "extractive"] = Field(
        default="extractive",
        description="Who chooses the sentences of an answer; unset = llm when ORCHESTRATION_LLM_* names a key or a URL",
    )
    answer_llm_timeout: float = Field(
        default=30.0, gt=0, description="Seconds for the sentences of one answer, retries and correction included"
    )
    answer_seconds: float = Field(
        default=60.0, ge=1, description="Seconds for one answer in prose, everything included"
    )
    answer_iterations: int = Field(
        default=2, ge=1, le=3, description="Plans for one answer in prose: the first, and others for what is open"
    )
    webrag_router: Literal["rules", "llm"] = Field(
        default="rules", description="Who plans answers in prose: rules, or the chat model"
    )

    @field_validator("webrag_router", mode="before")
    @classmethod
    def _without_the_fitted_router(cls, router: object) -> object:
        if router != "model":
            return router
        warn_retired("WEBRAG_ROUTER=model", "rules plan instead")
        return "rules"
