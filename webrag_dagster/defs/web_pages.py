"""Asset `web_pages`, the change signals of a site, and sensor `site_watch`, which polls them.

They start no run: automation conditions decide on refreshes.
"""

from collections.abc import Iterator

import dagster as dg

from webrag_dagster import automation
from webrag_dagster.corpus import layers
from webrag_dagster.corpus.layers import SOURCES, WEB_PAGES
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

BEGIN_SECONDS, SECONDS = 6.0, 40.0
"""Latest start of a check in a tick, and its deadline. Dagster's own limit for a sensor is 60 seconds."""

_SECONDS_OF_A_SITE = 300.0


@dg.multi_observable_source_asset(  # type: ignore[untyped-decorator]
    name=WEB_PAGES,
    specs=[
        dg.AssetSpec(
            # the sources that files declare come before it: `webrag_dagster.definitions` adds them
            WEB_PAGES,
            partitions_def=SOURCES,
            group_name="corpus",
            kinds={"web"},
            owners=["team:corpus"],
            tags={"webrag/layer": "web"},
            skippable=True,  # nothing to say of a site that was never flagged
            description=(
                "The pages on the web. Sensor `site_watch` checks sitemaps, feeds, ETag and Last-Modified of due"
                " sources; an observation lists the pages flagged as changed and triggers a refresh of the source."
            ),
        )
    ],
)
def web_pages(context: dg.AssetExecutionContext, corpus: CorpusResource) -> Iterator[dg.ObserveResult]:
    """Check one site now. Without flagged changes the last observed version stays."""
    from webrag_core.corpus.sources import split_key
    from webrag_dagster.corpus.watching import last_observed, observations, watch

    key = context.partition_key
    result = run(watch(corpus.settings(), [split_key(key)[0]], begin=_SECONDS_OF_A_SITE, seconds=_SECONDS_OF_A_SITE))
    for warning in result.warnings:
        context.log.warning(warning)
    seen = observations(context.instance, {name: flags for name, flags in result.flagged.items() if name == key})
    for sighting in seen:
        context.log.info(sighting.description or "")
        yield dg.ObserveResult(
            asset_key=WEB_PAGES,
            metadata=sighting.metadata,
            data_version=dg.DataVersion(sighting.tags["dagster/data_version"]),
        )
    version = last_observed(context.instance, [key]).get(key)
    if not seen and version is not None:
        yield dg.ObserveResult(asset_key=WEB_PAGES, data_version=dg.DataVersion(version))


@dg.sensor(
    name="site_watch",
    minimum_interval_seconds=15,
    default_status=automation.SENSORS,
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
    layers.register_partitions(context.instance, (str(event.partition) for event in seen))
    return dg.SensorResult(asset_events=seen)
