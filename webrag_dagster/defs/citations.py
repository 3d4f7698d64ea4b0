"""What became of the quotes of stored answers: asset `citations`, the check that answers still hold, and the check that
pages still say what is quoted."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.conditions import rebuild_on_change
from webrag_dagster.corpus.layers import EMBEDDINGS, SOURCES
from webrag_dagster.defs.corpus_checks import checked_keys, checked_name
from webrag_dagster.metadata import MAX_ROWS, Metadata, table
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.history.citations import CitationState


CITATIONS = "citations"
_LOST = ("changed", "gone", "broken")
_SHOWN = 300  # characters of a quote in a table
_STATES = ("valid", "moved", "changed", "gone", "broken")
"""From best to worst."""


async def _states_of(corpus: CorpusResource, keys: Sequence[str]) -> "list[CitationState]":
    """States of the quotes of these partitions."""
    from webrag_core.history.citations import citation_states
    from webrag_core.store.database import Database
    from webrag_dagster.corpus.state import source_pages

    async with await Database.open(corpus.settings()) as database:
        async with database.snapshot() as connection:
            pages = [page for key in keys for page in await source_pages(connection, key)]
        return await citation_states(database, documents=[page.document_id for page in pages])


async def _citations_table(corpus: CorpusResource, rows: int) -> Metadata:
    """The table of quotes, with the number of `rows` of a source."""
    from webrag_core.store.database import Database
    from webrag_dagster.corpus.layer_metadata import table_metadata

    async with await Database.open(corpus.settings()) as database, database.connection() as connection:
        return await table_metadata(connection, "citations", rows)


def _counts_of(states: "Sequence[CitationState]") -> Counter[str]:
    """Citations by state."""
    return Counter(quote.state for quote in states)


def _counts_metadata(counts: Counter[str]) -> Metadata:
    """The counts, and their sum."""
    return {
        "citations": dg.MetadataValue.int(counts.total()),
        **{state: dg.MetadataValue.int(counts[state]) for state in _STATES},
    }


def _worst_first(states: "Sequence[CitationState]") -> "list[CitationState]":
    """Those that are not valid any more."""
    return [quote for state in reversed(_STATES[1:]) for quote in states if quote.state == state]


@dg.asset(
    name=CITATIONS,
    deps=[EMBEDDINGS],
    partitions_def=SOURCES,
    group_name="corpus",
    kinds={"postgres"},
    owners=["team:corpus"],
    tags={"webrag/layer": "history"},
    automation_condition=rebuild_on_change(),
    description=(
        "What became of the quotes of stored answers: valid, moved, changed or gone. Each quote is compared once with"
        " each new version of its page, by its text; the version that was quoted stays stored."
    ),
)
def citations(context: dg.AssetExecutionContext, corpus: CorpusResource) -> dg.MaterializeResult[None]:
    """Compare the quotes of the source with its pages."""

    from webrag_dagster.corpus.refreshing import compare_command

    async def work() -> dg.MaterializeResult[None]:
        states = await _states_of(corpus, [context.partition_key])
        changed = _worst_first(states)
        metadata = {**_counts_metadata(_counts_of(states)), **await _citations_table(corpus, len(states))}
        if changed:
            metadata["no_longer_as_quoted"] = table(
                {
                    "state": quote.state,
                    "how": quote.how,
                    "answer": quote.answer_id,
                    "citation": quote.number,
                    "page": quote.url,
                    "quote": _short(quote.quote),
                    "facts changed": ", ".join(quote.facts_changed) or None,
                    "now at": quote.now_url,
                    "compare with": None
                    if quote.current_version is None
                    else compare_command(quote.url, quote.cited_version, quote.current_version),
                }
                for quote in changed
            )
        digest = hashlib.sha256(
            repr([(quote.answer_id, quote.number, quote.state) for quote in states]).encode()
        ).hexdigest()
        return dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(digest))

    return run(work())


@dg.asset_check(
    asset=CITATIONS,
    partitions_def=SOURCES,
    description=(
        "Answers none of whose quotes still stands: each is changed or gone. A warning: ask such a question again. The"
        " quotes themselves stay provable against the stored versions."
    ),
)
def answers_still_hold(context: dg.AssetCheckExecutionContext, corpus: CorpusResource) -> dg.AssetCheckResult:
    """Check the answers that quote the source."""
    keys = checked_keys(context)

    async def work() -> dg.AssetCheckResult:
        by_answer: defaultdict[int, list[CitationState]] = defaultdict(list)
        for quote in await _states_of(corpus, keys):
            by_answer[quote.answer_id].append(quote)
        lost = {answer: ones for answer, ones in by_answer.items() if all(quote.state in _LOST for quote in ones)}
        metadata: Metadata = {
            "answers": dg.MetadataValue.int(len(by_answer)),
            "lost": dg.MetadataValue.int(len(lost)),
        }
        if lost:
            metadata["lost_answers"] = table(
                {"answer": answer, "quotes": len(ones), "page": ones[0].url, "first quote": _short(ones[0].quote)}
                for answer, ones in sorted(lost.items())
            )
        return dg.AssetCheckResult(
            passed=not lost,
            severity=dg.AssetCheckSeverity.WARN,
            description=f"{checked_name(keys)}: {len(lost)} of {len(by_answer)} answers lost all their quotes"
            if lost
            else None,
            metadata=metadata,
        )

    return run(work())


def _short(quote: str) -> str:
    line = " ".join(quote.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


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
        citations = await _states_of(corpus, keys)
        counts = _counts_of(citations)
        metadata = _counts_metadata(counts)
        outdated_ones = _worst_first(citations)
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
        outdated = ", ".join(f"{counts[state]} {state}" for state in reversed(_STATES[1:]) if counts[state])
        severity = dg.AssetCheckSeverity.ERROR if counts["broken"] else dg.AssetCheckSeverity.WARN
        return dg.AssetCheckResult(
            passed=not any(counts[state] for state in ("broken", "gone", "changed")),
            severity=severity,
            description=f"{checked_name(keys)}: of {len(citations)} citations {outdated}" if outdated else None,
            metadata=metadata,
        )

    return run(work())
