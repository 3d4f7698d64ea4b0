"""A URL in, a stored version out: reuse, refresh, redirects, failures."""

from __future__ import annotations

import asyncio
import random
import string
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.conftest import FROZEN_SITE
from tests.corpus.corpora import broken_rules, rows, texts
from webrag_core.acquisition.urls import MAX_PAGE_URL_CHARS
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import Settings
from webrag_core.corpus.acquirers import make_acquirer
from webrag_core.errors import FetchError, Reason
from webrag_core.indexing.pipeline import Corpus

A, B, C = f"{HOME}a", f"{HOME}b", f"{HOME}c"
FIRST, SECOND = html("Page", "The first text of it."), html("Page", "Another text altogether.")

Story = Callable[[Corpus, ServedPages], Awaitable[None]]


@pytest.fixture
def tell(settings: Settings) -> Callable[[Story], None]:
    """Run a story on an empty corpus over a site with the page A; all invariants hold at its end."""

    def tell(story: Story) -> None:
        async def run() -> None:
            site = ServedPages({A: FIRST})
            async with Corpus.open(settings, site) as corpus:
                await story(corpus, site)
                assert await broken_rules(corpus.database) == set()

        asyncio.run(run())

    return tell


def test_a_stored_page_is_not_fetched_again(tell: Callable[[Story], None]) -> None:
    async def story(corpus: Corpus, site: ServedPages) -> None:
        first = await corpus.add(A)
        again = await corpus.add(f"{A}?utm_source=x#part")
        assert (first.outcome, again.outcome, again.version_id) == ("fetched", "reused", first.version_id)
        assert site.answers == [200]

    tell(story)


def test_an_unchanged_page_costs_a_304_and_its_age_starts_again(tell: Callable[[Story], None]) -> None:
    checked = "SELECT last_checked, etag FROM documents"

    async def story(corpus: Corpus, site: ServedPages) -> None:
        first = await corpus.add(A)
        [(before, etag)] = await rows(corpus.database, checked)
        again = await corpus.add(A, refresh=True)
        [(after, same_etag)] = await rows(corpus.database, checked)
        assert (again.outcome, again.version_id, again.embedded) == ("unchanged", first.version_id, 0)
        assert (site.answers, same_etag) == ([200, 304], etag)
        assert after > before
        ledger = await rows(corpus.database, "SELECT outcome, http_status FROM fetch_log ORDER BY id")
        assert ledger == [("fetched", 200), ("unchanged", 304)]

    tell(story)


