"""Asset `documents`: the texts of a source's pages."""

from collections import Counter

import dagster as dg

from webrag_dagster.layers import DOCUMENTS, code_version
from webrag_dagster.metadata import MAX_ROWS, Metadata, layer_metadata, table
from webrag_dagster.partitions import SOURCES
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run


@dg.asset(
    name=DOCUMENTS,
    partitions_def=SOURCES,
    group_name="corpus",
    kinds={"postgres", "markdown"},
    code_version=code_version(DOCUMENTS),
    description=(
        "Markdown of every known page of a source, one immutable version per distinct content. Materializing asks the"
        " site again, conditionally. A page that fails keeps its last good version and is listed with its reason."
    ),
)
def documents(context: dg.AssetExecutionContext, corpus: CorpusResource) -> dg.MaterializeResult[None]:
    """Refresh one source."""
    from webrag_dagster.refreshing import layer_of, refresh_source

    async def work() -> dg.MaterializeResult[None]:
        async with corpus.open() as opened:
            changes = await refresh_source(opened, context.partition_key, f"dagster-{context.run.run_id}")
            _, layer = await layer_of(opened, context.partition_key, DOCUMENTS)
        counts = Counter(change.change for change in changes)
        metadata: Metadata = {
            **{f"pages_{name}": dg.MetadataValue.int(counts[name]) for name in ("new", "changed", "unchanged")},
            **layer_metadata(layer),
            "pages_failed": dg.MetadataValue.int(counts["failed"]),
            "page_list": table(
                {
                    "page": change.url,
                    "change": change.change,
                    "reason": change.reason,
                    "title": change.title,
                    "characters": change.characters,
                }
                for change in changes
            ),
            "pages_not_listed": dg.MetadataValue.int(max(0, len(changes) - MAX_ROWS)),
        }
        return dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(layer.digest))

    return run(work())
