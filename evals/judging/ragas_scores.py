"""Ragas metrics of a run log: what it fetched and quoted against the gold pages and gold quotes.

Offline, from ids and strings:
- `id_precision`, `id_recall`: pages in the evidence against gold pages. Of alternative gold pages the one found
  counts. Ragas' precision is a set precision: order changes nothing.
- `string_precision`, `string_recall`: passages against gold quotes by edit distance. Passages are much longer than
  quotes, so both are cut to sentences first.
With a judge (any OpenAI-compatible endpoint):
- `llm_precision`, `llm_recall`: whether the passages serve, and cover, the gold quotes.

Ragas is imported when asked for, never before; it is told not to report its use. A value that is not a number enters
no mean: it is counted.
"""

from __future__ import annotations

import asyncio
import math
import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from evals.intervals import Interval, interval
from evals.walks.goldens import GoldenQuery, cluster_of
from evals.walks.recorded import RecordedRun
from evals.walks.scoring import page_of
from webrag_core.extras import RAGAS, require_extra

OFFLINE = ("id_precision", "id_recall", "string_precision", "string_recall")
JUDGED = ("llm_precision", "llm_recall")

_PASSAGES = 10
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_MIN_SENTENCE = 15


@dataclass(frozen=True, slots=True)
class Sample:
    """What Ragas sees of one item. Ids are page names; contexts are texts, best first."""

    golden: GoldenQuery
    retrieved_ids: list[str]
    reference_ids: list[str]
    passages: list[str]
    quotes: list[str]

    @property
    def sentences(self) -> list[str]:
        """The passages, sentence by sentence."""
        parts = (part.strip() for passage in self.passages for part in _SENTENCE.split(passage))
        return [part for part in parts if len(part) >= _MIN_SENTENCE]

    @property
    def quoted_sentences(self) -> list[str]:
        """The quotes, sentence by sentence; none is left out for its length."""
        return [part.strip() for quote in self.quotes for part in _SENTENCE.split(quote) if part.strip()]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric over all samples. `mean` is None when no value is a number; `not_a_number` counts those that are
    none, and `errors` says why, once each."""

    mean: Interval | None
    not_a_number: int
    errors: tuple[str, ...]
    values: Mapping[str, float]


Scorer = Callable[[Sample], Awaitable[float]]


def samples_of(goldens: Sequence[GoldenQuery], runs: Sequence[RecordedRun]) -> list[Sample]:
    """Samples of the answerable items that have a run."""
    by_id = {run.id: run for run in runs}
    return [_sample(golden, by_id[golden.id].record) for golden in goldens
            if golden.kind != "unanswerable" and golden.id in by_id]  # fmt: skip


def _sample(golden: GoldenQuery, record: Mapping[str, Any]) -> Sample:
    evidence = record["evidence"][:_PASSAGES]
    pages = list(dict.fromkeys(page_of(passage["url"]) for passage in evidence))
    needs = [[page_of(url) for url in need] for need in golden.gold_pages]
    return Sample(
        golden=golden,
        retrieved_ids=pages,
        reference_ids=list(dict.fromkeys(next((page for page in need if page in pages), need[0]) for need in needs)),
        passages=[passage["text"] for passage in evidence],
        quotes=[quotes[0] for quotes in golden.gold_quotes],
    )


async def score_samples(
    samples: Sequence[Sample], scorers: Mapping[str, Scorer], advance: Callable[[str], None], concurrency: int = 4
) -> dict[str, Metric]:
    """Every scorer on every sample; one that fails gives no number there, and costs nothing else."""
    gate = asyncio.Semaphore(concurrency)

    async def score(scorer: Scorer, sample: Sample) -> tuple[float, str | None]:
        async with gate:
            try:
                return float(await scorer(sample)), None
            except Exception as error:  # noqa: BLE001 (any provider's, any of Ragas' own)
                return math.nan, f"{type(error).__name__}: {error}"[:200]
            finally:
                advance(sample.golden.id)

    metrics = {}
    for name, scorer in scorers.items():
        results = await asyncio.gather(*(score(scorer, sample) for sample in samples))
        metrics[name] = _metric(samples, results)
    return metrics


def _metric(samples: Sequence[Sample], results: Sequence[tuple[float, str | None]]) -> Metric:
    pairs = list(zip(samples, results, strict=True))
    numbers = {sample.golden.id: value for sample, (value, _) in pairs if math.isfinite(value)}
    clusters = [cluster_of(sample.golden) for sample, (value, _) in pairs if math.isfinite(value)]
    return Metric(
        mean=interval(list(numbers.values()), clusters) if numbers else None,
        not_a_number=len(pairs) - len(numbers),
        errors=tuple(dict.fromkeys(error for _, error in results if error is not None)),
        values=numbers,
    )


def offline_scorers() -> dict[str, Scorer]:
    """Ragas' metrics that need no model. Raises MissingExtraError without the extra."""
    metrics, sample_class = _ragas()

    async def ask(metric: Any, **fields: list[str]) -> float:
        return float(await metric.single_turn_ascore(sample_class(**fields)))

    id_precision, id_recall = metrics.IDBasedContextPrecision(), metrics.IDBasedContextRecall()
    precision, recall = metrics.NonLLMContextPrecisionWithReference(), metrics.NonLLMContextRecall()
    return {
        "id_precision": lambda s: ask(
            id_precision, retrieved_context_ids=s.retrieved_ids, reference_context_ids=s.reference_ids
        ),
        "id_recall": lambda s: ask(
            id_recall, retrieved_context_ids=s.retrieved_ids, reference_context_ids=s.reference_ids
        ),
        "string_precision": lambda s: ask(
            precision, retrieved_contexts=s.sentences, reference_contexts=s.quoted_sentences
        ),
        "string_recall": lambda s: ask(recall, retrieved_contexts=s.sentences, reference_contexts=s.quoted_sentences),
    }


def judged_scorers(url: str, model: str, key: str) -> dict[str, Scorer]:
    """Ragas' metrics that ask a model at an OpenAI-compatible endpoint. Raises MissingExtraError as above."""
    _ragas()
    from openai import AsyncOpenAI

    factory, collections = import_module("ragas.llms"), import_module("ragas.metrics.collections")
    judge = factory.llm_factory(model, client=AsyncOpenAI(base_url=url, api_key=key, timeout=60.0, max_retries=0))
    precision, recall = collections.ContextPrecision(llm=judge), collections.ContextRecall(llm=judge)

    async def ask(metric: Any, sample: Sample) -> float:
        answer = await metric.ascore(
            user_input=sample.golden.query, reference=" ".join(sample.quotes), retrieved_contexts=sample.passages
        )
        return float(answer.value)

    return {"llm_precision": lambda s: ask(precision, s), "llm_recall": lambda s: ask(recall, s)}


def _ragas() -> tuple[Any, Any]:
    require_extra(RAGAS, "`webrag eval ragas`")
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"  # read when it is imported; only this word counts
    return import_module("ragas.metrics"), import_module("ragas").SingleTurnSample