def test_an_old_page_is_asked_for_again(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({A: FIRST})
        async with Corpus.open(settings.model_copy(update={"webrag_max_age": 0.0}), site) as corpus:
            await corpus.add(A)
            site.pages[A] = SECOND
            assert (await corpus.add(A)).outcome == "fetched"
            assert "Another" in (await texts(corpus))[A]

    asyncio.run(run())


def test_a_text_that_comes_back_is_the_version_it_was(tell: Callable[[Story], None]) -> None:
    async def story(corpus: Corpus, site: ServedPages) -> None:
        versions = []
        for page in (FIRST, SECOND, FIRST):
            site.pages[A] = page
            versions.append((await corpus.add(A, refresh=True)).version_id)
            assert len(await texts(corpus)) == 1
        assert versions[0] == versions[2] != versions[1]
        assert "first" in (await texts(corpus))[A]
        assert (await corpus.add(A, refresh=True)).version_id == versions[0]
        assert site.answers == [200, 200, 200, 304]
        assert await rows(corpus.database, "SELECT number FROM document_versions ORDER BY 1") == [(1,), (2,)]

    tell(story)


def test_aliases_and_redirects_lead_to_one_document(tell: Callable[[Story], None]) -> None:
    async def story(corpus: Corpus, site: ServedPages) -> None:
        site.redirects |= {B: C, C: A}
        added = [await corpus.add(url) for url in (B, C, A, B)]
        assert {page.document_id for page in added} == {added[0].document_id}
        assert [page.outcome for page in added] == ["fetched", "reused", "reused", "reused"]
        assert {page.url for page in added} == {A}
        assert await rows(corpus.database, "SELECT canonical_url FROM documents") == [(A,)]
        assert await rows(corpus.database, "SELECT url, final_url, hop FROM fetch_log") == [(B, A, 2)]

    tell(story)


def test_the_longest_url_is_stored_linked_and_found(tell: Callable[[Story], None]) -> None:
    letters = random.Random(1)  # no text that an index could compress
    path, other = ("".join(letters.choices(string.ascii_letters + string.digits, k=3_000)) for _ in range(2))
    long, linked = f"{HOME}{path}"[:MAX_PAGE_URL_CHARS], f"{HOME}{other}"

    async def story(corpus: Corpus, site: ServedPages) -> None:
        site.pages[long] = html("Long", f'The text below a long address. <a href="{linked}">more</a>')
        assert (await corpus.add(long)).outcome == "fetched"
        assert await rows(corpus.database, "SELECT canonical_url FROM documents") == [(long,)]
        assert await rows(corpus.database, "SELECT target_url FROM link_candidates") == [(linked,)]
        site.redirects[A] = f"{long}x"
        site.pages[f"{long}x"] = FIRST
        for url in (f"{long}x", linked, A):
            with pytest.raises(FetchError, match="longer than"):
                await corpus.add(url)

    tell(story)


def test_a_page_that_moved_leaves_the_index_and_may_come_back(tell: Callable[[Story], None]) -> None:
    async def story(corpus: Corpus, site: ServedPages) -> None:
        old = await corpus.add(A)
        site.pages = {B: SECOND}
        site.redirects = {A: B}
        moved = await corpus.add(A, refresh=True)
        assert moved.url == B
        assert set(await texts(corpus)) == {B}
        assert (await corpus.add(A)).outcome == "reused"
        assert await corpus.indexer.chunk(old.version_id) == 0
        assert not (await corpus.indexer.activate(old.version_id)).became_current
        gone = "SELECT status, reason FROM documents WHERE canonical_url = %s"
        assert await rows(corpus.database, gone, A) == [("gone", "moved")]
        assert await broken_rules(corpus.database) == set()
        site.pages, site.redirects = {A: FIRST, B: SECOND}, {}
        back = await corpus.add(A, refresh=True)
        assert (back.url, back.document_id, back.version_id) == (A, old.document_id, old.version_id)
        assert set(await texts(corpus)) == {A, B}

    tell(story)


def test_a_redirect_to_an_unchanged_page_retires_the_old_one(tell: Callable[[Story], None]) -> None:
    async def story(corpus: Corpus, site: ServedPages) -> None:
        site.pages[B] = SECOND
        await corpus.add(A)
        await corpus.add(B)
        site.redirects = {A: B}
        assert (await corpus.add(A, refresh=True)).url == B
        assert set(await texts(corpus)) == {B}

    tell(story)


def test_an_equal_validator_of_another_page_is_not_believed(tell: Callable[[Story], None]) -> None:
    async def story(corpus: Corpus, site: ServedPages) -> None:
        site.etag = '"1"'
        await corpus.add(A)
        site.pages[B], site.redirects = SECOND, {A: B}
        assert (await corpus.add(A, refresh=True)).url == B
        assert "Another" in (await texts(corpus))[B]

    tell(story)


@pytest.mark.parametrize(
    ("page", "reason"),
    [(None, Reason.NOT_FOUND), ("<p> </p>", Reason.EMPTY_PAGE), ("<p>Two words</p>", Reason.EMPTY_PAGE)],
)
def test_failures_are_recorded_and_a_good_version_is_kept(
    tell: Callable[[Story], None], page: str | None, reason: Reason
) -> None:
    async def story(corpus: Corpus, site: ServedPages) -> None:
        good = await corpus.add(A)
        site.pages = {} if page is None else {A: page, B: page}
        for url in (A, B):
            with pytest.raises(FetchError) as caught:
                await corpus.add(url, refresh=True, run_id="run")
            assert caught.value.reason is reason
        state = "SELECT status, reason, current_version FROM documents WHERE canonical_url = %s"
        assert await rows(corpus.database, state, A) == [("ready", None, good.version_id)]
        assert await rows(corpus.database, state, B) == [("failed", reason.value, None)]
        assert "first" in (await texts(corpus))[A]
        ledger = "SELECT url, outcome, reason, run_id FROM fetch_log WHERE outcome = 'failed' ORDER BY id"
        assert await rows(corpus.database, ledger) == [(url, "failed", reason.value, "run") for url in (A, B)]
        site.pages = {A: FIRST, B: SECOND}
        assert (await corpus.add(B)).outcome == "fetched"

    tell(story)


def test_what_is_no_url_is_in_no_ledger(tell: Callable[[Story], None]) -> None:
    async def story(corpus: Corpus, site: ServedPages) -> None:
        for url in ("", "nonsense", "ftp://example.org/", "https://me:secret@example.org/"):
            with pytest.raises(FetchError) as caught:
                await corpus.add(url)
            assert caught.value.reason is Reason.INVALID_URL
        assert await rows(corpus.database, "SELECT 1 FROM fetch_log") == []

    tell(story)


def test_a_copy_of_another_acquirer_is_never_reused(settings: Settings) -> None:
    url = "https://docs.python.org/3.11/library/bisect.html"

    async def run() -> None:
        async with Corpus.open(settings) as frozen:
            first = await frozen.add(url)
        site = ServedPages({url: FIRST})
        async with Corpus.open(settings, site) as live:
            second = await live.add(url)
            assert (second.outcome, second.document_id) == ("fetched", first.document_id)
            assert (await texts(live))[url].startswith("# Page")
        async with Corpus.open(settings) as frozen:
            assert (await frozen.add(url)).version_id == first.version_id
            assert await broken_rules(frozen.database) == set()

    asyncio.run(run())


def test_a_text_of_an_older_extractor_is_fetched_anew(tell: Callable[[Story], None]) -> None:
    async def story(corpus: Corpus, site: ServedPages) -> None:
        await corpus.add(A)
        await rows(corpus.database, "UPDATE document_versions SET extractor = 'html-0' RETURNING id")
        await corpus.add(A, refresh=True)
        assert site.answers == [200, 200]
        await corpus.add(A, refresh=True)
        assert site.answers == [200, 200, 304]

    tell(story)


@pytest.mark.parametrize("media_type", ["text/plain", "text/markdown; charset=latin-1", "text/plain; charset=idna"])
def test_plain_text_is_its_own_markdown(tell: Callable[[Story], None], media_type: str) -> None:
    async def story(corpus: Corpus, site: ServedPages) -> None:
        site.media_type = media_type
        site.pages[A] = "# Words\r\n\r\nthat stay as they are\x00\r\n"
        await corpus.add(A)
        assert await rows(corpus.database, "SELECT markdown FROM document_versions") == [
            ("# Words\r\n\r\nthat stay as they are\ufffd\r\n",)
        ]

    tell(story)


def test_concurrent_requests_for_one_url_store_it_once(tell: Callable[[Story], None]) -> None:
    async def story(corpus: Corpus, site: ServedPages) -> None:
        site.redirects = {B: A, C: A}
        added = await asyncio.gather(*(corpus.add(url) for url in (A, B, A, C, B)))
        assert len({(page.document_id, page.version_id) for page in added}) == 1
        counts = "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM document_versions)"
        assert await rows(corpus.database, counts) == [(1, 1)]
        assert await rows(corpus.database, "SELECT count(*) FROM corpus_log WHERE change = 'version'") == [(1,)]

    tell(story)


def test_the_acquirer_of_the_settings() -> None:
    assert isinstance(make_acquirer(Settings(webrag_warc=FROZEN_SITE)), WarcAcquirer)
    assert make_acquirer(Settings()).name == "http"


def test_who_only_asks_what_is_stored_imports_no_client_of_http(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from webrag_core.config import Settings\n"
        "from webrag_core.corpus.acquirers import make_acquirer\n"
        "asyncio.run(make_acquirer(Settings()).aclose())\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert {"httpx2", "webrag_core.acquisition.gate"}.isdisjoint(done.stdout.split())


def test_who_only_searches_imports_nothing_that_stores_or_indexes(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from webrag_core.indexing.pipeline import Corpus\n"
        "from webrag_core.retrieval.search import search_corpus\n"
        "print(*(name for name in sys.modules if name.startswith('webrag_core.')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    modules = done.stdout.split()
    assert {"corpus.ingestor", "corpus.refresh", "indexing.indexer", "conversion.worker"}.isdisjoint(
        name.removeprefix("webrag_core.") for name in modules
    )
    apart = [name for name in modules if not name.startswith("webrag_core.config.")]  # groups of fields, all or none
    assert len(apart) < 130, "each takes 2 ms of the start"
