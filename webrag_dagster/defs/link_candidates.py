"""Asset `link_candidates`: the links of a source's pages."""

import dagster as dg

from webrag_dagster.conditions import rebuild_on_change
from webrag_dagster.corpus.layer_metadata import layer_metadata
from webrag_dagster.corpus.layers import DOCUMENTS, LINKS, SOURCES, code_version
from webrag_dagster.metadata import page_path, short_title, table
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run


@dg.asset(
    name=LINKS,
    deps=[DOCUMENTS],
    partitions_def=SOURCES,
    group_name="corpus",
    kinds={"postgres"},
    owners=["team:corpus"],
    tags={"webrag/layer": "ingestion"},
    automation_condition=rebuild_on_change(),
    code_version=code_version(LINKS),
    description=(
        "Links on the newest version of every page of a source, with anchor text, sentence and heading: the"
        " candidates for link following. They are stored together with the page's text, in one transaction."
    ),
)
def link_candidates(context: dg.AssetExecutionContext, corpus: CorpusResource) -> dg.MaterializeResult[None]:
    """Report one source's links."""
    from webrag_dagster.corpus.layer_metadata import rows_of, table_metadata
    from webrag_dagster.corpus.refreshing import layer_of
    from webrag_dagster.corpus.state import top_targets

    async def work() -> dg.MaterializeResult[None]:
        async with corpus.open() as opened:
            pages, layer = await layer_of(opened, context.partition_key, LINKS)
            targets = await top_targets(opened.database, pages)
            async with opened.database.connection() as connection:
                table_rows = await table_metadata(connection, LINKS, rows_of(LINKS, pages, layer))
        counts = [(page, layer.per_version[page.version_id]) for page in pages if page.version_id in layer.per_version]
        counts.sort(key=lambda item: -item[1].rows)
        rows = table(
            {
                "page": page_path(page.url),
                "links": count.rows,
                "in navigation": count.part,
                "title": short_title(page.title),
            }
            for page, count in counts
        )
        return dg.MaterializeResult(
            metadata={
                **layer_metadata(layer),
                "page_list": rows,
                "most_linked": table(
                    {"target": url, "links": count, "held": in_corpus} for url, count, in_corpus in targets
                ),
                **table_rows,
            },
            data_version=dg.DataVersion(layer.digest),
        )

    return run(work())
