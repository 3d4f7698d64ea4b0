"""The file of settings: one that the user names, never one that happens to lie in the working directory.

Clients start servers in whatever folder is open, and a `.env` there may be somebody else's: it could open the network
gate, or send the user's keys and pages to an endpoint of its own.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from webrag_core.corpus_home import ENV_FILE, stray_words
from webrag_core.errors import InvalidInputError

logger = logging.getLogger(__name__)

_OTHER_NAMES = frozenset({ENV_FILE, "WEBRAG_PORT"})  # the compose file's
_FOREIGN_NAMES = frozenset({"MCP_TIMEOUT"})  # near one of ours, but a client's
RETIRED: Mapping[str, str] = {
    "DATABASE_CACHE": "the planner takes half of the memory for cached",
    "LOCALITY_EXPANSION_ENABLED": "LOCALITY_EXPANSION_RADIUS=0 leaves neighbours out",
    "ROUTE_EXPLORE": "every task of a plan is run",
    "CANDIDATES_TO_SCORE_PER_ITERATION": "every link is scored",
    "ORCHESTRATION_TIMEOUT": "WEBRAG_ANSWER_TIMEOUT limits an answer",
    "EXPANSION_ITERATION_TIMEOUT": "WEBRAG_ANSWER_TIMEOUT and WEBRAG_PREVIEW_TIMEOUT limit its rounds",
    "RETRIEVAL_RERANK_ENABLED": "RERANKER_PROVIDER=none turns reranking off",
    "RETRIEVAL_RERANK_MODEL": "RERANKER_MODEL names the model",
    "RETRIEVAL_RERANK_API_KEY": "RERANKER_API_KEY holds the key",
    "AGENT_RERANK_RECENCY_BOOST": "dates are filters and raise no score",
    "AGENT_REFLECTION_TEMPERATURE": "chat models are asked with temperature 0 where they take one",
    "CROSS_ENCODER_MODEL": "RERANKER_PROVIDER and RERANKER_MODEL choose the reranker",
    "KG_AGENT_URL": "the agents run in this process",
    "API_AGENT_URL": "the agents run in this process",
    "VECTORDB_AGENT_URL": "the agents run in this process",
    "AKOMA_NTOSO_API_URL": "texts of laws come from files, from pages or from plugins (webrag.documents)",
}
"""Settings of earlier versions and of the specifications, with what holds instead. Whoever has set one of them gets a
warning, and no error in a file; docs/explanation/tried.md and differences.md have the reasons."""
RETIRED_IN_FILES: Mapping[str, str] = {
    "LLM_PROVIDER": "ORCHESTRATION_LLM_BASE_URL and ORCHESTRATION_LLM_MODEL choose the chat model",
    "PREPROCESSING_URL": "questions are analysed in this process (DECOMPOSITION_MODE)",
    "WEAVIATE_URL": "vectors are in PostgreSQL (DATABASE_URL)",
    "NEO4J_URI": "the graph is in PostgreSQL (DATABASE_URL)",
    "NEO4J_USER": "the graph is in PostgreSQL (DATABASE_URL)",
    "NEO4J_PASSWORD": "the graph is in PostgreSQL (DATABASE_URL)",
    "NEO4J_AUTH": "the graph is in PostgreSQL (DATABASE_URL)",
    "REDIS_URI": "there is no cache beside PostgreSQL",
    "CACHE_TTL_SECONDS": "WEBRAG_MAX_AGE says when a stored page is fetched again",
    "REQUEST_TIMEOUT_MS": "each endpoint has its timeout (WEBRAG_FETCH_TIMEOUT, ORCHESTRATION_LLM_TIMEOUT, …)",
    "MAX_RETRIES": "how often an endpoint is asked again is fixed",
}
"""As `RETIRED`, names that other programs may have in the environment: in a file of ours they are meant for us."""
RENAMED: Mapping[str, str] = {"WEBRAG_OPEN_TO_MACHINE": "WEBRAG_SERVE_OPEN"}
"""Earlier names of settings, each with the name of today: both are read, and the earlier gives a warning."""
_PREFIXES = ("EMBEDDING_", "FIRECRAWL_", "MCP_", "ORCHESTRATION_", "RERANKER_", "RETRIEVAL_", "WEBRAG_")
_NO_MISTAKES = (RETIRED, RETIRED_IN_FILES, RENAMED, _OTHER_NAMES, _FOREIGN_NAMES)
_NEAR = 0.8
_NEARLY_EQUAL = 0.9  # for names without a prefix of ours, which other programs may own


def read_env_file(file: Path, settings: Iterable[str]) -> dict[str, str]:
    """Read the file: values by name, in lower case. `settings` are the names of all settings.

    Raises InvalidInputError for a file that cannot be read, that others may change, or that sets a name with one of
    our prefixes that is no setting.
    """
    from dotenv import dotenv_values  # most have no such file

    try:
        with file.open(encoding="utf-8") as stream:
            status = os.fstat(stream.fileno())
            if status.st_uid not in (0, os.geteuid()):
                raise InvalidInputError(f"{file} belongs to another user and is not read: `chown` it to yourself")
            if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise InvalidInputError(f"{file} can be changed by other users and is not read: `chmod go-w` it")
            values = dotenv_values(stream=stream)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"the settings in {file} cannot be read: {error}") from error
    for name, instead in (retired(values) | retired(values, RETIRED_IN_FILES)).items():
        warn_retired(name, instead)
    for name, near in misspelt(values, settings).items():
        if name.upper().startswith(_PREFIXES):
            raise InvalidInputError(f"{file}: {name} is no setting of WebRAG{_question(near)}")
        warn_misspelt(name, near)
    return by_setting({name: value for name, value in values.items() if value is not None})


def by_setting(values: Mapping[str, str]) -> dict[str, str]:
    """Return the values by the names of settings, in lower case. An earlier name counts where today's is not set."""
    settings = {name.lower(): value for name, value in values.items()}
    for earlier, today in RENAMED.items():
        if earlier.lower() in settings:
            warn_renamed(earlier, today)
            settings.setdefault(today.lower(), settings.pop(earlier.lower()))
    return settings


