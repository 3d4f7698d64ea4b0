"""A stored version becomes searchable: in stages, all at once for readers, whatever else happens meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import numpy as np
import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules, rows, texts
from webrag_core.config import Settings
from webrag_core.errors import EmbeddingError, FetchError, StoreError
from webrag_core.indexing.indexer import Indexer
from webrag_core.indexing.pipeline import Corpus
from webrag_core.providers.embedder import ModelIdentity, Vectors, WordLlamaEmbedder, checked
from webrag_core.providers.input_types import InputType

A, B = f"{HOME}a", f"{HOME}b"


def sections(*words: str) -> str:
    """A page with one long section for each word."""
    return html("Guide", *(f"</p><h2>{word}</h2><p>{f'All there is to say about {word}. ' * 25}" for word in words))


@asynccontextmanager
async def opened(settings: Settings, *words: str, **changed: int) -> AsyncIterator[tuple[Corpus, ServedPages]]:
    """A corpus over a site with one page of sections; all invariants hold at the end."""
    site = ServedPages({A: sections(*words)} if words else {})
    async with Corpus.open(settings.model_copy(update=changed), site) as corpus:
        yield corpus, site
        assert await broken_rules(corpus.database) == set()


async def counts(corpus: Corpus) -> dict[str, int]:
    """Rows that belong to searchable documents, per table."""
    [found] = await rows(
        corpus.database,
        "SELECT (SELECT count(*) FROM chunks WHERE level = 'parent'),"
        " (SELECT count(*) FROM chunks WHERE level = 'child'),"
        " (SELECT count(*) FROM contract.v_embedding), (SELECT sum(parents)::int FROM lexical_documents),"
        " (SELECT count(DISTINCT chunk_id) FROM lexical_postings), (SELECT count(*) FROM embedding_cache)",
    )
    return dict(zip(("parents", "children", "vectors", "lexical", "postings", "cached"), found, strict=True))


def test_a_version_is_current_only_after_the_last_stage(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, "alpha", "beta", "gamma") as (corpus, _):
            page = await corpus.ingestor.ingest(A)
            await corpus.indexer.chunk(page.version_id)
            assert await texts(corpus) == {}
            assert await rows(corpus.database, "SELECT status FROM documents") == [("running",)]
            indexed = await corpus.indexer.activate(page.version_id)
            assert indexed.became_current
            assert "alpha" in (await texts(corpus))[A]
            found = await counts(corpus)
            assert found["children"] == found["vectors"] > found["parents"] == found["lexical"] == found["postings"]

    asyncio.run(run())


@pytest.mark.parametrize("stage", ["fetched", "chunked"])
@pytest.mark.parametrize("refresh", [False, True])
def test_after_a_kill_the_old_version_serves_and_the_next_run_finishes(
    settings: Settings, stage: str, refresh: bool
) -> None:
    async def run() -> None:
        async with opened(settings, "alpha") as (corpus, site):
            await corpus.add(A)
            site.pages[A] = sections("beta")
            stored = await corpus.ingestor.ingest(A, refresh=True)
            if stage == "chunked":
                await corpus.indexer.chunk(stored.version_id)
            assert "alpha" in (await texts(corpus))[A]
            assert await broken_rules(corpus.database) == set()
            async with Corpus.open(settings, site) as later:  # as another process would
                finished = await later.add(A, refresh=refresh)
                assert finished.version_id == stored.version_id
                assert "beta" in (await texts(later))[A]

    asyncio.run(run())


def test_a_first_version_that_was_never_indexed_needs_no_second_fetch(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, "alpha") as (corpus, site):
            await corpus.ingestor.ingest(A)
            assert (await corpus.add(A)).outcome == "reused"
            assert "alpha" in (await texts(corpus))[A]
            assert site.answers == [200]

    asyncio.run(run())


def test_whoever_is_slow_does_not_bring_back_an_older_text(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, "alpha") as (corpus, site):
            old = await corpus.ingestor.ingest(A)
            site.pages[A] = sections("beta")
            new = await corpus.add(A, refresh=True)
            late = await corpus.indexer.index(old.version_id)
            assert not late.became_current
            assert "beta" in (await texts(corpus))[A]
            assert (await corpus.add(A, refresh=True)).version_id == new.version_id

    asyncio.run(run())


def test_only_what_is_to_be_done_is_pending(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, "alpha") as (corpus, site):
            site.pages[B] = sections("beta")
            first, second = (await corpus.ingestor.ingest(A)).version_id, (await corpus.ingestor.ingest(B)).version_id
            indexer = corpus.indexer
            assert await indexer.pending([second, first], "chunk") == [second, first]
            await indexer.chunk(first)
            assert await indexer.pending([second, first], "chunk") == [second]
            assert await indexer.pending([second, first], "activate") == [second, first]
            await indexer.activate(first)
            await indexer.activate(second)
            assert await indexer.pending([second, first], "chunk") == []
            assert await indexer.pending([second, first], "activate") == []
            async with corpus.database.connection() as connection:
                await connection.execute("DELETE FROM vectors_1 WHERE document_id = 1")
            assert await indexer.pending([second, first], "activate") == [first]
            await indexer.activate(first)

    asyncio.run(run())


def test_texts_that_stay_are_not_embedded_again_when_a_page_is_rechunked(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, "alpha", "beta") as (corpus, _):
            page = await corpus.add(A)
            await rows(corpus.database, "UPDATE document_versions SET chunker = 'of before' RETURNING id")
            assert await corpus.indexer.settled([page.version_id]) == {}
            await corpus.indexer.rechunk(page.version_id)
            found = await counts(corpus)
            assert (await corpus.indexer.index(page.version_id)).embedded == 0
            assert (found["children"], found["cached"]) == (found["vectors"], 0)

    asyncio.run(run())


def test_an_index_left_by_a_killed_builder_is_built_again(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with opened(settings, "alpha") as (corpus, _):
            await corpus.add(A)
            monkeypatch.setattr("webrag_core.indexing.embedding_models.HNSW_MIN_ROWS", 0)
            async with corpus.database.connection() as connection:
                await connection.execute("CREATE INDEX vectors_1_hnsw ON vectors_1 (embedding)")
                await connection.execute(
                    "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'vectors_1_hnsw'::regclass"
                )
            assert await corpus.indexer.finish_bulk()
            built = "SELECT indisvalid, indexdef LIKE '%USING hnsw%' FROM pg_index JOIN pg_indexes ON indexname ="
            built += " 'vectors_1_hnsw' WHERE indexrelid = 'vectors_1_hnsw'::regclass"
            assert await rows(corpus.database, built.replace("%", "%%")) == [(True, True)]

    asyncio.run(run())


def test_other_limits_replace_everything_at_once(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, "alpha", "beta") as (corpus, _):
            page = await corpus.add(A)
            before = await counts(corpus)
            async with opened(settings, child_target_tokens=32, parent_max_tokens=100) as (finer, _):
                assert await finer.indexer.chunk(page.version_id) == 0  # current: only the last stage replaces it
                assert await counts(finer) == before
                await finer.indexer.index(page.version_id)
                after = await counts(finer)
                assert after["children"] > 2 * before["children"]
                assert after["parents"] > before["parents"]
                largest = "SELECT level, max(token_count) FROM chunks GROUP BY 1 ORDER BY 1"
                assert all(
                    tokens <= limit
                    for (_, tokens), limit in zip(await rows(finer.database, largest), (32, 100), strict=True)
                )

    asyncio.run(run())


def test_what_is_done_is_not_done_again(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, "alpha", "beta", "gamma") as (corpus, site):
            page = await corpus.add(A)
            ids = await rows(corpus.database, "SELECT id FROM chunks ORDER BY 1")
            again = await corpus.indexer.index(page.version_id)
            assert (again.embedded, again.became_current) == (0, False)
            assert await corpus.indexer.settled([page.version_id]) == {page.version_id: again}
            assert await rows(corpus.database, "SELECT id FROM chunks ORDER BY 1") == ids
            site.pages[B] = site.pages[A]
            # to make vectors in this process again costs less than to look them up
            assert (await corpus.add(B)).embedded == page.embedded

    asyncio.run(run())


@pytest.mark.slow
def test_a_text_that_a_page_repeats_is_looked_up_once(settings: Settings) -> None:
    """Once for each repetition would read the square of their number of rows: 5 MB of one letter took 40 seconds."""

    async def run() -> None:
        async with opened(settings) as (corpus, site):
            site.pages[A] = html("Three or more words", "a" * 1_000_000)
            await corpus.add(A)
            vectors = (await counts(corpus))["vectors"]
            assert vectors > 500
            async with corpus.database.connection() as connection:
                await connection.execute("SELECT pg_stat_force_next_flush()")
            [(reads,)] = await rows(
                corpus.database,
                "SELECT sum(idx_scan)::int FROM pg_stat_user_indexes WHERE relname ~ '^vectors_[0-9]+$'",
            )
            assert reads < 10 * vectors

    asyncio.run(run())


def test_one_edited_section_embeds_only_its_children(settings: Settings) -> None:
    async def run() -> None:
        words = [f"topic{number}" for number in range(8)]
        async with opened(settings, *words) as (corpus, site):
            total = (await corpus.add(A)).embedded
            site.pages[A] = sections(*words[:3], "changed", *words[4:])
            assert 0 < (await corpus.add(A, refresh=True)).embedded < total / 3

    asyncio.run(run())


def test_concurrent_indexing_leaves_one_set_of_rows(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, "alpha", "beta") as (corpus, site):
            page = await corpus.ingestor.ingest(A)
            async with Corpus.open(settings, site) as other:
                indexed = await asyncio.gather(
                    *(each.indexer.index(page.version_id) for each in (corpus, other, corpus, other))
                )
            assert sum(outcome.became_current for outcome in indexed) == 1
            found = await counts(corpus)
            assert sum(outcome.embedded for outcome in indexed) == found["children"]  # three waited, one worked
            assert found["children"] == found["vectors"]
            assert found["cached"] == 0  # what the table serves is not stored twice

    asyncio.run(run())


def test_many_pages_with_shared_words_at_once(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings) as (corpus, site):
            words = ["alpha", "beta", "gamma", "delta"]
            urls = [f"{HOME}{number}" for number in range(12)]
            for number, url in enumerate(urls):
                shift = number % 4
                site.pages[url] = sections(*words[shift:], *words[:shift], f"own{number}")
            await asyncio.gather(*(corpus.add(url) for url in urls))
            assert set(await texts(corpus)) == set(urls)
            terms = "SELECT count(*), max(id) FROM lexical_terms"
            [(count, highest)] = await rows(corpus.database, terms)
            async with Corpus.open(settings, site) as later:
                await asyncio.gather(*(later.add(url, refresh=True) for url in urls))
                site.pages[HOME] = sections(*words)
                await later.add(HOME)
            assert await rows(corpus.database, terms) == [(count, highest)]  # known words use up no ids

    asyncio.run(run())


def test_texts_without_a_token_have_a_vector(settings: Settings) -> None:
    async def run() -> Vectors:
        return await WordLlamaEmbedder().embed(["", " \n\t", "\u2028", "words", "\u200b"])

    vectors = asyncio.run(run())
    assert np.isfinite(vectors).all()
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert (vectors[0] == vectors[1]).all()


@pytest.mark.parametrize(
    "vectors", [np.zeros((1, 256)), np.zeros((2, 255)), np.full((2, 256), np.nan), np.full((2, 256), np.inf)]
)
def test_answers_of_a_model_are_checked(vectors: Vectors) -> None:
    with pytest.raises(EmbeddingError):
        checked(vectors, 2, WordLlamaEmbedder.identity)


class OtherModel(WordLlamaEmbedder):
    """The same vectors under another name."""

    identity = ModelIdentity("test", "other", 256, "l2")


def test_two_models_never_meet(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, "alpha") as (corpus, _):
            page = await corpus.add(A)
            other = Indexer(corpus.database, OtherModel(), settings)
            for attempt in (other.model_id(), other.index(page.version_id)):
                with pytest.raises(StoreError) as caught:
                    await attempt
                assert caught.value.code == "embedding_model_mismatch"

    asyncio.run(run())


class FailingModel(WordLlamaEmbedder):
    """Gives up at the second batch."""

    calls = 0

    async def embed(self, texts: Sequence[str], input_type: InputType = "document") -> Vectors:
        self.calls += 1
        if self.calls == 2:
            raise EmbeddingError("no answer")
        return await super().embed(texts)


def test_a_model_that_fails_changes_nothing_and_what_it_gave_is_kept(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, "alpha") as (corpus, site):
            await corpus.add(A)
            site.pages[A] = sections("beta", "gamma", "delta", "epsilon")
            page = await corpus.ingestor.ingest(A, refresh=True)
            failing = Indexer(corpus.database, FailingModel(), settings.model_copy(update={"embedding_batch_size": 1}))
            with pytest.raises(EmbeddingError):
                await failing.index(page.version_id)
            assert "alpha" in (await texts(corpus))[A]
            again = await corpus.indexer.index(page.version_id)
            assert again.embedded == 1  # what the other requests brought was kept

    asyncio.run(run())


def test_a_version_that_does_not_exist(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings) as (corpus, _):
            for stage in (corpus.indexer.chunk, corpus.indexer.activate):
                with pytest.raises(FetchError):
                    await stage(4711)

    asyncio.run(run())


def test_a_graph_is_built_only_for_many_vectors(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with opened(settings, "alpha") as (corpus, _):
            await corpus.add(A)
            assert not await corpus.indexer.finish_bulk()
            monkeypatch.setattr("webrag_core.indexing.embedding_models.HNSW_MIN_ROWS", 0)
            assert all(await asyncio.gather(*(corpus.indexer.finish_bulk() for _ in range(3))))
            indexes = "SELECT count(*) FROM pg_indexes WHERE indexname = 'vectors_1_hnsw'"
            assert await rows(corpus.database, indexes) == [(1,)]
            memory = await rows(corpus.database, "SELECT DISTINCT current_setting('maintenance_work_mem')")
            assert memory != [("256MB",)]

    asyncio.run(run())
