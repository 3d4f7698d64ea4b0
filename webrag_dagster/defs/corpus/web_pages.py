"""Observable asset `web_pages`: the change signals of a site."""

from collections.abc import Iterator

import dagster as dg

from webrag_dagster.corpus.layers import WEB_PAGES
from webrag_dagster.partitions import SOURCES
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

_SECONDS = 300.0


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
    result = run(watch(corpus.settings(), [split_key(key)[0]], begin=_SECONDS, seconds=_SECONDS))
    for warning in result.warnings:
        context.log.warning(warning)
    seen = observations(context.instance, {name: flags for name, flags in result.flagged.items() if name == key})
    for one in seen:
        context.log.info(one.description or "")
        yield dg.ObserveResult(
            asset_key=WEB_PAGES,
            metadata=one.metadata,
            data_version=dg.DataVersion(one.tags["dagster/data_version"]),
        )
    version = last_observed(context.instance, [key]).get(key)
    if not seen and version is not None:
        yield dg.ObserveResult(asset_key=WEB_PAGES, data_version=dg.DataVersion(version))