def misspelt(names: Iterable[str], settings: Iterable[str]) -> dict[str, str | None]:
    """Return the names that are no setting but seem meant as one, each with the nearest setting or None.

    Every name with one of our prefixes counts, and others that nearly equal a setting.
    """
    known = tuple(setting.upper() for setting in settings)
    nearest: dict[str, str | None] = {}
    for name in names:
        upper = name.upper()
        if upper in known or any(upper in names for names in _NO_MISTAKES):
            continue
        ours = upper.startswith(_PREFIXES)
        near = _nearest(upper, known, _NEAR if ours else _NEARLY_EQUAL)
        if ours or near:
            nearest[name] = near
    return nearest


def retired(names: Iterable[str], which: Mapping[str, str] = RETIRED) -> dict[str, str]:
    """Return those of the names that are in `which`, each with what holds instead."""
    return {name: which[name.upper()] for name in names if name.upper() in which}


@lru_cache(maxsize=256)  # once per process
def warn_retired(setting: str, instead: str) -> None:
    """Log a warning about a setting (or `NAME=value`) of an earlier version."""
    logger.warning("%s is retired and is ignored: %s", setting, instead)


@lru_cache(maxsize=256)  # once per process
def warn_renamed(earlier: str, today: str) -> None:
    """Log a warning about the earlier name of a setting."""
    logger.warning("%s is called %s now", earlier, today)


@lru_cache(maxsize=1)  # once per process
def tell_of_openai_key() -> None:
    """Log that a key of the environment is there and not used."""
    logger.warning(
        "OPENAI_API_KEY is set and is not used: WEBRAG_OPENAI=1 uses it for the chat model, WEBRAG_OPENAI=0 ends this"
        " line; embeddings have EMBEDDING_API_KEY, and change only by `webrag model`"
    )


@lru_cache(maxsize=256)  # once per process
def warn_misspelt(name: str, near: str | None) -> None:
    """Log a warning about a misspelt name."""
    logger.warning("%s is no setting of WebRAG and is ignored%s", name, _question(near))


@lru_cache(maxsize=16)  # once per process
def warn_stray(file: str) -> None:
    """Log a warning about a file that is not read."""
    logger.warning("%s", stray_words(file))


def _question(near: str | None) -> str:
    return f"; did you mean {near}?" if near else ""


@lru_cache(maxsize=1024)  # a process reads its settings often
def _nearest(name: str, known: tuple[str, ...], likeness: float) -> str | None:
    """Return the setting that is at least so like the name, if any."""
    # of about the same length: comparing with all of them costs a start 50 ms
    alike = [setting for setting in known if 0.66 <= len(setting) / len(name) <= 1.5]
    return next(iter(get_close_matches(name, alike, 1, likeness)), None)
