"""All settings."""

from __future__ import annotations

import os
from typing import Any, Self

from pydantic import ConfigDict, model_validator

from webrag_core.config.alerts import AlertSettings
from webrag_core.config.answering import AnsweringSettings
from webrag_core.config.backups import BackupSettings
from webrag_core.config.costs import CostSettings
from webrag_core.config.database import DatabaseSettings
from webrag_core.config.expansion import ExpansionSettings
from webrag_core.config.fetching import FetchingSettings
from webrag_core.config.indexing import IndexingSettings
from webrag_core.config.platform import PlatformSettings
from webrag_core.config.retention import RetentionSettings
from webrag_core.config.retrieval import RetrievalSettings
from webrag_core.config.serving import ServingSettings
from webrag_core.config.stopping import StoppingSettings
from webrag_core.env_file import by_setting


class Settings(
    AlertSettings,
    PlatformSettings,
    ServingSettings,
    CostSettings,
    AnsweringSettings,
    StoppingSettings,
    ExpansionSettings,
    RetrievalSettings,
    IndexingSettings,
    RetentionSettings,
    FetchingSettings,
    BackupSettings,
    DatabaseSettings,
):
    """All knobs of the library, with the defaults of the specification. Pages show the last group first."""

    model_config = ConfigDict(defer_build=False)

    @model_validator(mode="before")
    @classmethod
    def _in_environment(cls, given: dict[str, Any]) -> dict[str, Any]:
        """What the caller gives, then the environment: variables as they are, as no setting is a structure."""
        variables = by_setting(os.environ)
        return {name: variables[name] for name in cls.model_fields if name in variables} | given

    @model_validator(mode="after")
    def _llm_where_there_is_one(self) -> Self:
        # the specification's default is llm, and without a key rule_based
        has_model = self.orchestration_llm_base_url is not None or self.orchestration_llm_api_key is not None
        if has_model:
            for name in {"decomposition_mode", "answer_composer"} - self.model_fields_set:
                object.__setattr__(self, name, "llm")
        if self.judge == "auto":
            object.__setattr__(self, "judge", "llm" if has_model else "local")
        return self
