"""Where the corpus lies."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, field_validator

from webrag_core.config.group import SettingsGroup
from webrag_core.corpus_home import corpus_home


class HomeSettings(SettingsGroup):
    """Where data lives."""

    webrag_home: Path = Field(
        default_factory=corpus_home,
        description="Folder of the corpus; unset = .webrag of the working directory if it is there, else the user's"
        " data folder",
    )

    @field_validator("webrag_home", mode="before")
    @classmethod
    def _blank_home(cls, home: object) -> object:
        return corpus_home() if home == "" else home
