"""The servers of the corpus: page, REST and MCP."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from pydantic import Field

from webrag_core.config.home import HomeSettings
from webrag_core.config.values import Key, listed


class ServingSettings(HomeSettings):
    """Servers: page, REST, MCP."""

    mcp_host: str = Field(default="127.0.0.1", description="Where `webrag mcp --http` listens")
    mcp_port: int = Field(default=8765, ge=1, le=65535, description="Port of `webrag mcp --http`")
    mcp_auth_token: Key = Field(
        default=None,
        repr=False,
        description="Bearer token that HTTP clients must send; unset on loopback = that of WEBRAG_HOME/serve-token",
    )
    mcp_read_token: Key = Field(
        default=None,
        repr=False,
        description="Second token, with which people and programs read and search; it starts and stores nothing",
    )
    webrag_serve_open: bool = Field(
        default=False,
        description="Whether servers on loopback without a token are open: to every user of this machine",
    )
    webrag_use_server: bool = Field(
        default=True,
        description="Whether commands that ask and read are run by the `webrag serve` of the same corpus on this"
        " machine, where there is one",
    )
    mcp_allowed_hosts: str = Field(
        default="", description="Host headers that are answered, host or host:port,…; needed unless on loopback"
    )
    mcp_allowed_sites: str = Field(
        default="",
        description="host or host:port,…: the only sites that models may have fetched; unset = any public one",
    )
    mcp_admitted_sites: str = Field(
        default="",
        description="host or host:port,…: sites that models may have fetched without consent; others need it",
    )
    mcp_consent: Literal["ask", "new-sites", "never"] = Field(
        default="ask",
        description="When a person must agree before a model fetches, once it has read page text: ask = new sites,"
        " unknown pages, queries; new-sites = not a new site's address without a query; never",
    )
    mcp_tool_timeout: float = Field(default=120.0, ge=1, description="Seconds for one tool call")
    mcp_concurrent_answers: int = Field(default=4, ge=1, description="`answer` and `ingest` calls at work at once")
    mcp_default_research_mode: Literal["fast", "auto", "deep"] = Field(
        default="fast", description="How far an `answer` that names no mode follows links"
    )
    mcp_default_retrieval_mode: Literal["chunk", "full_context", "auto"] = Field(
        default="chunk", description="What calls that name no mode get: passages, or everything in reading order"
    )
    mcp_response_token_budget: int = Field(
        default=24_000, ge=1_000, description="No response is longer; full_context uses all of it"
    )
    mcp_answer_token_budget: int = Field(default=8_000, ge=1_000, description="Tokens of an `answer` of chunks")
    mcp_search_token_budget: int = Field(default=6_000, ge=1_000, description="Tokens of a `search` of chunks")
    mcp_feedback: bool = Field(
        default=False, description="Whether models may give feedback; it weighs nothing until an operator accepts it"
    )
    mcp_log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = Field(
        default="WARNING", description="What the MCP server says on stderr"
    )

    @cached_property
    def allowed_sites(self) -> frozenset[str]:
        """`mcp_allowed_sites` in lower case; empty = any."""
        return listed(self.mcp_allowed_sites)

    @cached_property
    def admitted_sites(self) -> frozenset[str]:
        """`mcp_admitted_sites` in lower case."""
        return listed(self.mcp_admitted_sites)
