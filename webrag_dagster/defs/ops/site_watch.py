"""Sensor `site_watch`: poll the change signals of sites and observe them; automation conditions decide on refreshes."""

import dagster as dg

from webrag_dagster import partitions
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

BEGIN_SECONDS, SECONDS = 6.0, 40.0
"""Latest start of a check in a tick, and its deadline. Dagster's own limit for a sensor is 60 seconds."""


@dg.sensor(
    name="site_watch",
    minimum_interval_seconds=15,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=(
        "Checks sitemaps, feeds, ETag and Last-Modified of the sources that are due for a change check (hourly for"
        " attached sources, daily for others, or as set in YAML; a WARC snapshot when its file changes). Observes asset"
        " `web_pages` where they flag a change. Starts no run."
    ),
)
def site_watch(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> dg.SensorResult | dg.SkipReason:
    """Check due sources. Sources not reached in time come first in the next tick."""
    from webrag_dagster.corpus.watching import observations, watch

    result = run(watch(corpus.settings(), None, begin=BEGIN_SECONDS, seconds=SECONDS))
    for warning in result.warnings:
        context.log.warning(warning)
    if not result.checked:
        return dg.SkipReason("no source is due for a change check")
    seen = observations(context.instance, result.flagged)
    if not seen:
        return dg.SkipReason(f"{result.checked} sources checked, no new change flagged")
    partitions.register(context.instance, (str(event.partition) for event in seen))
    return dg.SensorResult(asset_events=seen)
