"""Two runs of one suite have the same digest, each on a database of its own."""

from __future__ import annotations

import asyncio
import io
import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from evals.goldens import DEFAULT_SITE
from evals.sitewalk import log_digest, run_suite
from tests.evals.recordings import few_goldens
from webrag_core.config import Settings

Suite = Callable[[str, int], list[dict[str, Any]]]


@pytest.fixture
def suite(server_url: str) -> Iterator[Suite]:
    """Runs the first goldens of a few under a policy, on a fresh database every time."""
    names: list[str] = []
    with psycopg.connect(server_url, autocommit=True) as connection:

        def run(policy: str, goldens: int) -> list[dict[str, Any]]:
            names.append(f"digest_{uuid.uuid4().hex[:12]}")
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(names[-1])))
            url = server_url.replace("/postgres?", f"/{names[-1]}?", 1)
            settings = Settings(_env_file=None, database_url=url, webrag_warc=DEFAULT_SITE)
            log = io.StringIO()
            walks = run_suite(
                few_goldens()[:goldens],
                warc=DEFAULT_SITE,
                policy=policy,
                settings=settings,
                out=log,
                advance=lambda _: None,
            )
            records = asyncio.run(walks)
            assert [json.loads(line) for line in log.getvalue().splitlines()] == records
            return records

        yield run
        for name in names:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.mark.parametrize(("policy", "goldens"), [("calibrated", 4), ("fixed-k:2", 1)])
def test_two_runs_of_a_suite_have_one_digest(suite: Suite, policy: str, goldens: int) -> None:
    first, again = suite(policy, goldens), suite(policy, goldens)
    assert len(first) == goldens
    assert any(len(record["fetched"]) > 1 for record in first)
    assert log_digest(first) == log_digest(again)


def test_the_digest_leaves_out_timings_and_nothing_else() -> None:
    record = {"id": "one", "rounds": [], "cpu_s": 1.0, "wall_s": 2.0}
    assert log_digest([record]) == log_digest([{**record, "cpu_s": 3.0, "wall_s": 4.0}])
    assert log_digest([record]) != log_digest([{**record, "rounds": [{}]}])
    assert log_digest([record]) != log_digest([record, record])
