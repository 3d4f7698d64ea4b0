"""An evaluation as an asset: its scores over time, and checks that say when they fell."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import dagster as dg
from pydantic import Field

from webrag_dagster.metadata import Metadata
from webrag_dagster.running import run as run_coroutine

if TYPE_CHECKING:
    from webrag_dagster.evaluation.gate import Scores

A = dg.AutomationCondition

RESCORE = (
    # latched until it is asked for: an edit while a run is in progress is scored after that run
    (A.code_version_changed() & ~A.missing()).since(A.newly_requested()) & ~A.in_progress()
).with_label("policy or goldens edited")
"""For unpartitioned evaluation assets. An asset that was never scored waits for the nightly schedule."""

NIGHTLY = dg.FreshnessPolicy.time_window(warn_window=timedelta(hours=36), fail_window=timedelta(days=3))
"""Scored every night: one night may be missed, a weekend not. What was never scored has no freshness."""

GOLDENS = "golden_queries"
GATE, REPLAY = "no_regression", "decisions_replay"
DECIDES, PLANS = "every_rule_decides_right", "every_rule_plans_right"
COVERED = "every_rule_has_goldens"
"""Names of checks; `GATE` compares a run with earlier ones."""


class SuiteConfig(dg.Config):
    """Config of an evaluation that is compared with its earlier runs."""

    accept: bool = Field(default=False, description="Make this run the base of later comparisons, even if it is worse.")


Fields = TypeVar("Fields", bound=SuiteConfig)


@dataclass(frozen=True, slots=True)
class Scored:
    """What a run of a suite found.

    `scores` (item -> metric -> score) are compared with those of earlier runs, `clusters` says which items belong
    together; a suite with a stop policy is compared only under the same `policy`. `digest` is the data version, where
    equal scores can come of other records.
    """

    metadata: Metadata
    checks: Sequence[dg.AssetCheckResult] = ()
    scores: "Scores" = field(default_factory=dict)
    clusters: Mapping[str, str] = field(default_factory=dict)
    policy: str | None = None
    digest: str | None = None


def suite_asset(
    name: str,
    run: Callable[[dg.AssetExecutionContext, Fields], Coroutine[Any, Any, Scored]],
    metrics: Sequence[str] = (),
    *,
    config: type[Fields],
    checks: Mapping[str, str],
    code_version: str,
    description: str,
    blocking: str | None = None,
    kinds: frozenset[str] = frozenset({"python"}),
    tags: Mapping[str, str] | None = None,
    on_corpus: bool = True,
    after: Sequence[dg.AssetsDefinition] = (),
) -> dg.AssetsDefinition:
    """Asset `name` with these checks (name -> description), scored by `run`.

    Its scores in `metrics` go through the gate, which is then the check `GATE`; without any it compares with nothing,
    and the launchpad shows no config. `blocking` names the check that stops a run. With `on_corpus` it has the resource
    of that name, and its turn in the pool of the evaluations: those that are not are seconds of pure functions. It
    runs `after` those whose files it reads.
    """

    @dg.asset(
        name=name,
        deps=[GOLDENS, *after],
        group_name="evals",
        kinds=set(kinds),
        tags=tags,
        owners=["team:webrag"],
        pool="evals" if on_corpus else None,
        required_resource_keys={"corpus"} if on_corpus else set(),
        config_schema=config.to_config_schema().as_field() if metrics else None,
        code_version=code_version,
        automation_condition=RESCORE,
        freshness_policy=NIGHTLY,
        check_specs=[
            dg.AssetCheckSpec(check, asset=name, blocking=check == blocking, description=what)
            for check, what in checks.items()
        ],
        description=description,
    )
    def suite(context: dg.AssetExecutionContext) -> dg.MaterializeResult:  # type: ignore[type-arg]  # with checks, Dagster knows the bare name only
        fields = config(**context.op_execution_context.op_config) if metrics else config()
        scored = run_coroutine(run(context, fields))
        verdicts, base = _gated(context.instance, name, scored, metrics, accept=fields.accept)
        return dg.MaterializeResult(
            metadata={**scored.metadata, **base},
            data_version=None if scored.digest is None else dg.DataVersion(scored.digest),
            check_results=[*verdicts, *scored.checks],
        )

    return suite


def _gated(
    instance: dg.DagsterInstance, name: str, scored: Scored, metrics: Sequence[str], *, accept: bool
) -> tuple[list[dg.AssetCheckResult], Metadata]:
    """What the gate says of `scored`, and the metadata that it will read of this run."""
    from webrag_dagster.evaluation.gate import gate, last_passing

    if not metrics:
        return [], {}
    base = last_passing(instance, name, scored.policy, scored.scores)
    verdict, metadata = gate(
        GATE,
        base,
        {item: {metric: row[metric] for metric in metrics if metric in row} for item, row in scored.scores.items()},
        clusters=scored.clusters,
        metrics=metrics,
        accept=accept,
        policy=scored.policy,
    )
    return [verdict], metadata
