"""What the groups of settings have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class SettingsGroup(BaseModel):
    """Settings that are read together. The first line of a group's docstring is its heading in the documentation."""

    # hide_input_in_errors: what was given may be a secret; defer_build: only `Settings` is ever made
    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True, defer_build=True)
