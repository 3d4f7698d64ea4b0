"""Asset `window_vectors`: the small encoder's meaning of the stored passages, a second channel of search."""

import time
from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster import automation
from webrag_dagster.corpus.layers import EMBEDDINGS
from webrag_dagster.metadata import Metadata, table
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.indexing.window_vectors import WindowStatus

_NAME = "window_vectors"
_SECONDS_APART = 10.0
_UNFINISHED = [dg.DagsterRunStatus.QUEUED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED]


@dg.asset(
    name=_NAME,
    deps=[EMBEDDINGS],
    group_name="corpus",
    kinds={"postgres", "pgvector"},
    owners=["team:corpus"],
    tags={"webrag/layer": "indexing"},
    description=(
        "A vector of every passage in English by the small encoder that ships, for searches by meaning. Only texts that"
        " have none are read, on one core, and what was read stays when a run is stopped. RETRIEVAL_WINDOWS=false"
        " turns it off."
    ),
)
def window_vectors(context: dg.AssetExecutionContext, corpus: CorpusResource) -> dg.MaterializeResult[None]:
    """Read the passages that have no vector."""
    from webrag_core.indexing.window_vectors import make_windows, window_status

    async def work() -> dg.MaterializeResult[None]:
        async with corpus.open() as opened:
            if not opened.settings.retrieval_windows:
                return dg.MaterializeResult(metadata={"off": dg.MetadataValue.text("RETRIEVAL_WINDOWS")})
            async with opened.database.connection() as connection:
                before = await window_status(connection)
            progress = _Progress(context, before.missing)
            report = await make_windows(opened.database, advance=progress.add)
            async with opened.database.connection() as connection:
                after = await window_status(connection)
        made: Metadata = {
            "vectors_made": dg.MetadataValue.int(report.made),
            "cpu_seconds": dg.MetadataValue.float(report.cpu_seconds),
        }
        return dg.MaterializeResult(metadata={**made, **_coverage(after)})

    return run(work())


window_vectors_job = dg.define_asset_job(
    "read_passages",
    selection=dg.AssetSelection.assets(_NAME),
    executor_def=dg.in_process_executor,
    description="Read the passages that the small encoder has not read yet (`webrag model windows`).",
)


@dg.sensor(
    name="reading_due",
    job=window_vectors_job,
    minimum_interval_seconds=600,
    default_status=automation.SENSORS,
    description="Reads new passages, where some are missing and no such run is under way.",
)
def reading_due(context: dg.SensorEvaluationContext, corpus: CorpusResource) -> dg.RunRequest | dg.SkipReason:
    """Request a run where it has something to do."""
    from webrag_core.indexing.window_vectors import window_status

    if not corpus.settings().retrieval_windows:
        return dg.SkipReason("RETRIEVAL_WINDOWS is off")
    under_way = dg.RunsFilter(job_name=window_vectors_job.name, statuses=_UNFINISHED)
    if context.instance.get_runs(under_way, limit=1):
        return dg.SkipReason("a run is under way")

    count = corpus.read(window_status).missing
    return dg.RunRequest() if count else dg.SkipReason("every passage is read")


def _coverage(status: "WindowStatus") -> Metadata:
    """How far each source is."""
    return {
        "passages": dg.MetadataValue.int(sum(source.passages for source in status.sources)),
        "passages_with_vector": dg.MetadataValue.int(sum(source.with_vector for source in status.sources)),
        "texts_missing": dg.MetadataValue.int(status.missing),
        "source_list": table(
            {
                "source": source.source,
                "passages": source.passages,
                "with vector": source.with_vector,
                "missing": source.missing,
            }
            for source in status.sources
        ),
    }


class _Progress:
    """Log how many of `total` texts are read, every ten seconds."""

    def __init__(self, context: dg.AssetExecutionContext, total: int) -> None:
        self._context = context
        self._total = total
        self._read = 0
        self._reported_at = time.monotonic()

    def add(self, texts: int) -> None:
        """Count `texts` more."""
        self._read += texts
        if time.monotonic() - self._reported_at >= _SECONDS_APART:
            self._reported_at = time.monotonic()
            self._context.log.info(f"{self._read} of {self._total} texts are read")
