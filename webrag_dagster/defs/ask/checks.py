"""Check `sentences_proved`: every stored sentence of an answer in prose still follows from what it cites."""

import dagster as dg

from webrag_dagster.metadata import table
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run


@dg.asset_check(
    asset="prose_answers",
    description=(
        "Every sentence of every stored answer is proved again from the database alone, by code that does not know how"
        " it was composed."
    ),
)
def sentences_proved(corpus: CorpusResource) -> dg.AssetCheckResult:
    """Prove all sentences again."""

    async def work() -> dg.AssetCheckResult:
        from webrag_core.answering.proof.recheck import recheck

        problems = []
        sentences = 0
        async with corpus.open() as opened, opened.database.connection() as connection:
            async for name, problem in recheck(connection):
                sentences += 1
                if problem is not None:
                    problems.append({"sentence": name, "problem": problem})
        return dg.AssetCheckResult(
            passed=not problems,
            severity=dg.AssetCheckSeverity.ERROR,
            description=f"{len(problems)} of {sentences} sentences are not proved" if problems else None,
            metadata={
                "sentences": dg.MetadataValue.int(sentences),
                "not_proved": dg.MetadataValue.int(len(problems)),
                **({"problems": table(problems)} if problems else {}),
            },
        )

    return run(work())
