"""What the digest of a run log depends on."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from evals.walks.goldens import DEFAULT_GOLDEN, DEFAULT_SITE
from evals.walks.sitewalk import log_digest, run_suite
from tests.command_line import Webrag, webrag_here
from tests.conftest import fresh_database
from tests.evals.recordings import few_goldens
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus

pytestmark = pytest.mark.slow

__all__ = ["webrag_here"]

Suite = Callable[..., list[dict[str, Any]]]


async def index(settings: Settings, urls: Sequence[str]) -> None:
    async with Corpus.open(settings) as corpus:
        for url in urls:
            await corpus.add(url)


@pytest.fixture
def suite(server_url: str) -> Suite:
    """Runs one golden under a policy, on a fresh database every time, some pages indexed `before`."""

    def run(policy: str, item: str, before: Sequence[str] = (), **changes: object) -> list[dict[str, Any]]:
        log = io.StringIO()
        with fresh_database(server_url) as url:
            settings = Settings(
                database_url=url, webrag_warc=DEFAULT_SITE, webrag_previews=2, webrag_reader="none"
            ).model_copy(update=changes)
            asyncio.run(index(settings, before))
            walks = run_suite(
                [golden for golden in few_goldens() if golden.id == item],
                warc=DEFAULT_SITE,
                policy=policy,
                settings=settings,
                out=log,
                advance=lambda _: None,
            )
            records = asyncio.run(walks)
        assert [json.loads(line) for line in log.getvalue().splitlines()] == records
        return records

    return run


def test_the_digest_does_not_depend_on_which_page_was_stored_first(suite: Suite) -> None:
    few = {"retrieval_context_budget": 2_000, "max_candidates_per_iteration": 3}
    first = suite("fixed-k:3", "python-016", **few)
    urls = [page["url"] for record in first for page in record["fetched"] if page.get("aux") != "map"]
    assert any(len({passage["url"] for passage in record["dropped"]}) > 1 for record in first)
    assert log_digest(first) == log_digest(suite("fixed-k:3", "python-016", before=urls[::-1], **few))


def test_the_command_says_the_digest_of_its_log(webrag_here: Webrag, suite_home: Path, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(DEFAULT_GOLDEN.read_text().splitlines()[8])
    for flags in (["--json"], []):
        given = ("--golden", "one.jsonl", "--policy", "stop-at-once", "--out", "log.jsonl", *flags)
        done = webrag_here("eval", "sitewalk", *given, WEBRAG_HOME=str(suite_home))
        assert done.returncode == 0, done.stderr
        log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
        told = json.loads(done.stdout)["digest"] if flags else done.stdout.split()[-1]
        assert told == log_digest(log)


def test_the_digest_leaves_out_timings_and_nothing_else() -> None:
    record = {"id": "one", "rounds": [], "cpu_s": 1.0, "wall_s": 2.0}
    assert log_digest([record]) == log_digest([{**record, "cpu_s": 3.0, "wall_s": 4.0}])
    assert log_digest([record]) != log_digest([{**record, "rounds": [{}]}])
    assert log_digest([record]) != log_digest([record, record])
