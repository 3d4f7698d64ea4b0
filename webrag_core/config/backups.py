"""Backups that the platform makes."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from webrag_core.config.home import HomeSettings


class BackupSettings(HomeSettings):
    """Backups."""

    backup_folder: Path | None = Field(
        default=None, description="Folder of the backups that the platform makes; unset = `backups` of WEBRAG_HOME"
    )
    backups_kept: int = Field(default=7, ge=1, description="Backups in it that stay; the oldest go")

    @property
    def folder_of_backups(self) -> Path:
        """Where the backups that the platform makes lie."""
        return self.backup_folder or self.webrag_home / "backups"
