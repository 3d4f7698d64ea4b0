"""How pages are fetched, by whom, and when again."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from pydantic import Field, SecretStr, field_validator

from webrag_core.config.breakers import BreakerSettings
from webrag_core.config.home import HomeSettings
from webrag_core.config.values import BaseUrl, Key, Trimmed, installed
from webrag_core.errors import InvalidInputError
from webrag_core.plugins import ACQUIRERS


class FetchingSettings(HomeSettings, BreakerSettings):
    """Fetching."""

    webrag_warc: Path | None = Field(
        default=None, description="Replay this frozen site (WARC) instead of fetching live pages"
    )
    webrag_acquirer: Trimmed = Field(
        default=None,
        description="Who fetches live pages: http, or a plugin such as firecrawl; unset = firecrawl where that is set"
        " up, else http",
    )
    webrag_allow_hosts: str = Field(
        default="", description="host:port,… that may be private addresses (everything else must be public)"
    )
    webrag_logins: SecretStr | None = Field(
        default=None,
        repr=False,
        description="File (TOML, mode 600) with what is sent to sites behind a log-in, or the same as JSON",
    )
    webrag_user_agent: str = Field(
        default="webrag/0.1 (research memory)", description="What sites see as the name of the client"
    )
    webrag_fetch_timeout: float = Field(default=25.0, gt=0, description="Seconds for one page, redirects included")
    webrag_max_body_bytes: int = Field(default=20_000_000, gt=0, description="Cap on one decoded page")
    webrag_obey_robots: bool = Field(default=True, description="Whether robots.txt is obeyed when fetching live pages")
    webrag_host_concurrency: int = Field(default=2, ge=1, description="Pages of one host fetched at the same time")
    webrag_max_age: float | None = Field(
        default=None,
        ge=0,
        description="Seconds since a stored page answered after which it is fetched again; unset = never",
    )
    webrag_retry_errors_after: float = Field(
        default=3600.0,
        ge=0,
        description="Seconds before answers ask a URL again that timed out, or got HTTP 5xx or 429, a wall or a notice",
    )
    webrag_retry_missing_after: float = Field(
        default=86_400.0, ge=0, description="Seconds before answers ask a URL again that is missing or refused (4xx)"
    )
    webrag_map_timeout: float = Field(default=60.0, gt=0, description="Seconds for all files of one site map")
    webrag_revisit_days: float = Field(
        default=30.0, gt=0, description="Days after which a page is asked again even if nothing says that it changed"
    )
    webrag_browser: str | None = Field(
        default=None, description="Chromium that renders pages of sources that ask for it; unset = found on the PATH"
    )
    webrag_browser_timeout: float = Field(
        default=20.0, gt=0, description="Seconds for the scripts of one page; then it is stored as it is"
    )
    firecrawl_api_key: Key = Field(
        default=None, repr=False, description="Alone it means https://api.firecrawl.dev; unset = own acquirer"
    )
    firecrawl_api_url: BaseUrl = Field(
        default=None, description="Self-hosted Firecrawl, as http://127.0.0.1:3002 (no key needed)"
    )
    firecrawl_max_age: float = Field(
        default=0.0,
        ge=0,
        le=315_360_000,
        description="Seconds that a copy in Firecrawl's cache may be old; 0 = always fetched anew",
    )
    firecrawl_timeout: float = Field(
        default=30.0, ge=2, description="Seconds for one page or map through Firecrawl, waiting and retries included"
    )
    expansion_map_limit: int = Field(
        default=30_000, ge=1, le=30_000, description="URLs that an answer asks of a provider's map of a site, at most"
    )
    memento_timegate: BaseUrl = Field(
        default=None,
        description="TimeGate of a web archive (RFC 7089) that `webrag ingest --archived` asks; unset = off",
    )

    @field_validator("webrag_acquirer")
    @classmethod
    def _an_acquirer_that_is_there(cls, name: str | None) -> str | None:
        return name if name is None else installed(ACQUIRERS, name)

    @cached_property
    def allowed_private(self) -> frozenset[tuple[str, int]]:
        """`webrag_allow_hosts` as (host, port) pairs, host in lower case.

        Raises InvalidInputError for an entry that is not `host:port`.
        """
        pairs = set()
        for entry in filter(None, (part.strip() for part in self.webrag_allow_hosts.split(","))):
            host, _, port = entry.rpartition(":")
            if not host or not port.isdigit() or not 0 < int(port) < 65536:
                raise InvalidInputError(f"WEBRAG_ALLOW_HOSTS: {entry!r} is not host:port")
            pairs.add((host.strip("[]").lower(), int(port)))
        return frozenset(pairs)
