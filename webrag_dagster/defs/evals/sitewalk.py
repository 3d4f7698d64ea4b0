"""Assets `sitewalk_…`: the loop on a sample of golden questions per WARC snapshot, gated by the last passing runs."""

import dagster as dg
from pydantic import Field

from evals.walks.suites import Suite, own_suites
from webrag_dagster.evaluation import versions as eval_versions
from webrag_dagster.evaluation.rescoring import NIGHTLY, RESCORE
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run

GATE, REPLAY = "no_regression", "decisions_replay"


class SitewalkConfig(dg.Config):
    """Sample size of the suite."""

    items: int = Field(default=12, description="Golden questions, every kind in turn; 1000 for all of them.")
    policy: str = Field(default="calibrated", description="Stop policy; each has a base of its own.")
    accept: bool = Field(default=False, description="Make this run the base of later comparisons, even if it is worse.")


def _sitewalk(suite: Suite) -> dg.AssetsDefinition:
    name = f"sitewalk_{suite.name.replace('-', '_').replace('.', '_')}"

    @dg.asset(
        name=name,
        deps=["golden_queries"],
        group_name="evals",
        kinds={"python"},
        tags={"webrag/split": suite.split, "webrag/site": suite.kind},
        owners=["team:webrag"],
        pool="evals",
        code_version=eval_versions.sitewalk(suite.golden),
        automation_condition=RESCORE,
        freshness_policy=NIGHTLY,
        check_specs=[
            dg.AssetCheckSpec(
                GATE,
                asset=name,
                description="No metric fell, item by item, against the newest run under the same policy that passed.",
            ),
            dg.AssetCheckSpec(
                REPLAY, asset=name, description="Deciding every recorded round again gives what was decided."
            ),
        ],
        description=(
            f"Runs on the WARC snapshot {suite.name}: each golden question from its seed page, from an empty corpus,"
            " scored against gold pages and gold quotes. "
            + ("Rules were fitted on this site. " if suite.split == "fitting" else "Nothing was fitted on this site. ")
            + "Under Metadata the UI plots every score over time."
        ),
    )
    def sitewalk(
        context: dg.AssetExecutionContext, config: SitewalkConfig, corpus: CorpusResource
    ) -> dg.MaterializeResult:  # type: ignore[type-arg]  # with checks, Dagster knows the bare name only
        """Walk, score, report, compare."""
        from webrag_dagster.evaluation.walks import walk

        return run(
            walk(
                context,
                corpus.settings(),
                asset=name,
                golden=suite.golden,
                warc=suite.warc,
                items=config.items,
                policy=config.policy,
                accept=config.accept,
            )
        )

    return sitewalk


@dg.definitions
def sitewalks() -> dg.Definitions:
    """One asset per WARC snapshot that is present: an installed package contains none of them."""
    return dg.Definitions(assets=[_sitewalk(suite) for suite in own_suites().values() if suite.warc.is_file()])
