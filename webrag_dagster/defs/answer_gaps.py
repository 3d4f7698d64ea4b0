"""Asset `answer_gaps`: what the corpus could not answer in the last four weeks, with the pages that it may lack."""

from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.metadata import table
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

if TYPE_CHECKING:
    from webrag_core.application.reading import GapList


@dg.asset(
    name="answer_gaps",
    deps=["prose_answers"],
    group_name="answers",
    kinds={"postgres"},
    owners=["team:corpus"],
    description=(
        "Questions that were refused, answered with low confidence or marked wrong, by week and source, with the"
        " nearest pages and those that a site map names and the corpus lacks. Materialized with the inventory."
    ),
)
def answer_gaps(corpus: CorpusResource) -> dg.MaterializeResult[None]:
    """List the gaps."""
    from webrag_core.application.reading import ListGaps
    from webrag_core.store.database import Database

    async def work() -> "GapList":
        async with await Database.open(corpus.settings()) as database:
            return await ListGaps.of().read(database)

    gaps = run(work()).gaps
    return dg.MaterializeResult(
        metadata={
            "gaps": dg.MetadataValue.int(len(gaps)),
            "questions": dg.MetadataValue.int(sum(gap.times for gap in gaps)),
            "list": table(
                {
                    "week": gap.week.isoformat(),
                    "source": gap.source or "–",
                    "question": gap.question,
                    "why": ", ".join(f"{count} {why}" for why, count in gap.why.items()),
                    "answers": ", ".join(map(str, gap.answers)),
                    "golden": "yes" if gap.is_golden else "no",
                    "nearest": " ".join(gap.nearest),
                    "lacking": " ".join(gap.lacking),
                }
                for gap in gaps
            ),
        }
    )
