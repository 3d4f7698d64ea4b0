"""Asset `citations`: what became of the quotes of stored answers, and the check that answers still hold."""

import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.conditions import rebuild_on_change
from webrag_dagster.corpus.checks import checked_keys, checked_name
from webrag_dagster.corpus.citations import citations_table, counts_metadata, counts_of, states_of, worst_first
from webrag_dagster.corpus.layers import EMBEDDINGS
from webrag_dagster.corpus.page_diffs import compare_command
from webrag_dagster.metadata import Metadata, table
from webrag_dagster.partitions import SOURCES
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.history.citations import CitationState

CITATIONS = "citations"
_LOST = ("changed", "gone", "broken")
_SHOWN = 300  # characters of a quote in a table


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

    async def work() -> dg.MaterializeResult[None]:
        states = await states_of(corpus, [context.partition_key])
        changed = worst_first(states)
        metadata = {**counts_metadata(counts_of(states)), **await citations_table(corpus, len(states))}
        if changed:
            metadata["no_longer_as_quoted"] = table(
                {
                    "state": one.state,
                    "how": one.how,
                    "answer": one.answer_id,
                    "citation": one.number,
                    "page": one.url,
                    "quote": _short(one.quote),
                    "facts changed": ", ".join(one.facts_changed) or None,
                    "now at": one.now_url,
                    "compare with": None
                    if one.current_version is None
                    else compare_command(one.url, one.cited_version, one.current_version),
                }
                for one in changed
            )
        digest = hashlib.sha256(repr([(one.answer_id, one.number, one.state) for one in states]).encode()).hexdigest()
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
        for one in await states_of(corpus, keys):
            by_answer[one.answer_id].append(one)
        lost = {answer: ones for answer, ones in by_answer.items() if all(one.state in _LOST for one in ones)}
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
