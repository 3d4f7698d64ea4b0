"""The recency benchmark: dates by lot are stored, spread over ten years, and the boost acts on them."""

from __future__ import annotations

import asyncio

from benchmarks.corpus.recency import date_by_lot, measure, year_of
from evals.retrieval.data import BenchDocument, EvidenceSpan, RetrievalQuestion
from evals.retrieval.quality import open_bench
from webrag_core.config import Settings


def test_a_boost_prefers_the_page_that_the_lot_made_newer(settings: Settings) -> None:
    documents = [
        BenchDocument(id=f"page {n}", text=f"# Whales\n\nThe blue whale number {n} filters krill from the sea.\n")
        for n in range(40)
    ]
    assert {year_of(document) for document in documents} == set(range(2015, 2025))
    pair = [next(one for one in documents if year_of(one) == year) for year in (2015, 2024)]

    async def work() -> list[dict[str, float]]:
        async with open_bench(pair, settings.model_copy(update={"redundancy_ceiling": 1.0})) as bench:
            await date_by_lot(bench, pair)
            scores = []
            for document, boost in ((pair[0], 0.0), (pair[0], 1.0), (pair[1], 1.0)):
                span = EvidenceSpan(document=document.id, start=0, end=len(document.text) - 1)
                words = document.id.split()[1]
                asked = RetrievalQuestion(id="q", set="s", question=f"whale {words} krill", evidence=[span])
                scores.append((await measure(bench, [asked], boost))["q"])
            return scores

    plain, older, newer = asyncio.run(work())
    assert plain["mrr@10"] == newer["mrr@10"] == 1.0
    assert older["hits@4"] == 1.0
