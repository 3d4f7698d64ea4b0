"""Observable asset `web_pages`: the change signals of a site."""

import dagster as dg

from webrag_dagster.corpus.layers import WEB_PAGES
from webrag_dagster.partitions import SOURCES
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

_SECONDS = 300.0


@dg.observable_source_asset(
    name=WEB_PAGES,
    partitions_def=SOURCES,
    group_name="corpus",
    tags={"webrag/layer": "web", "dagster/kind/web": ""},
    description=(
        "The pages on the web. Sensor `site_watch` checks sitemaps, feeds, ETag and Last-Modified of due sources; an"
        " observation lists the pages flagged as changed and triggers a refresh of the source."
    ),
)
def web_pages(context: dg.OpExecutionContext, corpus: CorpusResource) -> dg.DataVersionsByPartition:
    """Check one site now. Without flagged changes the last observed version stays."""
    from webrag_core.corpus.sources import split_key
    from webrag_dagster.corpus.watching import last_observed, observations, watch

    key = context.partition_key
    result = run(watch(corpus.settings(), [split_key(key)[0]], begin=_SECONDS, seconds=_SECONDS))
    for warning in result.warnings:
        context.log.warning(warning)
    versions: dict[str, str | dg.DataVersion] = dict(last_observed(context.instance, [key]))
    for seen in observations(context.instance, {name: flags for name, flags in result.flagged.items() if name == key}):
        context.log.info(seen.description or "")
        versions[key] = seen.tags["dagster/data_version"]
    return dg.DataVersionsByPartition(versions)
