"""Settings: the one place that reads the environment.

Names are the environment variables in lower case (`RERANKER_TOP_N` sets `reranker_top_n`). A file that the user names
is read too (`env_file`); the environment wins over it. Every default works offline and without a key.
"""

from __future__ import annotations

import os
import re
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, HttpUrl, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from webrag_core.corpus_home import corpus_home, env_file, stray_env_files
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
from webrag_core.plugins import ACQUIRERS, RERANKERS, PluginGroup

_KEYS_AND_ENDPOINTS = (
    ("embedding_api_key", "embedding_base_url"),
    ("firecrawl_api_key", "firecrawl_api_url"),
    ("orchestration_llm_api_key", "orchestration_llm_base_url"),
    ("reranker_api_key", "reranker_base_url"),
)

_VERSION = re.compile(r"api-version=[\w.-]+")

LinkScorer = Literal["words-and-meaning", "seed-weights"]


def _installed(group: PluginGroup, name: str) -> str:
    """`name`, where the group has it. Raises ValueError, which becomes the setting's error."""
    try:
        return group.check(name)
    except InvalidInputError as error:
        raise ValueError(error.message) from None


def _listed(text: str) -> frozenset[str]:
    """What a setting lists between commas, in lower case."""
    return frozenset(filter(None, (part.strip().lower() for part in text.split(","))))


class _Environment(PydanticBaseSettingsSource):
    """Environment variables as they are. No setting is a structure: pydantic's own source, which looks into each
    annotation for one, takes nearly all the time of reading the settings."""

    def __call__(self) -> dict[str, Any]:
        variables = by_setting(os.environ)
        return {name: variables[name] for name in self.settings_cls.model_fields if name in variables}

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """The value of one setting (None = not set), its name, and that it is no JSON."""
        return self().get(field_name), field_name, False


