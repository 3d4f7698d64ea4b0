"""Real runs over a few goldens of the frozen site, recorded once per test session, on a database of their own."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import psycopg
from psycopg import sql

from evals.goldens import DEFAULT_GOLDEN, DEFAULT_SITE, GoldenQuery, load_goldens
from evals.recorded import RecordedRun, load_run_log
from evals.sitewalk import run_suite
from webrag_core.config import Settings

ITEMS = ("python-008", "python-010", "python-016", "python-019", "python-021", "python-034")
"""One hop reached and missed, nothing to follow, two hops, unanswerable."""


@cache
def few_goldens() -> tuple[GoldenQuery, ...]:
    """The goldens of `ITEMS`."""
    return tuple(golden for golden in load_goldens(DEFAULT_GOLDEN) if golden.id in ITEMS)


@contextmanager
def recorder(server_url: str, folder: Path) -> Iterator[Callable[..., list[RecordedRun]]]:
    """A function that records `few_goldens` (`name`, `policy`, `until_cap`, and settings to change) and reads the log
    back; all recordings share one database."""
    database = f"recordings_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
    url = server_url.replace("/postgres?", f"/{database}?", 1)

    def record(name: str, policy: str, *, until_cap: bool = False, **changes: object) -> list[RecordedRun]:
        settings = Settings(_env_file=None, database_url=url, webrag_warc=DEFAULT_SITE).model_copy(update=changes)
        log = folder / f"{name}.jsonl"
        with log.open("w", encoding="utf-8") as out:
            run = run_suite(
                few_goldens(),
                warc=DEFAULT_SITE,
                policy=policy,
                settings=settings,
                out=out,
                advance=lambda _: None,
                until_cap=until_cap,
            )
            asyncio.run(run)
        return load_run_log(log)

    yield record
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(database)))


def log_of(runs: list[RecordedRun], path: Path) -> Path:
    """A run log of these runs."""
    path.write_text("".join(json.dumps(run.record, ensure_ascii=False) + "\n" for run in runs), encoding="utf-8")
    return path
