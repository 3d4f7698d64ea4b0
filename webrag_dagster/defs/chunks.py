"""Asset `chunks`: chunk the pages of a source into exact slices."""

import dagster as dg
from pydantic import Field

from webrag_dagster.conditions import rebuild_on_change
from webrag_dagster.corpus.layer_metadata import layer_metadata
from webrag_dagster.corpus.layers import CHUNKS, DOCUMENTS, SOURCES, code_version
from webrag_dagster.metadata import Metadata, page_path, table
from webrag_dagster.pictures import picture
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run


class ChunksConfig(dg.Config):
    """Select pages to chunk again, besides the pages without chunks."""

    mend: bool = Field(default=False, description="Re-chunk pages whose chunks fail the checks.")


@dg.asset(
    name=CHUNKS,
    deps=[DOCUMENTS],
    partitions_def=SOURCES,
    group_name="corpus",
    kinds={"postgres"},
    owners=["team:corpus"],
    tags={"webrag/layer": "indexing"},
    automation_condition=rebuild_on_change(),
    code_version=code_version(CHUNKS),
    description=(
        "Parent chunks (context) and child chunks (search) of the newest versions; each is an exact slice of its"
        " page's text. New versions are staged: no reader sees them before their vectors are there."
    ),
)
def chunks(
    context: dg.AssetExecutionContext, config: ChunksConfig, corpus: CorpusResource
) -> dg.MaterializeResult[None]:
    """Chunk the pending pages."""
    from webrag_core.showing.size_figure import size_figure
    from webrag_dagster.corpus.layer_metadata import rows_of, table_metadata
    from webrag_dagster.corpus.refreshing import layer_of
    from webrag_dagster.corpus.state import token_histogram
    from webrag_dagster.corpus.touched import unreported_materializations
    from webrag_dagster.defs.corpus_checks import broken_chunks

    key = context.partition_key
    rechunked: list[str] = []

    async def work() -> dg.MaterializeResult[None]:
        async with corpus.open() as opened:
            # texts stored outside this run have no materialization of `documents` yet
            for event in await unreported_materializations(
                context.instance, opened.database, opened.settings, [key], "Fetched outside this run.", (DOCUMENTS,)
            ):
                context.log_event(event)
            pages, _ = await layer_of(opened, key, CHUNKS)
            urls = {page.version_id: page.url for page in pages if page.version_id is not None}
            pending = await opened.indexer.pending(list(urls), "chunk")
            written = {urls[version_id]: await opened.indexer.chunk(version_id) for version_id in pending}
            for page, violations in await broken_chunks(opened, pages) if config.mend else ():
                context.log.warning(f"{page.url} is re-chunked: {violations[0].rule}: {violations[0].found}")
                assert page.version_id is not None
                await opened.indexer.rechunk(page.version_id)
                rechunked.append(page.url)
            pages, layer = await layer_of(opened, key, CHUNKS)
            async with opened.database.connection() as connection:
                sizes = await token_histogram(connection, pages)
                table_rows = await table_metadata(connection, CHUNKS, rows_of(CHUNKS, pages, layer))
        cut = [(page, written.get(page.url, 0)) for page in pages if page.version_id in layer.per_version]
        cut.sort(key=lambda item: -item[1])
        metadata: Metadata = {
            "pages_chunked": dg.MetadataValue.int(sum(rows > 0 for rows in written.values())),
            "pages_rechunked": dg.MetadataValue.int(len(rechunked)),
            "rows_written": dg.MetadataValue.int(sum(written.values())),
            **layer_metadata(layer),
            **({"child_sizes": picture(size_figure(sizes))} if sizes else {}),
            "page_list": table(
                {"page": page_path(page.url), "rows written": rows, "rows": layer.per_version[page.version_id].rows}
                for page, rows in cut
                if page.version_id is not None
            ),
            **table_rows,
        }
        return dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(layer.digest))

    return run(work())
