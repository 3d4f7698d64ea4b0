"""One refresh reads a whole source: each page that a page links to or the map names, at any depth, new or back again.

Pages are stored and not indexed here, as the platform does it: an index changes nothing of what is found.
"""

from __future__ import annotations

import asyncio
from itertools import pairwise
from random import Random

import pytest

from tests.acquisition.served_pages import HOME, ServedPages
from tests.corpus.corpora import broken_rules, rows
from tests.corpus.test_refresh import days_pass, rows_done
from tests.corpus.test_refresh_verdict import answered, attach
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.sitemaps.models import MapEntry
from webrag_core.config import Settings
from webrag_core.corpus.brake import Brake
from webrag_core.corpus.documents import confirmed_missing
from webrag_core.corpus.ingestor import IngestOutcome
from webrag_core.corpus.refresh import RefreshReport, SourceRefresh
from webrag_core.corpus.refresh_store import GONE_CHECKS
from webrag_core.errors import FetchError, Reason
from webrag_core.indexing.pipeline import Corpus

KEY = "example.org"
A = f"{HOME}a"


def linking(name: str, *targets: str) -> str:
    """A page with a text of its own and links."""
    links = "".join(f'<p>See <a href="{url}">page {url.rpartition("/")[2]}</a>.</p>' for url in targets)
    text = f"<p>The page {name or 'home'} says something about {name or 'home'} and nothing else.</p>"
    return f"<html><head><title>{name}</title></head><body><main><h1>{name}</h1>{text}{links}</main></body></html>"


def url_of(number: int) -> str:
    return HOME if number == 0 else f"{HOME}p{number}"


def tree(random: Random, size: int) -> dict[str, str]:
    """A site of `size` pages, each but the first linked from one page before it."""
    children: dict[int, list[int]] = {number: [] for number in range(size)}
    for number in range(1, size):
        children[random.randrange(max(0, number - random.choice((1, 3, size))), number)].append(number)
    return {url_of(n): linking(f"n{n}", *map(url_of, below)) for n, below in children.items()}


async def refresh(corpus: Corpus, *, due_only: bool = False) -> RefreshReport:
    """One refresh of the site, and what the platform does after it with pages that are gone."""

    async def take(url: str, run_id: str, brake: Brake) -> IngestOutcome:
        return await corpus.ingestor.ingest(url, run_id=run_id, refresh=True, brake=brake)

    report = await SourceRefresh(corpus.database, corpus.acquirer, corpus.settings, take).run(KEY, due_only=due_only)
    async with corpus.database.connection() as connection:
        missing = await confirmed_missing(connection, KEY)
    for url in missing:
        assert await corpus.indexer.retire(url)
    return report


async def stored(corpus: Corpus) -> set[str]:
    """URLs of the pages that are not gone."""
    query = "SELECT canonical_url FROM documents WHERE status <> 'gone' AND newest_version IS NOT NULL"
    return {url for (url,) in await rows(corpus.database, query)}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_one_refresh_reads_a_tree_of_any_depth_and_one_more_reads_what_was_added(settings: Settings, seed: int) -> None:
    async def run() -> None:
        random = Random(seed)
        whole = tree(random, 40)
        site = ServedPages({url: whole[url] for url in list(whole)[:28]})
        async with Corpus.open(settings, site) as corpus:
            await attach(corpus)
            await rows_done(corpus, "UPDATE sources SET page_limit = 100")
            await refresh(corpus, due_only=random.random() < 0.5)
            assert await stored(corpus) == site.pages.keys()
            site.pages = whole
            await days_pass(corpus, 31)
            await refresh(corpus, due_only=random.random() < 0.5)
            assert await stored(corpus) == whole.keys()
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_what_a_current_page_links_to_and_the_site_has_is_stored_after_one_refresh(
    settings: Settings, seed: int
) -> None:
    async def run() -> None:
        random = Random(seed)
        whole = tree(random, 9)
        site = ServedPages(dict(whole))
        back = 0
        async with Corpus.open(settings, site) as corpus:
            await attach(corpus)
            for _ in range(14 if seed else 8):
                there = {url for url in whole if url == HOME or random.random() < (0.9 if url in site.pages else 0.25)}
                site.pages = {url: whole[url] for url in whole if url in there}
                gone = await rows(corpus.database, "SELECT canonical_url FROM documents WHERE status = 'gone'")
                await refresh(corpus)
                held = await stored(corpus)
                linked = await rows(
                    corpus.database,
                    "SELECT DISTINCT l.target_url FROM documents d JOIN link_candidates l"
                    " ON l.version_id = d.newest_version WHERE d.status <> 'gone'",
                )
                expected = {url for (url,) in linked} & there
                assert expected <= held
                back += len({url for (url,) in gone} & expected)
                await days_pass(corpus, 1.1)
        assert back > 0 or seed

    asyncio.run(run())


