"""Check whether pages still contain the quotes of stored answers."""

import dagster as dg

from webrag_dagster.corpus.checks import checked_keys, checked_name
from webrag_dagster.corpus.citations import STATES, counts_metadata, counts_of, states_of, worst_first
from webrag_dagster.corpus.layers import EMBEDDINGS
from webrag_dagster.metadata import MAX_ROWS, table
from webrag_dagster.partitions import SOURCES
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run


@dg.asset_check(
    asset=EMBEDDINGS,
    name="citations_still_valid",
    blocking=True,
    partitions_def=SOURCES,
    description=(
        "State of the quotes of stored answers on the current pages. valid: at the same place; moved: elsewhere on the"
        " page; changed: no longer on the page; gone: the page was removed. These are warnings, since stored versions"
        " are immutable; a quote that differs from its stored version is an error."
    ),
)
def citations_still_valid(context: dg.AssetCheckExecutionContext, corpus: CorpusResource) -> dg.AssetCheckResult:
    """Check every citation of the source."""
    keys = checked_keys(context)

    async def work() -> dg.AssetCheckResult:
        citations = await states_of(corpus, keys)
        counts = counts_of(citations)
        metadata = counts_metadata(counts)
        outdated_ones = worst_first(citations)
        if outdated_ones:
            metadata["not_valid_any_more"] = table(
                {
                    "state": citation.state,
                    "answer": citation.answer_id,
                    "citation": citation.number,
                    "page": citation.url,
                    "now at": citation.now_url if citation.state == "moved" else None,
                    "from character": citation.now_start,
                    "quote": citation.quote,
                }
                for citation in outdated_ones
            )
            metadata["not_listed"] = dg.MetadataValue.int(max(0, len(outdated_ones) - MAX_ROWS))
        outdated = ", ".join(f"{counts[state]} {state}" for state in reversed(STATES[1:]) if counts[state])
        severity = dg.AssetCheckSeverity.ERROR if counts["broken"] else dg.AssetCheckSeverity.WARN
        return dg.AssetCheckResult(
            passed=not any(counts[state] for state in ("broken", "gone", "changed")),
            severity=severity,
            description=f"{checked_name(keys)}: of {len(citations)} citations {outdated}" if outdated else None,
            metadata=metadata,
        )

    return run(work())
