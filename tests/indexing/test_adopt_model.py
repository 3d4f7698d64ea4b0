"""A changed model is built and switched to once, however many workers ask for it at the same time."""

from __future__ import annotations

import asyncio

from tests.indexing.test_model_switch import NAMES, ShortModel, corpus_of, violations
from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.indexing.model_switch import adopt_model, list_models
from webrag_core.indexing.pipeline import Corpus
from webrag_core.providers.embedder import Vectors


def test_of_several_workers_one_builds_and_the_others_find_it_done(settings: Settings) -> None:
    async def work(corpus: Corpus, local: LocalSite) -> None:
        workers = [ShortModel() for _ in range(3)]
        done = await asyncio.gather(*(adopt_model(corpus.database, worker, batch_size=2) for worker in workers))
        assert sorted(report.embedded for report in done if report is not None) == [len(NAMES)]
        assert sum(worker.calls > 0 for worker in workers) == 1
        assert [model.state for model in await list_models(corpus.database)] == ["retired", "live"]
        assert await violations(corpus) == []

    corpus_of(settings, work)


def test_the_live_model_is_left_alone(settings: Settings) -> None:
    async def work(corpus: Corpus, local: LocalSite) -> None:
        assert await adopt_model(corpus.database, corpus.embedder, batch_size=2) is None

    corpus_of(settings, work)


def test_a_page_that_changes_while_the_corpus_is_embedded_is_caught_up(settings: Settings) -> None:
    async def work(corpus: Corpus, local: LocalSite) -> None:
        class Interrupted(ShortModel):
            async def embed(self, texts: list[str], input_type: str = "document") -> Vectors:  # type: ignore[override]
                found = await super().embed(texts)
                if self.calls == 2:
                    local.pages["/lion"] = page("Lion", "Something else is to be said of the lion now.")
                    await corpus.add(f"{SITE}/lion", refresh=True)
                return found

        report = await adopt_model(corpus.database, Interrupted(), batch_size=2)
        assert report is not None
        assert report.embedded == len(NAMES) + 1
        assert await violations(corpus) == []

    corpus_of(settings, work)