@pytest.mark.slow
def test_a_gone_page_is_asked_when_it_is_named_again_and_now_and_then_besides(settings: Settings) -> None:
    async def run() -> None:
        site = ServedPages({HOME: linking("home", A), A: linking("a")})
        async with Corpus.open(settings, site) as corpus:
            await attach(corpus)
            await refresh(corpus)
            kept = site.pages.pop(A)
            for _ in range(3):
                await refresh(corpus)
                await days_pass(corpus, 1.1)
            assert await stored(corpus) == {HOME}
            before = await answered(corpus)
            report = await refresh(corpus)  # the start page still names it
            assert (report.still_gone, report.failed, report.silent) == ((A,), {}, False)
            assert await answered(corpus) != before
            site.pages[A] = kept
            await refresh(corpus)
            assert await stored(corpus) == {HOME, A}
            site.pages = {HOME: linking("home")}  # nothing names it any more
            await rows_done(corpus, "UPDATE sources SET refresh_hours = 24")
            asked = list[int]()
            for day in range(80):
                report = await refresh(corpus, due_only=True)
                if A in {*report.failed, *report.still_gone}:
                    asked.append(day)
                await days_pass(corpus, 1.01)
            assert len(asked) == 3 + GONE_CHECKS
            assert [later - earlier for earlier, later in pairwise(asked[2:])] == [
                2**step for step in range(GONE_CHECKS)
            ]
            site.entries = [MapEntry(A)]
            site.pages[A] = kept
            await rows_done(corpus, "UPDATE sources SET map_read_at = NULL")
            await refresh(corpus, due_only=True)
            assert await stored(corpus) == {HOME, A}
            assert await broken_rules(corpus.database) == set()

    asyncio.run(run())


class Forbidding(ServedPages):
    """Pages of which robots.txt may forbid some."""

    forbidden: frozenset[str] = frozenset()

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """As the protocol says."""
        if url in self.forbidden:
            raise FetchError(Reason.ROBOTS_DISALLOWED, f"robots.txt forbids {url}")
        return await super().fetch(url, etag=etag, last_modified=last_modified)


@pytest.mark.slow
def test_a_forbidden_page_is_asked_again_at_growing_distances(settings: Settings) -> None:
    async def run() -> None:
        site = Forbidding({HOME: linking("home", A), A: linking("a")})
        async with Corpus.open(settings, site) as corpus:
            await attach(corpus)
            await refresh(corpus)
            await rows_done(corpus, "UPDATE documents SET next_check = now() WHERE canonical_url = %s", A)
            site.forbidden = frozenset([A])
            asked = list[int]()
            for day in range(40):
                if A in (await refresh(corpus, due_only=True)).failed:
                    asked.append(day)
                await days_pass(corpus, 1.01)
            assert asked == [0, 1, 3, 7, 15, 31]
            site.forbidden = frozenset()
            await days_pass(corpus, 30)
            assert (await refresh(corpus, due_only=True)).failed == {}
            await rows_done(corpus, "UPDATE documents SET next_check = now() WHERE canonical_url = %s", A)
            site.forbidden = frozenset([A])
            for _ in range(2):  # an answer in between: it begins anew
                assert A in (await refresh(corpus, due_only=True)).failed
                await days_pass(corpus, 1.01)

    asyncio.run(run())
