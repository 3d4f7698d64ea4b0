"""Asset `embeddings`: vectors and postings of a source; with them its newest versions become current."""

import dagster as dg

from webrag_dagster.conditions import made_again_on_change
from webrag_dagster.corpus.layers import CHUNKS, EMBEDDINGS, code_version
from webrag_dagster.corpus.totals import layer_metadata
from webrag_dagster.metadata import Metadata, table
from webrag_dagster.partitions import SOURCES
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run


@dg.asset(
    name=EMBEDDINGS,
    deps=[CHUNKS],
    partitions_def=SOURCES,
    group_name="corpus",
    kinds={"postgres", "pgvector"},
    owners=["team:corpus"],
    tags={"webrag/layer": "indexing"},
    pool="embedding",
    automation_condition=made_again_on_change(),
    retry_policy=dg.RetryPolicy(max_retries=2, delay=1, backoff=dg.Backoff.EXPONENTIAL),
    code_version=code_version(EMBEDDINGS),
    description=(
        "A vector for every child chunk and the lexical index of every page. Each page becomes current in one"
        " transaction; only texts that were never embedded before are embedded. After a change of the model the first"
        " run embeds the whole corpus beside the old vectors and then switches, in one transaction."
    ),
)
def embeddings(context: dg.AssetExecutionContext, corpus: CorpusResource) -> dg.MaterializeResult[None]:
    """Index what is not indexed yet."""
    from webrag_core.indexing.model_switch import adopt_model
    from webrag_dagster.corpus.refreshing import layer_of, retire_missing

    async def work() -> dg.MaterializeResult[None]:
        async with corpus.open() as opened:
            model = await adopt_model(
                opened.database,
                opened.indexer.embedder,
                batch_size=opened.settings.embedding_batch_size,
                advance=lambda count: context.log.info(f"{count} texts have a vector of the new model"),
            )
            gone = await retire_missing(opened, context.partition_key)
            pages, _ = await layer_of(opened, context.partition_key, EMBEDDINGS)
            done = {
                page.url: await opened.indexer.activate(page.version_id)
                for page in pages
                if page.version_id is not None
            }
            vector_index = await opened.indexer.finish_bulk()
            pages, layer = await layer_of(opened, context.partition_key, EMBEDDINGS)
        indexed = [page for page in pages if page.version_id in layer.per_version and page.url in done]
        indexed.sort(key=lambda page: (-done[page.url].embedded, page.url))
        metadata: Metadata = {
            "pages_became_current": dg.MetadataValue.int(sum(outcome.became_current for outcome in done.values())),
            "texts_embedded": dg.MetadataValue.int(sum(outcome.embedded for outcome in done.values())),
            **layer_metadata(layer),
            "pages_gone": dg.MetadataValue.int(gone),
            "texts_embedded_for_a_new_model": dg.MetadataValue.int(model.embedded if model is not None else 0),
            "vector_index": dg.MetadataValue.bool(vector_index),
            "model": dg.MetadataValue.text(code_version(EMBEDDINGS)),
            "page_list": table(
                {
                    "page": page.url,
                    "texts embedded": done[page.url].embedded,
                    "became current": done[page.url].became_current,
                    "vectors": layer.per_version[page.version_id].rows,
                }
                for page in indexed
                if page.version_id is not None
            ),
        }
        return dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(layer.digest))

    return run(work())
