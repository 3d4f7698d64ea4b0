"""Schedule of the evaluations: every night, and after a change of the evaluated code or goldens."""

import dagster as dg

EVALS = dg.AssetSelection.groups("evals")

evals_job = dg.define_asset_job(
    "evals",
    selection=EVALS,
    description="All evaluations: decision goldens, samples of retrieval questions, of runs per site, of answers.",
    executor_def=dg.in_process_executor,
)

nightly_evals = dg.ScheduleDefinition(
    name="nightly_evals",
    job=evals_job,
    cron_schedule="30 3 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Scores every night, so that their plots have a point for every day. Stop it here to save the minutes.",
)

rescoring = dg.AutomationConditionSensorDefinition(
    "rescoring",
    target=EVALS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    minimum_interval_seconds=30,
    description="Scores again what an edit of a policy, of ranking or of the goldens has put out of date.",
)
