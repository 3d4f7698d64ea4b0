"""Jobs of the corpus: refresh a source, or index its pending pages."""

import dagster as dg

from webrag_dagster.corpus.layers import CHUNKS, DOCUMENTS, EMBEDDINGS, LINKS
from webrag_dagster.defs.corpus.citations import CITATIONS

refresh = dg.define_asset_job(
    "refresh",
    selection=dg.AssetSelection.assets(DOCUMENTS, LINKS, CHUNKS, EMBEDDINGS, CITATIONS),
    executor_def=dg.in_process_executor,
    description="Refresh one source and index its changed pages, with all checks. Pick the source as partition.",
)

index = dg.define_asset_job(
    "index",
    selection=dg.AssetSelection.assets(LINKS, CHUNKS, EMBEDDINGS, CITATIONS),
    executor_def=dg.in_process_executor,
    description="Index pages of one source that are stored but not searchable yet. Sends no request to the site.",
)
