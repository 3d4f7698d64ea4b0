"""Sensor `site_watch`: cheap looks at sites, as facts; what follows from them is for the automation to say."""

import dagster as dg

from webrag_dagster import partitions
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

BEGIN_SECONDS, SECONDS = 6.0, 40.0
"""When a tick begins its last look, and when a slow site is given up; Dagster gives up on a sensor after 60."""


@dg.sensor(
    name="site_watch",
    minimum_interval_seconds=15,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=(
        "Looks at sitemaps, feeds, ETag and Last-Modified of the sources whose turn it is (hourly for attached ones,"
        " daily for the others, or as their YAML says; a frozen site whenever its file changed) and observes asset"
        " `web_pages` where they flag a change. Starts no run."
    ),
)
def site_watch(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> dg.SensorResult | dg.SkipReason:
    """Who was not reached in time comes first in the next tick: the corpus remembers when it looked at whom."""
    from webrag_dagster.corpus.watching import observations, watch

    look = run(watch(corpus.settings(), None, begin=BEGIN_SECONDS, seconds=SECONDS))
    for warning in look.warnings:
        context.log.warning(warning)
    if not look.looked_at:
        return dg.SkipReason("it is no source's turn")
    seen = observations(context.instance, look.flagged)
    if not seen:
        return dg.SkipReason(f"looked at {look.looked_at} sources: nothing new is flagged")
    partitions.register(context.instance, (str(event.partition) for event in seen))
    return dg.SensorResult(asset_events=seen)