class Settings(BaseSettings):
    """All knobs of the library, with the defaults of the specification."""

    # hide_input_in_errors: what was given may be a secret
    model_config = SettingsConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    # Where data lives
    webrag_home: Path = Field(
        default_factory=corpus_home,
        description="Folder of the corpus; unset = .webrag of the working directory if it is there, else the user's"
        " data folder",
    )
    database_url: str | None = Field(
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
    database_cache: int | None = Field(
        default=None, ge=1, description="MB of pages that its planner takes for cached in all; unset = half"
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

    # Backups
    backup_folder: Path | None = Field(
        default=None, description="Folder of the backups that the platform makes; unset = `backups` of WEBRAG_HOME"
    )
    backups_kept: int = Field(default=7, ge=1, description="Backups in it that stay; the oldest go")

    # Ingestion
    webrag_warc: Path | None = Field(
        default=None, description="Replay this frozen site (WARC) instead of fetching live pages"
    )
    webrag_acquirer: str | None = Field(
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
        default=None, ge=0, description="Seconds after which a stored page is fetched again; unset = never"
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
    webrag_browser: str | None = Field(
        default=None, description="Chromium that renders pages of sources that ask for it; unset = found on the PATH"
    )
    webrag_browser_timeout: float = Field(
        default=20.0, gt=0, description="Seconds for the scripts of one page; then it is stored as it is"
    )
    webrag_evals_folder: str | None = Field(
        default=None,
        description="Where run logs and reports of evaluations are kept for all machines: a folder, or an address of"
        " fsspec, as s3://bucket/evals; unset = evals in the home",
    )
    webrag_automation: bool = Field(
        default=True,
        description="Dagster's sensors and schedules run from the start, or (false) when switched on",
    )
    webrag_revisit_days: float = Field(
        default=30.0, gt=0, description="Days after which a page is asked again even if nothing says that it changed"
    )
    webrag_failed_pages_warn: float = Field(
        default=0.2, gt=0, le=1, description="Share of a source's pages that fail, from which on a check warns"
    )
    webrag_failed_pages_error: float = Field(
        default=0.5, gt=0, le=1, description="Share of a source's pages that fail, from which on it is an error"
    )
    firecrawl_api_key: SecretStr | None = Field(
        default=None, repr=False, description="Alone it means https://api.firecrawl.dev; unset = own acquirer"
    )
    firecrawl_api_url: str | None = Field(
        default=None, description="Self-hosted Firecrawl, as http://127.0.0.1:3002 (no key needed)"
    )
    memento_timegate: str | None = Field(
        default=None,
        description="TimeGate of a web archive (RFC 7089) that `webrag ingest --archived` asks; unset = off",
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

    # Indexing
    child_target_tokens: int = Field(default=256, ge=16, description="Tokens of a child chunk, the unit of search")
    parent_max_tokens: int = Field(
        default=1000, ge=64, description="Tokens of a parent chunk, the unit of evidence, at most"
    )
    embedding_batch_size: int = Field(default=256, ge=1, description="Texts in one request to an embedding endpoint")
    embedding_base_url: str | None = Field(
        default=None, description="OpenAI-compatible endpoint, as http://127.0.0.1:8000/v1; unset = offline model"
    )
    embedding_api_key: SecretStr | None = Field(
        default=None, repr=False, description="Alone it means https://api.openai.com/v1; unset = offline model"
    )
    embedding_model: str = Field(
        default="text-embedding-3-small",
        min_length=1,
        description="Name of the endpoint's model; the offline one has none",
    )
    embedding_dimensions: int = Field(
        default=1536, ge=1, le=4000, description="Length of the model's vectors; the vector index holds 4,000 at most"
    )
    embedding_languages: str | None = Field(
        default=None,
        pattern=r"^ *(\*|[A-Za-z]{2,3}( *, *[A-Za-z]{2,3})*)? *$",
        description="Languages that the model knows, as en,de; * = any; unset = any of an endpoint's model, and of the"
        " offline one English, others as far as its vocabulary has their words",
    )
    embedding_query_prefix: str | None = Field(
        default=None, description="Put before a query; unset = what the model's name implies (E5, BGE, Nomic, Qwen3 …)"
    )
    embedding_document_prefix: str | None = Field(
        default=None, description="Put before a document; unset = what the model's name implies"
    )
    embedding_input_types: str | None = Field(
        default=None,
        pattern=r"^(\w+=[\w.]+,[\w.]+)?$",
        description="Request field with its values for queries and documents, as input_type=query,document;"
        " blank = no field; unset = what the model's name implies (Voyage, Cohere, Jina)",
    )
    embedding_max_workers: int = Field(default=4, ge=1, description="Requests to the endpoint at the same time")
    embedding_timeout: float = Field(default=30.0, gt=0, description="Seconds for one batch, retries included")
    embedding_max_wait: float = Field(
        default=90.0,
        ge=0,
        description="Seconds that a batch of documents waits besides, when the endpoint limits requests (429, 503)",
    )

    # Breakers
    breaker_failures: int = Field(
        default=5, ge=1, description="Transient failures in a row after which an endpoint is not asked for a while"
    )
    breaker_seconds: float = Field(default=60.0, gt=0, description="Seconds until one process tries it again")

    # Retention (`webrag prune`)
    ledger_retention_days: float = Field(default=90.0, ge=1, description="Days that ledger lines and refreshes stay")
    outbox_retention_days: float = Field(
        default=30.0, ge=1, description="Days that outbox lines stay; longer where a known reader has not read them"
    )
    outbox_reader_days: float = Field(
        default=90.0, ge=1, description="Days without a sign after which a reader of the outbox counts as gone"
    )
    answer_round_retention_days: float = Field(
        default=180.0, ge=1, description="Days that the rounds of an answer can be replayed; the answer itself stays"
    )
    version_retention_days: float | None = Field(
        default=None, ge=1, description="Days that a superseded text stays; cited ones always do; unset = all do"
    )
    retired_model_days: float = Field(
        default=30.0, ge=0, description="Days that the vectors of a retired embedding model stay"
    )

    # Retrieval
    retrieval_full_context_threshold: int = Field(
        default=30_000, ge=0, description="Tokens up to which mode auto returns all of the scope"
    )
    retrieval_context_budget: int = Field(
        default=40_000, ge=1, description="Tokens of all passages of a result, at most"
    )
    retrieval_top_k_children_limit: int = Field(default=60, ge=1, description="Child chunks that dense search takes")
    retrieval_similarity_floor: float = Field(
        default=0.3, ge=-1, le=1, description="Cosine below which dense search drops a child chunk"
    )
    retrieval_depth_decay_rate: float = Field(
        default=0.05, ge=0, le=1, description="Share of its score that a page loses for each link from the start page"
    )
    retrieval_depth_floor: float = Field(
        default=0.80, ge=0, le=1, description="Least factor by which that distance multiplies a score"
    )
    retrieval_hnsw_ef_search: int = Field(
        default=100, ge=1, le=1000, description="Candidates of the vector index; more find more and take longer"
    )
    retrieval_resident_mb: int = Field(
        default=0,
        ge=0,
        description="Megabytes of memory in which a process that searches a large corpus often may hold its vectors,"
        " 320 for a million passages; 0 = none, the vector index is searched",
    )
    retrieval_windows: bool = Field(
        default=True,
        description="Whether the window vectors of `webrag model windows` are made, and used where the scope has them",
    )
    retrieval_weights_file: Path | None = Field(
        default=None, description="Released weights of the scorer; unset = WEBRAG_HOME/feedback/weights.json"
    )

    # Query analysis and reranking
    decomposition_mode: Literal["llm", "rule_based", "none"] = Field(
        default="rule_based", description="Unset = llm when ORCHESTRATION_LLM_* names a key or a URL, else rule_based"
    )
    orchestration_llm_base_url: str | None = Field(
        default=None, description="OpenAI-compatible chat endpoint, as http://127.0.0.1:8000/v1; unset = no chat model"
    )
    orchestration_llm_api_key: SecretStr | None = Field(
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
    reranker_provider: str = Field(
        default="local",
        description="Who orders passages: local, none (the order of retrieval), or a plugin: zeroentropy, cohere, jina",
    )
    reranker_api_key: SecretStr | None = Field(default=None, repr=False, description="Key of that provider")
    reranker_model: str | None = Field(default=None, description="Unset = the provider's default")
    reranker_base_url: str | None = Field(default=None, description="Self-hosted or gateway; unset = the provider's")
    reranker_timeout: float = Field(default=10.0, gt=0, description="Seconds for one request, never retried")
    reranker_top_n: int = Field(
        default=20, ge=1, le=1000, description="Passages that a search returns, and a round of an answer uses"
    )

    # Expansion
    max_expansion_depth: int = Field(default=5, ge=0, description="Rounds of expansion at most")
    max_candidates_per_iteration: int = Field(default=5, ge=1, description="Links that one round follows, at most")
    expansion_map_limit: int = Field(
        default=30_000, ge=1, le=30_000, description="URLs that an answer asks of a provider's map of a site, at most"
    )
    webrag_link_scorer: LinkScorer = Field(
        default="words-and-meaning", description="How links are ranked; seed-weights is the specification's formula"
    )
    expansion_min_candidate_score: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Links below are never followed; unset = 0.12 for seed-weights, 0.02 for words-and-meaning",
    )
    webrag_max_pages: int = Field(
        default=30, ge=1, description="Pages one answer run may take in, seed included; as many may fail besides"
    )
    webrag_previews: int = Field(
        default=10, ge=0, description="Links fetched before each decision to see what they hold; 0 = none"
    )
    webrag_site_index: bool = Field(
        default=True, description="Read a site's search index, inventory and sitemaps before links are followed"
    )
    webrag_reader: Literal["minilm", "none"] = Field(
        default="minilm", description="Model that reads passages for the order of previews and the judge"
    )
    webrag_preview_timeout: float = Field(
        default=10.0, gt=0, description="Seconds for the previews of one round (not when replayed)"
    )
    webrag_answer_timeout: float = Field(default=120.0, gt=0, description="Seconds for one answer run")
    answer_max_words: int = Field(default=120, ge=20, le=1_000, description="Words of an answer in prose")
    answer_composer: Literal["llm", "extractive"] = Field(
        default="extractive",
        description="Who chooses the sentences of an answer; unset = llm when ORCHESTRATION_LLM_* names a key or a URL",
    )
    answer_llm_timeout: float = Field(
        default=30.0, gt=0, description="Seconds for the sentences of one answer, retries and correction included"
    )
    answer_seconds: float = Field(
        default=60.0, ge=1, description="Seconds for one answer in prose, everything included"
    )
    answer_chat_calls: int = Field(
        default=6, ge=0, description="Exchanges with the chat model for one answer in prose, of any step"
    )
    answer_iterations: int = Field(
        default=2, ge=1, le=3, description="Plans for one answer in prose: the first, and others for what is open"
    )
    webrag_router: Literal["rules", "llm"] = Field(
        default="rules", description="Who plans answers in prose: rules, or the chat model"
    )

    judge: Literal["auto", "local", "llm"] = Field(
        default="auto",
        description="Who judges whether evidence suffices: numbers (local), or in doubt the chat model too (llm);"
        " auto = llm when ORCHESTRATION_LLM_* names a key or a URL",
    )
    judge_doubt_from: float = Field(
        default=0.35, ge=0, le=1, description="Probability of the local judge from which the chat model is asked too"
    )
    judge_doubt_to: float = Field(
        default=0.97,
        ge=0,
        le=1,
        description="Probability of the local judge from which it is sure enough without the chat model",
    )

    # Cost
    prices_file: Path | None = Field(
        default=None, description="What providers charge (TOML); unset = WEBRAG_HOME/prices.toml, if it is there"
    )
    max_cost_per_answer: float | None = Field(
        default=None, ge=0, description="Cost, by the file of prices, from which an answer follows no more links"
    )
    max_cost_per_day: float | None = Field(
        default=None, ge=0, description="The same for all work of a day (UTC); unset = no limit"
    )

    # Locality
    locality_expansion_enabled: bool = Field(default=True, description="Whether neighbours of strong hits come along")
    locality_expansion_radius: int = Field(
        default=1, ge=0, description="Chunks on each side of a strong hit that come along"
    )
    min_score_for_expansion: float = Field(
        default=0.5, ge=0, le=1, description="Score from which a hit brings its neighbours"
    )

    # MCP server
    mcp_host: str = Field(default="127.0.0.1", description="Where `webrag mcp --http` listens")
    mcp_port: int = Field(default=8765, ge=1, le=65535, description="Port of `webrag mcp --http`")
    mcp_auth_token: SecretStr | None = Field(
        default=None,
        repr=False,
        description="Bearer token that HTTP clients must send; unset on loopback = that of WEBRAG_HOME/serve-token",
    )
    mcp_read_token: SecretStr | None = Field(
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

    # Dagster's UI
    webrag_ui_hosts: str = Field(
        default="", description="Host headers that the UI answers besides loopback, host or host:port,…"
    )
    webrag_ui_token: SecretStr | None = Field(
        default=None,
        repr=False,
        description="What browsers must show once as ?token=…, other clients as bearer token; unset on loopback = that"
        " of WEBRAG_HOME/ui-token",
    )

    # Alerts of the platform
    alert_webhook: SecretStr | None = Field(
        default=None, repr=False, description="Address that gets each alert as JSON, by POST; unset = none"
    )
    alert_email: str | None = Field(
        default=None,
        pattern=r"^[^\s@,]+@[^\s@,]+(, *[^\s@,]+@[^\s@,]+)*$",
        description="Addresses, separated by commas, that get each alert; needs ALERT_SMTP",
    )
    alert_sender: str | None = Field(
        default=None, pattern=r"^[^\s@,]+@[^\s@,]+$", description="Sender of these mails; unset = the first recipient"
    )
    alert_smtp: SecretStr | None = Field(
        default=None, repr=False, description="Mail server, as smtps://user:password@mail.example.org or smtp://host:25"
    )
    alert_checks: Literal["warn", "error"] = Field(
        default="error", description="Least severity of asset checks that are told when they begin to fail"
    )
    alert_log: bool = Field(default=False, description="Whether alerts are lines in the logs of their sensors")

    # Stopping
    webrag_policy: str = Field(default="calibrated", description="Stop policy of answers that name none")
    token_budget_saturation_ratio: float = Field(
        default=0.8, ge=0, le=1, description="seed-matrix: share of the context budget above which it counts as full"
    )
    redundancy_ceiling: float = Field(
        default=0.85, ge=0, le=1, description="Share of its word sequences in a better passage that drops one"
    )
    score_cliff_threshold: float = Field(
        default=0.15, ge=0, le=1, description="seed-matrix: fall of the score from the best passage that makes a cliff"
    )
    score_cliff_rank_k: int = Field(
        default=5, ge=2, description="seed-matrix: rank of the passage that the best one is compared with"
    )
    plateau_variance_threshold: float = Field(
        default=0.02, ge=0, description="seed-matrix: variance of the scores below which they count as alike"
    )
    plateau_top_n: int = Field(default=10, ge=2, description="seed-matrix: passages whose scores are looked at")
    diminishing_return_delta: float = Field(
        default=0.03,
        ge=0,
        description="seed-matrix: distance to the best score that counts as near, and the least gain",
    )
    mediocre_score_floor: float = Field(
        default=0.5, ge=0, le=1, description="seed-matrix: score from which the best, and on average all, count as good"
    )
    confidence_floor: float = Field(
        default=0.3, ge=0, le=1, description="seed-matrix: mean confidence below which it goes on"
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What the caller gives, then the environment."""
        return init_settings, _Environment(settings_cls)

    @property
    def folder_of_backups(self) -> Path:
        """Where the backups that the platform makes lie."""
        return self.backup_folder or self.webrag_home / "backups"

    @field_validator("webrag_home", mode="before")
    @classmethod
    def _blank_home(cls, home: object) -> object:
        return corpus_home() if home == "" else home

    @field_validator("webrag_router", mode="before")
    @classmethod
    def _without_the_fitted_router(cls, router: object) -> object:
        if router != "model":
            return router
        warn_retired("WEBRAG_ROUTER=model", "rules plan instead")
        return "rules"

    @field_validator("reranker_provider")
    @classmethod
    def _a_reranker_that_is_there(cls, name: str) -> str:
        return _installed(RERANKERS, name)

    @field_validator("webrag_acquirer")
    @classmethod
    def _an_acquirer_that_is_there(cls, name: str | None) -> str | None:
        return name if name is None else _installed(ACQUIRERS, name)

    @model_validator(mode="after")
    def _blank_means_unset(self) -> Self:
        if self.database_url is not None and not self.database_url.strip():
            object.__setattr__(self, "database_url", None)
        return self

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

    @field_validator(
        "webrag_acquirer",
        "firecrawl_api_key",
        "firecrawl_api_url",
        "memento_timegate",
        "orchestration_llm_base_url",
        "orchestration_llm_api_key",
        "embedding_base_url",
        "embedding_api_key",
        "reranker_base_url",
        "reranker_api_key",
        "reranker_model",
        "mcp_auth_token",
        "mcp_read_token",
        "webrag_ui_token",
        "alert_webhook",
        "alert_email",
        "alert_sender",
        "alert_smtp",
        mode="before",
    )
    @classmethod
    def _trimmed(cls, value: object) -> object:
        """Blank means unset; a key read from a file ends with a newline."""
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        return text.strip() or None if isinstance(text, str) else text

    @field_validator(
        "firecrawl_api_key",
        "embedding_api_key",
        "orchestration_llm_api_key",
        "reranker_api_key",
        "mcp_auth_token",
        "mcp_read_token",
        "webrag_ui_token",
    )
    @classmethod
    def _fits_a_header(cls, key: SecretStr | None) -> SecretStr | None:
        if key is not None and not all("!" <= character <= "~" for character in key.get_secret_value()):
            raise ValueError("holds a character that no HTTP header can carry")
        return key

    @field_validator("alert_webhook", "alert_smtp")
    @classmethod
    def _an_address(cls, address: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if address is not None:
            schemes = ("http", "https") if info.field_name == "alert_webhook" else ("smtp", "smtps")
            try:
                parts = urlsplit(address.get_secret_value())
                usable = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
            except ValueError:
                usable = False
            if not usable:
                raise ValueError(f"is no address that begins with {schemes[0]}:// or {schemes[1]}://")
        return address

    @model_validator(mode="after")
    def _mail_has_a_server(self) -> Self:
        if self.alert_email is not None and self.alert_smtp is None:
            raise ValueError("ALERT_EMAIL needs ALERT_SMTP, the server that sends the mail")
        return self

    @field_validator(
        "firecrawl_api_url",
        "memento_timegate",
        "embedding_base_url",
        "orchestration_llm_base_url",
        "reranker_base_url",
    )
    @classmethod
    def _plain_url(cls, url: str | None) -> str | None:
        if url is None:
            return None
        parts = HttpUrl(url)
        query = parts.query if parts.query is None or not _VERSION.fullmatch(parts.query) else None
        if parts.username or parts.password or query or parts.fragment:
            raise ValueError(
                "a base URL has no credentials, fragment, or query but api-version; a key has its own variable"
            )
        return url.rstrip("/")

    @property
    def alerts_somewhere(self) -> bool:
        """Whether any alert would reach anybody."""
        return self.alert_webhook is not None or self.alert_email is not None or self.alert_log

    @cached_property
    def allowed_sites(self) -> frozenset[str]:
        """`mcp_allowed_sites` in lower case; empty = any."""
        return _listed(self.mcp_allowed_sites)

    @cached_property
    def admitted_sites(self) -> frozenset[str]:
        """`mcp_admitted_sites` in lower case."""
        return _listed(self.mcp_admitted_sites)

    @property
    def link_floor(self) -> float:
        """Score below which a link is not followed: what is set, else what fits the scorer. The specification's .12
        belongs to its own formula; scores of the other scorer lie lower."""
        if self.expansion_min_candidate_score is not None:
            return self.expansion_min_candidate_score
        return 0.12 if self.webrag_link_scorer == "seed-weights" else 0.02

    @property
    def searches_offline(self) -> bool:
        """Whether a search asks no endpoint, which may be paid for."""
        embeds = self.embedding_base_url is not None or self.embedding_api_key is not None
        return not embeds and self.reranker_provider in ("local", "none")

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
