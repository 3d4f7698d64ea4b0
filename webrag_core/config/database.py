"""Where the database is, and the means of the embedded one."""

from __future__ import annotations

from pydantic import Field

from webrag_core.config.home import HomeSettings
from webrag_core.config.values import Trimmed


class DatabaseSettings(HomeSettings):
    """Database."""

    database_url: Trimmed = Field(
        default=None, repr=False, description="PostgreSQL with pgvector; unset = the embedded server"
    )
    database_lock_timeout: float = Field(
        default=30.0, ge=0.001, description="Seconds that a statement waits for a lock of another session"
    )
    database_statement_timeout: float = Field(
        default=600.0, ge=0.001, description="Seconds for one statement; prune, verify, index builds take their time"
    )
    database_shared_buffers: int | None = Field(
        default=None, ge=16, description="MB of pages in the embedded server's memory; unset = an eighth of the memory"
    )
    database_maintenance_memory: int | None = Field(
        default=None, ge=1, description="MB in which the embedded server builds one index; unset = a quarter"
    )
    database_maintenance_workers: int | None = Field(
        default=None, ge=0, description="Its processes that build an index beside the first; unset = cores less one"
    )
    webrag_keep_database_seconds: float = Field(
        default=0.0,
        ge=0,
        le=3_600,
        description="Seconds that the embedded server runs on after its last user, so that the next command need not"
        " start it; 0 = a command leaves no process behind",
    )
