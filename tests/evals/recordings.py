"""Real runs over a few goldens of the frozen site, recorded once per test session, on a database of their own."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from pathlib import Path

from evals.walks.goldens import DEFAULT_GOLDEN, DEFAULT_SITE, GoldenQuery, load_goldens
from evals.walks.recorded import RecordedRun
from evals.walks.sitewalk import run_suite
from tests.conftest import fresh_database
from webrag_core.config import Settings

ITEMS = ("python-013", "python-016", "python-021", "python-034")
"""One hop reached and missed, two hops, unanswerable."""


@cache
def few_goldens() -> tuple[GoldenQuery, ...]:
    """The goldens of `ITEMS`."""
    return tuple(golden for golden in load_goldens(DEFAULT_GOLDEN) if golden.id in ITEMS)


def record_all(server_url: str, folder: Path) -> None:
    """Run `few_goldens` under several policies and limits, all on one database; each run log is a file in `folder`.

    Few previews, and one log that was read by the model: both take most of a walk's time.
    """
    with fresh_database(server_url) as url:

        def record(name: str, policy: str, *, until_cap: bool = False, **changes: object) -> None:
            settings = Settings(
                database_url=url,
                webrag_warc=DEFAULT_SITE,
                **{"webrag_previews": 2, "webrag_reader": "none", **changes},
            )
            with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as out:
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

        record("matrix", "seed-matrix")
        record("until_cap", "", until_cap=True, webrag_max_pages=6)
        record("two_rounds", "fixed-k:2")
        record("three_pages", "fixed-k:5", webrag_max_pages=3, webrag_reader="minilm")
        record("floored", "fixed-k:5", expansion_min_candidate_score=0.2)


def log_of(runs: list[RecordedRun], path: Path) -> Path:
    """A run log of these runs."""
    path.write_text("".join(json.dumps(run.record, ensure_ascii=False) + "\n" for run in runs), encoding="utf-8")
    return path
