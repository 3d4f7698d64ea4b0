"""The work of the `sitewalk_…` assets: walk a sample of golden questions, score it, write the report, compare."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import dagster as dg

from evals.judging.regret import regrets_of
from evals.report.page import NamedRun, render_report
from evals.walks.goldens import cluster_of, load_goldens
from evals.walks.recorded import RecordedRun, load_run_log
from evals.walks.replay import replay_all
from evals.walks.scoring import score_item
from evals.walks.sitewalk import log_digest, run_suite, suite_settings
from evals.walks.suites import Suite, links_of, pages_of, sample_goldens
from webrag_core.orchestration.policies import get_policy
from webrag_dagster.evaluation.run_files import run_files
from webrag_dagster.evaluation.scores import walk_metadata
from webrag_dagster.evaluation.suite import REPLAY, Scored
from webrag_dagster.metadata import table

if TYPE_CHECKING:
    from webrag_core.config import Settings


async def walk(
    context: dg.AssetExecutionContext,
    settings: Settings,
    asset: str,
    suite: Suite,
    *,
    items: int,
    policy: str,
) -> Scored:
    """One run of a suite. Raises InvalidInputError for a policy or a number of items that do not exist."""
    goldens = sample_goldens(load_goldens(suite.golden), items)
    get_policy(policy, settings)
    files = run_files(settings, asset, context.run.run_id)
    with files.log.open("w", encoding="utf-8") as stream:
        records = await run_suite(
            goldens,
            warc=suite.warc,
            policy=policy,
            settings=suite_settings(settings, suite.warc),
            out=stream,
            advance=lambda item: context.log.info(f"{item} walked"),
        )
    runs = load_run_log(files.log)
    # read in a thread of its own, as it drives an event loop itself
    links = await asyncio.to_thread(links_of, [suite.warc], pages_of(goldens, runs))
    page = render_report([NamedRun(asset, runs)], goldens=goldens, recording=None, links=links, settings=settings)
    files.report.write_text(page, encoding="utf-8")
    return Scored(
        metadata={
            **walk_metadata(goldens, runs, regrets_of(goldens, {run.id: run.record for run in runs}, links)),
            "report": dg.MetadataValue.path(files.keep(files.report)),
            "run_log": dg.MetadataValue.path(files.keep(files.log)),
            "digest": dg.MetadataValue.text(log_digest(records)),
        },
        checks=[_replayed(runs, settings)],
        scores={golden.id: score_item(golden, record) for golden, record in zip(goldens, records, strict=True)},
        clusters={golden.id: cluster_of(golden) for golden in goldens},
        policy=policy,
        digest=log_digest(records),
    )


def _replayed(runs: list[RecordedRun], settings: Settings) -> dg.AssetCheckResult:
    again = replay_all(runs, None, settings)
    strays = [(replay.run.id, step) for replay in again for step in replay.steps if not step.agrees]
    rounds = sum(len(replay.steps) for replay in again)
    return dg.AssetCheckResult(
        check_name=REPLAY,
        passed=not strays,
        description=f"{rounds - len(strays)} of {rounds} decisions replay exactly.",
        metadata={
            "rounds": dg.MetadataValue.int(rounds),
            "strays": table(
                {"item": item, "round": step.round, "decided now": step.decision.rule} for item, step in strays
            ),
        },
    )
