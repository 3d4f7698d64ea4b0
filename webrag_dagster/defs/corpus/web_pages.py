"""Observable asset `web_pages`: the site itself, as its own change signals show it."""

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
        "The pages out there. Sensor `site_watch` looks at sitemaps, feeds, ETag and Last-Modified of sources whose"
        " turn it is; an observation says what they flag as changed, and only then is the source read again."
    ),
)
def web_pages(context: dg.OpExecutionContext, corpus: CorpusResource) -> dg.DataVersionsByPartition:
    """Look at one site now. A site that flags nothing keeps the version it was observed with last."""
    from webrag_core.corpus.sources import split_key
    from webrag_dagster.corpus.watching import last_observed, observations, watch

    key = context.partition_key
    look = run(watch(corpus.settings(), [split_key(key)[0]], begin=_SECONDS, seconds=_SECONDS))
    for warning in look.warnings:
        context.log.warning(warning)
    versions: dict[str, str | dg.DataVersion] = dict(last_observed(context.instance, [key]))
    for seen in observations(context.instance, {name: flags for name, flags in look.flagged.items() if name == key}):
        context.log.info(seen.description or "")
        versions[key] = seen.tags["dagster/data_version"]
    return dg.DataVersionsByPartition(versions)
