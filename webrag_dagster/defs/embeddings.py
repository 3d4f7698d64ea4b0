"""Asset `embeddings`: vectors and postings of a source; with them its newest versions become current."""

import time
from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.conditions import rebuild_on_change
from webrag_dagster.corpus import layers
from webrag_dagster.corpus.layer_metadata import graph_metadata, layer_metadata
from webrag_dagster.corpus.layers import CHUNKS, EMBEDDINGS, SOURCES, code_version
from webrag_dagster.metadata import Metadata, page_path, table
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from webrag_core.corpus.verification import Violation
    from webrag_core.indexing.indexer import IndexOutcome
    from webrag_dagster.corpus.state import Page

_SECONDS_APART = 10.0


@dg.asset(
    name=EMBEDDINGS,
    deps=[CHUNKS],
    partitions_def=SOURCES,
    group_name="corpus",
    kinds={"postgres", "pgvector"},
    owners=["team:corpus"],
    tags={"webrag/layer": "indexing"},
    pool="embedding",
    automation_condition=rebuild_on_change(),
    retry_policy=dg.RetryPolicy(max_retries=2, delay=1, backoff=dg.Backoff.EXPONENTIAL),
    code_version=code_version(EMBEDDINGS),
    description=(
        "A vector for every child chunk, the lexical index and the graph's edges of every page. Each page becomes"
        " current in one transaction; only texts that were never embedded before are embedded. After a change of the"
        " model the first run embeds the whole corpus beside the old vectors and then switches, in one transaction."
    ),
)
def embeddings(context: dg.AssetExecutionContext, corpus: CorpusResource) -> dg.MaterializeResult[None]:
    """Index the pending pages."""
    from webrag_core.indexing.graph.totals import graph_totals
    from webrag_core.indexing.model_switch import adopt_model
    from webrag_core.providers.embedder import embedding_tokens
    from webrag_dagster.corpus.layer_metadata import rows_of, table_metadata
    from webrag_dagster.corpus.refreshing import layer_of, retire_missing
    from webrag_dagster.corpus.state import source_pages
    from webrag_dagster.defs.corpus_checks import broken_chunks

    progress = _Progress(context)

    async def work() -> dg.MaterializeResult[None]:
        async with corpus.open() as opened:
            if not _follows_chunks(context.run):
                async with opened.database.connection() as connection:
                    pages = await source_pages(connection, context.partition_key)
                _require_whole(await broken_chunks(opened, pages))
            model = await adopt_model(
                opened.database,
                opened.indexer.embedder,
                batch_size=opened.settings.embedding_batch_size,
                workers=opened.settings.embedding_max_workers,
                advance=progress.add,
            )
            gone = await retire_missing(opened, context.partition_key)
            pages, _ = await layer_of(opened, context.partition_key, EMBEDDINGS)
            urls = {page.version_id: page.url for page in pages if page.version_id is not None}
            pending = await opened.indexer.pending(list(urls), "activate")
            activated = await opened.indexer.activate_all(pending)
            done = {urls[version_id]: outcome for version_id, outcome in activated.items()}
            tokens = embedding_tokens(opened.indexer.embedder)
            vector_index = await opened.indexer.finish_bulk()
            _require_vectors(activated.values(), await opened.indexer.pending(list(activated), "activate"))
            pages, layer = await layer_of(opened, context.partition_key, EMBEDDINGS)
            async with opened.database.connection() as connection:
                table_rows = await table_metadata(connection, EMBEDDINGS, rows_of(EMBEDDINGS, pages, layer))
                graph = await graph_totals(connection, [page.document_id for page in pages])
        indexed = [(page, done.get(page.url)) for page in pages if page.version_id in layer.per_version]
        indexed.sort(key=lambda item: (-(item[1].embedded if item[1] else 0), item[0].url))
        metadata: Metadata = {
            "pages_became_current": dg.MetadataValue.int(sum(outcome.became_current for outcome in done.values())),
            "texts_embedded": dg.MetadataValue.int(sum(outcome.embedded for outcome in done.values())),
            **layer_metadata(layer),
            "pages_gone": dg.MetadataValue.int(gone),
            "texts_embedded_for_a_new_model": dg.MetadataValue.int(model.embedded if model is not None else 0),
            "embedding_tokens": dg.MetadataValue.int(tokens),
            "vector_index": dg.MetadataValue.bool(vector_index),
            **graph_metadata(graph, context.partition_key),
            "model": dg.MetadataValue.text(layers.embedding_version()),
            "page_list": table(
                {
                    "page": page_path(page.url),
                    "texts embedded": outcome.embedded if outcome else 0,
                    "became current": outcome is not None and outcome.became_current,
                    "vectors": layer.per_version[page.version_id].rows,
                }
                for page, outcome in indexed
                if page.version_id is not None
            ),
            **table_rows,
        }
        return dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(layer.digest))

    return run(work())


class _Progress:
    """Log the number of texts embedded by the new model every ten seconds."""

    def __init__(self, context: dg.AssetExecutionContext) -> None:
        self._context = context
        self._texts = 0
        self._reported_at = time.monotonic()

    def add(self, texts: int) -> None:
        """Count `texts` more."""
        self._texts += texts
        if time.monotonic() - self._reported_at >= _SECONDS_APART:
            self._reported_at = time.monotonic()
            self._context.log.info(f"{self._texts} texts have a vector of the new model")


def _follows_chunks(of: dg.DagsterRun) -> bool:
    """Whether this run materializes `chunks` first and so runs its blocking checks."""
    assets, steps = of.asset_selection, of.step_keys_to_execute
    return (assets is None or dg.AssetKey(CHUNKS) in assets) and (steps is None or CHUNKS in steps)


def _require_vectors(outcomes: "Iterable[IndexOutcome]", pending: "Sequence[int]") -> None:
    """Let the run be tried again where texts wait for the model. Their pages are searched by words until then. Raises
    EmbeddingError."""
    from webrag_core.errors import EmbeddingError

    reasons = {outcome.reason: None for outcome in outcomes if outcome.waiting and outcome.version_id in pending}
    if reasons:
        error = EmbeddingError(f"pages are searched by words only for now: {'; '.join(reasons)}")
        error.transient = True
        raise error


def _require_whole(broken: "list[tuple[Page, list[Violation]]]") -> None:
    """Apply the blocking checks of `chunks` when they are not part of the run. Raises dg.Failure."""
    if not broken:
        return
    page, violations = broken[0]
    raise dg.Failure(
        description=f"chunks of {len(broken)} pages are broken, first {page.url}: {violations[0].rule}:"
        f" {violations[0].found}. Job `index` with `mend: true` for `chunks` re-chunks them.",
        metadata={
            "broken": table({"page": item.url, "rule": v.rule, "found": v.found} for item, vs in broken for v in vs)
        },
        allow_retries=False,
    )
