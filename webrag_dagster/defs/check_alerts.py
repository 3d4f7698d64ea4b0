"""Sensor `alert_on_checks`: tells the operator of asset checks that begin to fail, and of those that recover."""

import json
import time
from collections.abc import Iterator

import dagster as dg

from webrag_dagster import automation
from webrag_dagster.check_states import ERROR, LEVELS, PASSED, WARNING, CheckState, Evaluation, follow
from webrag_dagster.defs.alerts import UNSET, owners_line, tell
from webrag_dagster.metadata import MAX_ROWS
from webrag_dagster.resources import CorpusResource

_MOST_RUNS = 50
"""Runs that one tick reads."""
_FIRST_SECONDS, _MOST_FIRST = 86_400, 500
"""What the first tick looks back on: an operator who sets up alerts is told of what fails now."""
_ENDS = {
    "succeeded": dg.DagsterEventType.RUN_SUCCESS,
    "failed": dg.DagsterEventType.RUN_FAILURE,
}
_SEVERITY = {WARNING: "warning", ERROR: "error"}


@dg.sensor(
    name="alert_on_checks",
    minimum_interval_seconds=30,
    default_status=automation.SENSORS,
    description=(
        "Sends an alert for each run in which asset checks begin to fail, and one when they pass again: errors always,"
        " warnings with ALERT_CHECKS=warn. A check that made its run fail is told of by alert_on_failed_runs, its"
        " recovery here. Off until ALERT_WEBHOOK, ALERT_EMAIL or ALERT_LOG is set."
    ),
)
def alert_on_checks(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> dg.SensorResult | dg.SkipReason:
    """Read the runs that ended since the cursor, which holds their last events and the failing checks.

    Without a cursor, those of the last day: told is then what still fails.
    """
    settings = corpus.settings()
    if not settings.alerts_somewhere:
        return dg.SensorResult(skip_reason=UNSET, cursor="")  # the first tick with an address begins anew
    known, states = _read_cursor(context.cursor)
    ends = known or {name: _last(context.instance, end) for name, end in _ENDS.items()}
    least = LEVELS[settings.alert_checks]
    news: list[tuple[str, str, tuple[Evaluation, ...]]] = []
    for name, number, run_id in _ended(context.instance, known):
        ends[name] = number
        news_of_run = follow(states, _evaluations(context.instance, run_id), least)
        states = news_of_run.states
        news += [("check_failed", run_id, news_of_run.worse), ("recovered", run_id, news_of_run.recovered)]
    if known is None:
        news = _still_failing(news, states)
    news = [piece for piece in news if piece[2]]
    for kind, run_id, evaluations in news:
        owners = owners_line(context, corpus, (evaluation.partition for evaluation in evaluations))
        text = "\n".join([_text(run_id, evaluations), *(f"{name}: {value}" for name, value in owners.items())])
        tell(context, settings, kind, _title(kind, evaluations), text)
    return dg.SensorResult(
        skip_reason=f"{len(news)} alerts; {len(states)} checks fail, of all partitions", cursor=_cursor(ends, states)
    )


def _still_failing(
    news: list[tuple[str, str, tuple[Evaluation, ...]]], states: dict[str, CheckState]
) -> list[tuple[str, str, tuple[Evaluation, ...]]]:
    """What the first tick tells of the runs before it: the last alert of each check that still fails."""
    last = {
        evaluation.key: run_id
        for kind, run_id, evaluations in news
        if kind == "check_failed"
        for evaluation in evaluations
    }
    return [
        (
            kind,
            run_id,
            tuple(
                evaluation for evaluation in evaluations if evaluation.key in states and last[evaluation.key] == run_id
            ),
        )
        for kind, run_id, evaluations in news
        if kind == "check_failed"
    ]


def _last(instance: dg.DagsterInstance, end: dg.DagsterEventType) -> int:
    """Number of the newest event of this kind; 0 where there is none."""
    records = instance.fetch_run_status_changes(end, limit=1).records
    return records[0].storage_id if records else 0


def _ended(instance: dg.DagsterInstance, after: dict[str, int] | None) -> list[tuple[str, int, str]]:
    """Runs that ended, oldest first: how, the number of the event, the run. None = those of the last day."""
    results: list[tuple[str, int, str]] = []
    most = _MOST_RUNS if after is not None else _MOST_FIRST
    for name, end in _ENDS.items():
        since = dg.RunStatusChangeRecordsFilter(
            event_type=end,  # type: ignore[arg-type]
            after_storage_id=None if after is None else after[name],
            after_timestamp=time.time() - _FIRST_SECONDS if after is None else None,
        )
        records = instance.fetch_run_status_changes(since, limit=most, ascending=True).records
        results += [(name, record.storage_id, record.run_id) for record in records]
    return sorted(results, key=lambda ended: ended[1])[:most]


def _evaluations(instance: dg.DagsterInstance, run_id: str) -> Iterator[Evaluation]:
    """Of a run that is not launched again, in order."""
    run = instance.get_run_by_id(run_id)
    if run is None or run.tags.get("dagster/will_retry") == "true":
        return
    kinds = {dg.DagsterEventType.ASSET_CHECK_EVALUATION, dg.DagsterEventType.STEP_FAILURE}
    events = [
        record.event_log_entry.dagster_event for record in instance.get_records_for_run(run_id, of_type=kinds).records
    ]
    failed = {event.step_key for event in events if event is not None and event.is_step_failure}
    for event in events:
        if event is None or event.is_step_failure:
            continue
        data = event.asset_check_evaluation_data
        level = ERROR if data.severity is dg.AssetCheckSeverity.ERROR else WARNING
        yield Evaluation(
            data.asset_key.to_user_string(),
            data.check_name,
            data.partition or "",
            PASSED if data.passed else level,
            run_failed=event.step_key in failed,
        )


def _title(kind: str, evaluations: tuple[Evaluation, ...]) -> str:
    first = evaluations[0]
    what = "passes again" if kind == "recovered" else "fails"
    more = f" and {len(evaluations) - 1} more" if len(evaluations) > 1 else ""
    return f"WebRAG: check {first.check} of {first.asset}{more} {what}"


def _text(run_id: str, evaluations: tuple[Evaluation, ...]) -> str:
    """Names and severities, no word of a page or a question."""
    lines = [f"run: /runs/{run_id}"]
    for evaluation in evaluations[:MAX_ROWS]:
        severity = _SEVERITY.get(evaluation.level, "passes")
        lines.append(
            f"/assets/{evaluation.asset} {evaluation.check}: {severity}"
            + (f", source {evaluation.partition}" if evaluation.partition else "")
        )
    return "\n".join(lines)


def _cursor(ends: dict[str, int], states: dict[str, CheckState]) -> str:
    failing = {key: [state.level, state.told] for key, state in sorted(states.items())}
    return json.dumps({"ends": ends, "failing": failing}, ensure_ascii=False)


def _read_cursor(cursor: str | None) -> tuple[dict[str, int] | None, dict[str, CheckState]]:
    """Ends and failing checks. An unreadable cursor begins anew."""
    try:
        fields = json.loads(cursor or "")
        ends = {name: int(fields["ends"][name]) for name in _ENDS}
        return ends, {
            str(key): CheckState(int(level), bool(alerted)) for key, (level, alerted) in fields["failing"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return None, {}
