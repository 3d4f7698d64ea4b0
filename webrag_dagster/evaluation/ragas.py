"""The work of `ragas_scores`: Ragas' metrics of the newest walks, and its judge's where a chat endpoint is set."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg

from evals.judging.ragas_scores import (
    JUDGED,
    OFFLINE,
    Metric,
    Sample,
    judged_scorers,
    offline_scorers,
    samples_of,
    score_samples,
)
from evals.walks.goldens import cluster_of
from evals.walks.recorded import load_run_log
from evals.walks.suites import goldens_of
from webrag_core.errors import InvalidInputError
from webrag_core.providers.chat import OPENAI_URL
from webrag_core.providers.endpoint import key_or_dummy
from webrag_dagster.evaluation.run_files import newest_logs
from webrag_dagster.evaluation.scores import number
from webrag_dagster.evaluation.suite import Scored
from webrag_dagster.markdown import rows_markdown

if TYPE_CHECKING:
    from webrag_core.config import Settings

NO_JUDGE = "no chat endpoint is set (ORCHESTRATION_LLM_BASE_URL or ORCHESTRATION_LLM_API_KEY)"


async def score_with_ragas(context: dg.AssetExecutionContext, settings: Settings, *, judged: int) -> Scored:
    """Score the newest run log of every walk; of `judged` items the model is asked, too. Raises MissingExtraError, and
    InvalidInputError where nothing was walked yet."""
    logs = newest_logs(settings, "sitewalk_*")
    if not logs:
        raise InvalidInputError("no walk has left a run log: run the assets sitewalk_… first")
    started = time.perf_counter()
    samples = [sample for log in logs.values() for sample in _samples(log)]
    metrics = await score_samples(samples, offline_scorers(), lambda item: context.log.debug(f"{item} scored"))
    judge = NO_JUDGE
    key, url = settings.orchestration_llm_api_key, settings.orchestration_llm_base_url
    if judged and (key is not None or url is not None):
        judge = settings.orchestration_llm_model
        scorers = judged_scorers(url or OPENAI_URL, judge, key_or_dummy(key))
        chosen = samples[:: -(-len(samples) // judged)]  # of every walk alike
        metrics |= await score_samples(chosen, scorers, lambda item: context.log.info(f"{item} judged"))
    return Scored(
        metadata={
            **{name: number(mean.mean) for name in metrics if (mean := metrics[name].mean) is not None},
            "metrics": dg.MetadataValue.md("\n".join(rows_markdown([_row(name, metrics[name]) for name in metrics]))),
            "judged_by": dg.MetadataValue.text(judge),
            "items": dg.MetadataValue.int(len(samples)),
            "seconds": number(time.perf_counter() - started),
            "run_logs": dg.MetadataValue.json({name: str(log) for name, log in logs.items()}),
        },
        scores={
            sample.golden.id: {name: metrics[name].values[sample.golden.id] for name in OFFLINE
                               if sample.golden.id in metrics[name].values}
            for sample in samples
        },
        clusters={sample.golden.id: cluster_of(sample.golden) for sample in samples},
    )  # fmt: skip


def _samples(log: Path) -> list[Sample]:
    runs = load_run_log(log)
    return samples_of(goldens_of(runs, None), runs)


def _row(name: str, metric: Metric) -> Mapping[str, object]:
    """A metric with its interval; what is no number is counted, and said why."""
    return {
        "metric": name,
        "by": "a model" if name in JUDGED else "ids and strings",
        "n": metric.mean.n if metric.mean else 0,
        "mean": str(metric.mean or "–"),
        "not a number": metric.not_a_number,
        "errors": "; ".join(metric.errors),
    }
