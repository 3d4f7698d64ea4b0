"""The chat model, and what it is asked for."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from webrag_core.config.group import SettingsGroup
from webrag_core.config.values import BaseUrl, Key


class ChatSettings(SettingsGroup):
    """Chat model."""

    orchestration_llm_base_url: BaseUrl = Field(
        default=None, description="OpenAI-compatible chat endpoint, as http://127.0.0.1:8000/v1; unset = no chat model"
    )
    orchestration_llm_api_key: Key = Field(
        default=None, repr=False, description="Alone it means https://api.openai.com/v1; unset = no chat model"
    )
    webrag_openai: bool = Field(
        default=False,
        description="Whether OPENAI_API_KEY is used for the chat model, where no ORCHESTRATION_LLM_API_KEY or _BASE_URL"
        " is set; never for embeddings",
    )
    orchestration_llm_model: str = Field(default="gpt-4o-mini", min_length=1, description="Name of the chat model")
    orchestration_llm_timeout: float = Field(
        default=20.0, gt=0, description="Seconds for one query analysis, retries and correction included"
    )
    decomposition_mode: Literal["llm", "rule_based", "none"] = Field(
        default="rule_based", description="Unset = llm when ORCHESTRATION_LLM_* names a key or a URL, else rule_based"
    )
    answer_chat_calls: int = Field(
        default=6, ge=0, description="Exchanges with the chat model for one answer in prose, of any step"
    )
