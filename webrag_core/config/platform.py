"""Dagster: what it does by itself, and its UI."""

from __future__ import annotations

from pydantic import Field

from webrag_core.config.home import HomeSettings
from webrag_core.config.values import Key


class PlatformSettings(HomeSettings):
    """Dagster."""

    webrag_automation: bool = Field(
        default=True,
        description="Dagster's sensors and schedules run from the start, or (false) when switched on",
    )
    webrag_failed_pages_warn: float = Field(
        default=0.2, gt=0, le=1, description="Share of a source's pages that fail, from which on a check warns"
    )
    webrag_failed_pages_error: float = Field(
        default=0.5, gt=0, le=1, description="Share of a source's pages that fail, from which on it is an error"
    )
    webrag_evals_folder: str | None = Field(
        default=None,
        description="Where run logs and reports of evaluations are kept for all machines: a folder, or an address of"
        " fsspec, as s3://bucket/evals; unset = evals in the home",
    )
    webrag_ui_hosts: str = Field(
        default="", description="Host headers that the UI answers besides loopback, host or host:port,…"
    )
    webrag_ui_token: Key = Field(
        default=None,
        repr=False,
        description="What browsers must show once as ?token=…, other clients as bearer token; unset on loopback = that"
        " of WEBRAG_HOME/ui-token",
    )
