"""All that is used of Dagster and is not public: imports of its private modules, which stand here alone, methods of the
instance, and system tags, each with a reason. tests/dagster/test_definitions.py names the version they were read in,
and holds the lists against the code.

- `DagsterUserCodeProcessError`: the only error whose stack trace the UI leaves out.
- `CheckRunHealthResult`, `WorkerStatus`: what a run launcher answers to run monitoring; there is no public name.
- `ExecuteRunArgs`: the argument of `dagster api execute_run`, which executes a stored run in a process of its own.
- `ResolutionException`: what a template in a YAML file raises that names nothing.
- `WorkspaceProcessContext`, `WorkspaceFileTarget`: what `dagster-webserver` makes its application from.
"""

from dagster._core.errors import DagsterUserCodeProcessError
from dagster._core.launcher.base import CheckRunHealthResult, WorkerStatus
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget
from dagster._grpc.types import ExecuteRunArgs
from dagster.components.resolved.errors import ResolutionException

__all__ = [
    "CheckRunHealthResult",
    "DagsterUserCodeProcessError",
    "ExecuteRunArgs",
    "ResolutionException",
    "WorkerStatus",
    "WorkspaceFileTarget",
    "WorkspaceProcessContext",
]

METHODS = {
    "add_run_tags": "verdicts, answers and reasons as tags of a run that goes on; there is no public way",
    "all_asset_keys": "what prune and forget go through: assets of earlier versions are in no definition",
    "all_instigator_state": "ticks of sensors that hold what was forgotten",
    "all_logs": "events of a run that hold what was forgotten",
    "compute_log_manager": "where the output of a run lies that is deleted with it",
    "event_log_storage": "its two methods below answer for thousands of partitions in one query each",
    "get_freshness_state_records": "freshness as the daemon judged it; the public name is for one asset in Dagster+",
    "get_latest_asset_partition_materialization_attempts_without_materializations": "partitions left failed",
    "get_latest_storage_id_by_partition": "which run made the newest event of a partition, so that prune keeps it",
    "get_latest_tags_by_partition": "data versions of all partitions of an asset",
    "get_records_for_run": "check evaluations and failed steps of one run",
    "get_ref": "the argument of `dagster api execute_run`",
    "get_runs": "unfinished runs by tag; documented, and not marked as public",
    "get_ticks": "ticks of sensors that hold what was forgotten",
    "optimize_for_webserver": "what `dagster-webserver` does first with its instance",
    "purge_ticks": "ticks of sensors that hold what was forgotten",
    "report_engine_event": "a Celery worker says which of them took a run",
    "report_run_canceled": "a run that no worker had taken yet is cancelled",
    "report_run_canceling": "what every launcher does before it interrupts a run",
    "report_run_failed": "a Celery worker that cannot begin a run",
    "run_launcher": "a Celery worker looks whether its instance launches by Celery",
    "storage_directory": "files of an instance on disk that hold what was forgotten",
}
"""Methods and attributes of the instance and its event log that Dagster does not mark as public."""

TAGS = {
    ".dagster/repository": "of which code location a run is: those of others are not pruned",
    ".dagster/webrag_celery_worker": "ours, hidden from the list of runs: who executes it",
    ".dagster/webrag_worker": "ours, likewise: id and start time of the process",
    "dagster/auto_materialize": "runs that automation asked for",
    "dagster/code_version": "of events that report what happened outside, as Dagster sets it",
    "dagster/column_schema": "public metadata: columns of a table",
    "dagster/data_version": "of events that report what happened outside, as Dagster sets it",
    "dagster/data_version_is_user_provided": "likewise",
    "dagster/from_automation_condition": "runs that automation asked for",
    "dagster/input_data_version": "likewise of events: the version of what is above",
    "dagster/input_event_pointer": "likewise: no event of it is known",
    "dagster/max_retries": "documented: how often a run is retried",
    "dagster/parent_run_id": "the run that this one repeats",
    "dagster/partition": "the partition of a run",
    "dagster/partition_row_count": "public metadata: rows of a partition",
    "dagster/root_run_id": "the first run of a row of retries",
    "dagster/row_count": "public metadata: rows of a table",
    "dagster/table_name": "public metadata: the table of an asset",
    "dagster/will_retry": "a failed run that is launched again is not told of",
}
"""Tags and metadata keys that begin with `dagster/`."""
