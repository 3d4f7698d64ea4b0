"""The settings of this process, out of its environment and the file of settings."""

from __future__ import annotations

import os

from pydantic import ValidationError

from webrag_core.config.settings import Settings
from webrag_core.corpus_home import env_file, stray_env_files
from webrag_core.env_file import (
    by_setting,
    misspelt,
    read_env_file,
    retired,
    tell_of_openai_key,
    warn_misspelt,
    warn_retired,
    warn_stray,
)
from webrag_core.errors import InvalidInputError

_KEYS_AND_ENDPOINTS = (
    ("embedding_api_key", "embedding_base_url"),
    ("firecrawl_api_key", "firecrawl_api_url"),
    ("orchestration_llm_api_key", "orchestration_llm_base_url"),
    ("reranker_api_key", "reranker_base_url"),
)


def load_settings(**overrides: object) -> Settings:
    """Read the environment and the file of settings once. `overrides` win over both (used by the CLI and tests).

    Raises InvalidInputError naming the offending variable, never its value (it may be a secret); for a file that is
    not safe to read; and for a key and an endpoint of which one is in the environment and the other in the file.
    """
    for file in stray_env_files():
        warn_stray(file)
    for name, instead in retired(os.environ).items():
        warn_retired(name, instead)
    for name, near in misspelt(os.environ, Settings.model_fields).items():
        if near or name.upper().startswith("WEBRAG_"):
            warn_misspelt(name, near)
    file_read = env_file()
    in_environment = by_setting(os.environ).keys() | overrides.keys()
    named = read_env_file(file_read, Settings.model_fields) if file_read else {}
    in_file = {
        name: value for name, value in named.items() if name in Settings.model_fields and name not in in_environment
    }
    try:
        settings = Settings(**in_file, **overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in item['loc']).upper()}: {item['msg']}"
            for item in error.errors(include_input=False, include_url=False)
        )
        raise InvalidInputError(f"bad setting: {problems}") from None
    openai_key = os.environ.get("OPENAI_API_KEY", named.get("openai_api_key", "")).strip()
    if openai_key and settings.orchestration_llm_api_key is None and settings.orchestration_llm_base_url is None:
        if settings.webrag_openai:
            return load_settings(**{**overrides, "orchestration_llm_api_key": openai_key})
        if "webrag_openai" not in settings.model_fields_set:
            tell_of_openai_key()
    for pair in _KEYS_AND_ENDPOINTS:
        mixed = (pair[0] in in_file) != (pair[1] in in_file)
        if mixed and not overrides.keys() & set(pair) and None not in (getattr(settings, name) for name in pair):
            key, endpoint = (name.upper() for name in pair)
            raise InvalidInputError(
                f"{key} and {endpoint} are set in two places, the environment and {file_read}: a key is sent only to"
                " the endpoint that was set beside it, so set both in one of them"
            )
    return settings
