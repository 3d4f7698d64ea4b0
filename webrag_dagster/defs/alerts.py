"""Sensors that tell the operator of failed runs and of what is no longer fresh, where a setting names where to."""

import json

import dagster as dg

from webrag_core.config import Settings
from webrag_core.providers.alerts import Alert, send_alert
from webrag_dagster import automation
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

UNSET = "no alert is set up: ALERT_WEBHOOK, ALERT_EMAIL or ALERT_LOG"
_STALE = "FAIL"
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
    about = "".join(f"\n{name}: {value}" for name, value in known.items())
    title = f"WebRAG: run of {_job(failed)} failed"
    tell(context, settings, "run_failed", title, f"run: /runs/{failed.run_id}{about}")


@dg.sensor(
    name="alert_on_staleness",
    minimum_interval_seconds=60,
    default_status=automation.SENSORS,
    description=(
        "Sends an alert when an asset with a freshness policy (a declared source, the inventory, evaluations) starts to"
        " violate it, and when it is fresh again. Off until ALERT_WEBHOOK, ALERT_EMAIL or ALERT_LOG is set."
    ),
)
def alert_on_staleness(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> dg.SensorResult | dg.SkipReason:
    """Compare with the cursor, which holds the assets that were told of."""
    settings = corpus.settings()
    if not settings.alerts_somewhere:
        return dg.SkipReason(UNSET)
    if context.repository_def is None:
        raise dg.DagsterInvariantViolationError("the sensor needs its code location")
    keys = [node.key for node in context.repository_def.asset_graph.asset_nodes if node.freshness_policy is not None]
    states = context.instance.get_freshness_state_records(keys)
    stale = sorted(key.to_user_string() for key, record in states.items() if record.freshness_state.value == _STALE)
    alerted = read_names(context.cursor)
    new = [name for name in stale if name not in alerted]
    fresh = sorted(alerted.difference(stale) & {key.to_user_string() for key in keys})
    for kind, which, what in (("not_fresh", new, "not refreshed in time"), ("recovered", fresh, "refreshed again")):
        if which:
            names = "\n".join(f"/assets/{name}" for name in which)
            tell(
                context,
                settings,
                kind,
                f"WebRAG: {which[0] if len(which) == 1 else f'{len(which)} assets'} {what}",
                names,
            )
    summary = f"{len(stale)} of {len(keys)} assets violate their freshness policy; {len(new)} of them new"
    return dg.SensorResult(skip_reason=summary, cursor=json.dumps(stale))


def tell(
    context: dg.SensorEvaluationContext | dg.RunFailureSensorContext,
    settings: Settings,
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
