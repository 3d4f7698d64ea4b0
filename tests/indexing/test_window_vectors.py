"""Window vectors: made in the background, resumed, shared by texts, gone with their page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import numpy as np
import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.corpus.forget import forget
from webrag_core.corpus.retention import prune
from webrag_core.indexing import window_vectors
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.window_vectors import WindowStatus, make_windows, window_status
from webrag_core.providers.reading_model import window_vector

PAGES = {
    "/lock": page("Lock", "The gate closes at nine in the evening, except on market days."),
    "/road": page("Road", "Visitors reach the gate by the eastern road, which is steep."),
    "/tor": page(
        "Das Tor", "Das Tor der alten Burg schließt jeden Abend um neun Uhr, außer an den Markttagen im Sommer."
    ),
}


def with_corpus(settings: Settings, work: Callable[[Corpus, LocalSite], Awaitable[None]]) -> None:
    async def body() -> None:
        local = LocalSite(dict(PAGES))
        async with Corpus.open(settings, local) as corpus:
            for path in PAGES:
                await corpus.add(SITE + path)
            await work(corpus, local)

    asyncio.run(body())


async def status_of(corpus: Corpus) -> WindowStatus:
    async with corpus.database.connection() as connection:
        return await window_status(connection)


def test_a_window_is_near_to_what_it_says_in_other_words() -> None:
    question, lock, road = map(window_vector, ("When is the entrance locked?", PAGES["/lock"], PAGES["/road"]))
    assert np.linalg.norm(lock) == pytest.approx(1, abs=1e-4)
    assert question @ lock > question @ road
    assert np.array_equal(window_vector("word " * 300), window_vector("word " * 400))  # the rest is not read


def test_only_english_is_read_once_and_anew_where_a_text_changed(settings: Settings) -> None:
    async def work(corpus: Corpus, local: LocalSite) -> None:
        before = await status_of(corpus)
        assert [(one.passages, one.with_vector, one.missing) for one in before.sources] == [(2, 0, 2)]
        assert before.cpu_seconds_left is None
        report = await make_windows(corpus.database)
        assert (report.made, report.missing) == (2, 0)
        assert report.cpu_seconds > 0
        assert (await make_windows(corpus.database)).made == 0
        assert (await status_of(corpus)).cpu_seconds_left == 0
        local.pages["/road"] = page("Road", "The western road is closed in winter and after heavy rain.")
        await corpus.add(f"{SITE}/road", refresh=True)
        after = await status_of(corpus)
        assert [(one.with_vector, one.missing) for one in after.sources] == [(1, 1)]
        assert after.cpu_seconds_left is not None
        assert after.cpu_seconds_left > 0

    with_corpus(settings, work)


def test_stopped_work_goes_on_where_it_was(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_vectors, "_BATCH", 1)

    def stop(count: int) -> None:
        raise RuntimeError

    async def work(corpus: Corpus, local: LocalSite) -> None:
        with pytest.raises(RuntimeError):
            await make_windows(corpus.database, advance=stop)
        assert [one.missing for one in (await status_of(corpus)).sources] == [1]
        assert (await make_windows(corpus.database)).made == 1

    with_corpus(settings, work)


def test_vectors_go_with_the_page_that_had_their_text(settings: Settings) -> None:
    async def work(corpus: Corpus, local: LocalSite) -> None:
        await make_windows(corpus.database)
        removal = await forget(corpus.database, f"{SITE}/lock", removed_by="test")
        assert removal.counts["window_vectors"] == 1
        local.pages["/road"] = page("Road", "The western road is closed in winter and after heavy rain.")
        await corpus.add(f"{SITE}/road", refresh=True)
        assert (await prune(corpus.database, corpus.settings))["window_vectors"] == 1

    with_corpus(settings, work)
