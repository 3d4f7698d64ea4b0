"""Sensors that tell the operator of failed runs and of what is no longer fresh, where a setting names where to."""

import json
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

import dagster as dg

from webrag_core.config.alerts import AlertSettings
from webrag_core.corpus.sources import split_key
from webrag_core.providers.alerts import Alert, send_alert
from webrag_dagster import automation
from webrag_dagster.components import declared_assets
from webrag_dagster.corpus.source_assets import is_attached
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.corpus.kept_sources import KeptSource

UNSET = "no alert is set up: ALERT_WEBHOOK, ALERT_EMAIL or ALERT_LOG"
_STALE = "FAIL"
_SOURCE = "source "
"""What the names of sources begin with, beside those of assets."""
_TAGS = {"dagster/partition": "source", "webrag/stop_reason": "reason", "webrag/failure": "reason"}
"""Run tags that an alert repeats: keys of sources and codes of ours, no words of a question, no message of an error."""


@dg.run_failure_sensor(
    name="alert_on_failed_runs",
    minimum_interval_seconds=15,
    default_status=automation.SENSORS,
    description=(
        "Sends an alert for each run that failed and is not launched again, to ALERT_WEBHOOK, ALERT_EMAIL, or the log"
        " (ALERT_LOG). Off until one of them is set. Alerts name job, source and reason code; the run has the rest."
    ),
)
def alert_on_failed_runs(context: dg.RunFailureSensorContext, corpus: CorpusResource) -> None:
    """Tell of one run."""
    failed, settings = context.dagster_run, corpus.settings()
    if not settings.alerts_somewhere or failed.tags.get("dagster/will_retry") == "true":
        return
    known = {name: failed.tags[tag] for tag, name in _TAGS.items() if tag in failed.tags}
    known |= owners_line(context, corpus, [known["source"]] if "source" in known else [])
    about = "".join(f"\n{name}: {value}" for name, value in known.items())
    title = f"WebRAG: run of {_job(failed)} failed"
    tell(context, settings, "run_failed", title, f"run: /runs/{failed.run_id}{about}")


@dg.sensor(
    name="alert_on_staleness",
    minimum_interval_seconds=60,
    default_status=automation.SENSORS,
    description=(
        "Sends an alert when an attached source has no answer for three intervals, however it was attached, or another"
        " asset with a freshness policy (the inventory, evaluations) starts to violate it, and when it is fresh again."
        " Off until ALERT_WEBHOOK, ALERT_EMAIL or ALERT_LOG is set."
    ),
)
def alert_on_staleness(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> dg.SensorResult | dg.SkipReason:
    """Compare with the cursor, which holds the assets and sources that were told of.

    Sources are judged by the corpus: Dagster's policies know neither of pauses nor of sources that are attached since
    the last load. While the database cannot be read, they stay as they were.
    """
    settings = corpus.settings()
    if not settings.alerts_somewhere:
        return dg.SkipReason(UNSET)
    if context.repository_def is None:
        raise dg.DagsterInvariantViolationError("the sensor needs its code location")
    declared = set(declared_assets(context.repository_def).values())
    keys = [
        node.key
        for node in context.repository_def.asset_graph.asset_nodes
        if node.freshness_policy is not None and node.key not in declared and not is_attached(node.key)
    ]
    records = context.instance.get_freshness_state_records(keys)
    stale = {key.to_user_string() for key, record in records.items() if record.freshness_state.value == _STALE}
    judged = {key.to_user_string() for key in keys}
    alerted = read_names(context.cursor)
    sources = _kept(context, corpus)
    if sources is None:
        stale |= {name for name in alerted if name.startswith(_SOURCE)}
    else:
        stale |= {_SOURCE + source.key for source in sources if source.is_stale}
        judged |= {_SOURCE + source.key for source in sources if not source.paused}
    new, fresh = sorted(stale - alerted), sorted((alerted - stale) & judged)
    for kind, which, what in (("not_fresh", new, "not refreshed in time"), ("recovered", fresh, "refreshed again")):
        if which:
            names = "\n".join(name if name.startswith(_SOURCE) else f"/assets/{name}" for name in which)
            owners = owners_line(
                context, corpus, (name.removeprefix(_SOURCE) for name in which if name.startswith(_SOURCE))
            )
            tell(
                context,
                settings,
                kind,
                f"WebRAG: {which[0] if len(which) == 1 else f'{len(which)} sources or assets'} {what}",
                names + "".join(f"\n{name}: {value}" for name, value in owners.items()),
            )
    summary = f"{len(stale)} of {len(judged)} sources and assets are not fresh; {len(new)} of them new"
    return dg.SensorResult(skip_reason=summary, cursor=json.dumps(sorted(stale), ensure_ascii=False))


def _kept(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> "list[KeptSource] | None":
    """The attached sources; None while the database cannot be read."""
    from webrag_core.corpus.kept_sources import kept_sources

    revisit = timedelta(days=corpus.settings().webrag_revisit_days)
    try:
        return corpus.read(lambda connection: kept_sources(connection, revisit))
    except dg.Failure as failed:
        context.log.warning(f"the sources are not looked at: {failed.description}")
        return None


def owners_line(
    context: dg.SensorEvaluationContext | dg.RunFailureSensorContext, corpus: CorpusResource, partitions: Iterable[str]
) -> dict[str, str]:
    """Field `owner` of an alert about these partitions: whom their sources belong to. Empty where they name nobody, and
    while the database cannot be read: an alert does not wait for it."""
    from webrag_core.corpus.kept_sources import owners_of

    keys = sorted({split_key(partition)[0] for partition in partitions if partition})
    if not keys:
        return {}
    try:
        owners = corpus.read(lambda connection: owners_of(connection, keys))
    except dg.Failure as failed:
        context.log.warning(f"the owners of sources are not known: {failed.description}")
        return {}
    names = ", ".join(dict.fromkeys(owner for of_source in owners.values() for owner in of_source))
    return {"owner": names} if names else {}


def tell(
    context: dg.SensorEvaluationContext | dg.RunFailureSensorContext,
    settings: AlertSettings,
    kind: str,
    title: str,
    text: str,
) -> None:
    """Send one alert; what could not be sent is an error in the log of the tick."""
    alert = Alert(kind, title, text)
    for problem in run(send_alert(settings, alert)):
        context.log.error(f"an alert could not be sent: {problem}")
    if settings.alert_log:
        context.log.warning(f"{alert.title}\n{alert.text}")


def _job(failed: dg.DagsterRun) -> str:
    """The job; for a run of assets alone, the assets."""
    if not failed.job_name.startswith("__") or not failed.asset_selection:
        return f"job {failed.job_name.strip('_')}"
    return ", ".join(sorted(key.to_user_string() for key in failed.asset_selection)[:5])


def read_names(cursor: str | None) -> frozenset[str]:
    """Names that a cursor holds; none in one that cannot be read."""
    try:
        return frozenset(map(str, json.loads(cursor or "[]")))
    except (ValueError, TypeError):
        return frozenset()
