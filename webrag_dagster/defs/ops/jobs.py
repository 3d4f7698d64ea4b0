"""Jobs of the corpus: read a source again, or finish what was read."""

import dagster as dg

from webrag_dagster.corpus.layers import CHUNKS, DOCUMENTS, EMBEDDINGS, LINKS

refresh = dg.define_asset_job(
    "refresh",
    selection=dg.AssetSelection.assets(DOCUMENTS, LINKS, CHUNKS, EMBEDDINGS),
    executor_def=dg.in_process_executor,
    description="Read one source again and index what changed, with all checks. Pick the source as partition.",
)

index = dg.define_asset_job(
    "index",
    selection=dg.AssetSelection.assets(LINKS, CHUNKS, EMBEDDINGS),
    executor_def=dg.in_process_executor,
    description="Finish what was read and is not searchable yet, of one source. Asks no site.",
)
