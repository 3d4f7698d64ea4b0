"""Check whether pages still contain the quotes of stored answers."""

from collections import Counter

import dagster as dg

from webrag_dagster.corpus.checks import checked_keys, checked_name
from webrag_dagster.corpus.layers import EMBEDDINGS
from webrag_dagster.metadata import MAX_ROWS, Metadata, table
from webrag_dagster.partitions import SOURCES
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

_REPORTED = ("broken", "gone", "changed", "moved")


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
    from webrag_core.history.citations import citation_states
    from webrag_core.store.database import Database
    from webrag_dagster.corpus.state import source_pages

    keys = checked_keys(context)

    async def work() -> dg.AssetCheckResult:
        async with await Database.open(corpus.settings()) as database:
            async with database.snapshot() as connection:
                pages = [page for key in keys for page in await source_pages(connection, key)]
            citations = await citation_states(database, documents=[page.document_id for page in pages])
        counts: Counter[str] = Counter(citation.state for citation in citations)
        metadata: Metadata = {
            "citations": dg.MetadataValue.int(len(citations)),
            **{state: dg.MetadataValue.int(counts[state]) for state in ("valid", "moved", "changed", "gone", "broken")},
        }
        listed = [citation for state in _REPORTED for citation in citations if citation.state == state]
        if listed:
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
                for citation in listed
            )
            metadata["not_listed"] = dg.MetadataValue.int(max(0, len(listed) - MAX_ROWS))
        outdated = ", ".join(f"{counts[state]} {state}" for state in _REPORTED if counts[state])
        severity = dg.AssetCheckSeverity.ERROR if counts["broken"] else dg.AssetCheckSeverity.WARN
        return dg.AssetCheckResult(
            passed=not any(counts[state] for state in ("broken", "gone", "changed")),
            severity=severity,
            description=f"{checked_name(keys)}: of {len(citations)} citations {outdated}" if outdated else None,
            metadata=metadata,
        )

    return run(work())
