"""The sensor that acts on the automation conditions of the corpus."""

import dagster as dg

corpus_automation = dg.AutomationConditionSensorDefinition(
    "corpus_automation",
    target=dg.AssetSelection.groups("corpus"),
    minimum_interval_seconds=10,
    default_status=dg.DefaultSensorStatus.RUNNING,
    emit_backfills=False,  # a run per source at once, and no backfill daemon between a change and its run
    description="Reads a source again when its site was seen to change, and makes what depends on it.",
)
