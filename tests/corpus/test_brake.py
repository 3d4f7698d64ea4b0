"""The brake on a source: what is held back of a refresh, what is taken, and when."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random

import pytest

from tests.acquisition.served_pages import HOME, ServedPages, html
from tests.corpus.corpora import broken_rules, rows
from tests.corpus.corpora import texts as indexed_texts
from tests.corpus.test_refresh import days_pass, rows_done
from tests.corpus.test_refresh import opened as indexed
from webrag_core.config import Settings
from webrag_core.corpus.brake import Brake, Held, held_warnings, judge
from webrag_core.corpus.ingestor import IngestOutcome
from webrag_core.corpus.refresh import RefreshReport, SourceRefresh
from webrag_core.corpus.status import source_statuses
from webrag_core.corpus.text_change import PageText, TextChange, alike, change_of, groups_alike, sketch_of
from webrag_core.errors import FetchError
from webrag_core.indexing.pipeline import Corpus

PAGES = 6
URLS = [f"{HOME}p{number}" for number in range(PAGES)]
_LETTERS = "abcdefghiklmnoprstuvw"


def prose(seed: str, words: int) -> str:
    """Words that no other seed has."""
    random = Random(seed)
    return " ".join("".join(random.choices(_LETTERS, k=random.randint(4, 9))) for _ in range(words))


def article(number: int, words: int = 160, title: str | None = None) -> str:
    """A page with headings of its own."""
    half = prose(f"page {number}", words).split()
    cut = len(half) // 2
    body = f"<p>{' '.join(half[:cut])}</p><h2>Part {prose(f'part {number}', 2)}</h2><p>{' '.join(half[cut:])}</p>"
    name = title or prose(f"title {number}", 3)
    return f"<html><head><title>{name}</title></head><body><main><h1>{name}</h1>{body}</main></body></html>"


def unknown_notice(number: int, words: int = 46) -> str:
    """A notice in no words that anybody knows, which names the page asked for and the time."""
    return html("Lorem", f"{prose('notice', words)} /p{number} at 12:0{number}")


def cut(number: int) -> str:
    """A third of a page, under its title."""
    return html(prose(f"title {number}", 3), prose(f"page {number}", 160 // 3))


@asynccontextmanager
async def opened(settings: Settings, pages: dict[str, str]) -> AsyncIterator[tuple[Corpus, ServedPages]]:
    """A corpus that stores these pages of a site, without an index: that is the costly part."""
    site = ServedPages(dict(pages))
    async with Corpus.open(settings, site) as corpus:
        for url in pages:
            await corpus.ingestor.ingest(url)
        yield corpus, site


async def refresh(corpus: Corpus, *, accept: bool = False) -> RefreshReport:
    """One refresh of the site."""

    async def take(url: str, run_id: str, brake: Brake) -> IngestOutcome:
        return await corpus.ingestor.ingest(url, run_id=run_id, refresh=True, brake=brake)

    refresher = SourceRefresh(corpus.database, corpus.acquirer, corpus.settings, take)
    return await refresher.run("example.org", accept=accept)


async def texts(corpus: Corpus) -> dict[str, str]:
    """The newest text of every page by URL."""
    query = (
        "SELECT DISTINCT ON (d.id) d.canonical_url, v.markdown FROM documents d JOIN document_versions v"
        " ON v.document_id = d.id ORDER BY d.id, v.fetched_at DESC, v.number DESC"
    )
    return dict(await rows(corpus.database, query))


SITE = {url: article(number) for number, url in enumerate(URLS)}


def some(change: Callable[[int], str], count: int) -> dict[str, str]:
    return {URLS[number]: change(number) for number in range(count)}


def redesigned(number: int) -> str:
    """The same words in other boxes, with other headings."""
    text = prose(f"page {number}", 160)
    return f"<html><head><title>New</title></head><body><main><h1>New</h1><div>{text}</div></main></body></html>"


def rewritten(number: int) -> str:
    """As many other words, under the same title."""
    return html(prose(f"title {number}", 3), prose(f"other {number}", 180))


SCENARIOS: dict[str, tuple[dict[str, str], dict[int, Held]]] = {
    "a notice on all pages": (some(unknown_notice, PAGES), dict.fromkeys(range(PAGES), Held.SAME_TEXT)),
    "a notice on some pages": (some(unknown_notice, 3), dict.fromkeys(range(3), Held.SAME_TEXT)),
    "a notice on two pages": (some(unknown_notice, 2), dict.fromkeys(range(2), Held.REWRITTEN)),
    "one long new text": (
        some(lambda number: html("Lorem", prose("long", 700)), 4),
        dict.fromkeys(range(4), Held.SAME_TEXT),
    ),
    "a redesign that keeps the words": (some(redesigned, PAGES), {}),
    "other words on all pages": (some(rewritten, PAGES), {}),
    "most pages cut": (some(cut, 4), dict.fromkeys(range(4), Held.SHRUNK)),
    "half of the pages cut": (some(cut, 3), {}),
    "one page cut": (some(cut, 1), {}),
    "another page in place of one": (some(lambda number: html("Lorem", prose("x", 60)), 1), {0: Held.REWRITTEN}),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if place > 1 else []) for place, name in enumerate(SCENARIOS)]
)
def test_what_is_held_back_and_what_is_taken(settings: Settings, name: str) -> None:
    changes, expected = SCENARIOS[name]

    async def run() -> None:
        async with opened(settings, SITE) as (corpus, site):
            before = await texts(corpus)
            site.pages |= changes
            report = await refresh(corpus)
            held = {URLS[number]: kind for number, kind in expected.items()}
            assert report.held == held
            assert report.failed == {url: "held_back" for url in held}
            assert set(report.changed) == changes.keys() - held.keys()
            assert report.counts.discovered == PAGES
            after = await texts(corpus)
            assert {url for url in URLS if after[url] != before[url]} == changes.keys() - held.keys()
            assert report.braked is any(kind.of_source for kind in held.values())
            assert bool(report.warnings) is report.braked
            async with corpus.database.connection() as connection:
                [status] = await source_statuses(connection)
            assert status.held == len(held)

    asyncio.run(run())


def test_the_same_text_is_taken_on_the_third_day_and_another_begins_anew(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, SITE) as (corpus, site):
            site.pages |= some(lambda number: html("Ipsum", prose("first", 30)), PAGES)
            assert len((await refresh(corpus)).held) == PAGES
            site.pages |= some(unknown_notice, PAGES)
            for day in range(3):
                await days_pass(corpus, 1.1)
                for _ in range(2):  # twice a day is one day
                    report = await refresh(corpus)
                    assert len(report.held) == (PAGES if day < 2 else 0)
            assert all("Lorem" in text for text in (await texts(corpus)).values())

    asyncio.run(run())


def test_what_is_held_back_is_taken_when_it_is_accepted_and_forgotten_when_the_page_is_back(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, SITE) as (corpus, site):
            before = await texts(corpus)
            site.pages |= some(unknown_notice, PAGES)
            await refresh(corpus)
            site.pages[URLS[0]] = SITE[URLS[0]]
            report = await refresh(corpus, accept=True)
            assert (report.held, report.counts.fetched, report.counts.unchanged) == ({}, PAGES - 1, 1)
            site.pages |= SITE
            assert (await refresh(corpus)).held == {}  # the good texts come back at once
            assert await texts(corpus) == before
            assert await broken_rules(corpus.database) == set()
            left = "SELECT count(*) FROM documents WHERE misses > 0 OR held_as IS NOT NULL OR held_sketch IS NOT NULL"
            assert await rows(corpus.database, left) == [(0,)]

    asyncio.run(run())


def test_what_our_extractor_changes_is_never_held_back(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, SITE) as (corpus, site):
            await rows_done(corpus, "UPDATE document_versions SET extractor = 'html-0'")
            site.pages |= some(cut, PAGES)
            report = await refresh(corpus)
            assert (report.held, report.counts.fetched) == ({}, PAGES)

    asyncio.run(run())


def test_a_page_that_is_as_it_was_is_taken_whatever_another_extractor_made_of_it(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, dict.fromkeys(URLS[:3], article(0))) as (corpus, _):
            await rows_done(
                corpus,
                "UPDATE document_versions SET extractor = 'html-0', markdown = %s || document_id,"
                " sha256 = encode(sha256(convert_to(%s || document_id, 'UTF8')), 'hex')",
                *[prose("old", 400)] * 2,
            )
            report = await refresh(corpus)
            assert (report.held, report.counts.fetched) == ({}, 3)

    asyncio.run(run())


def test_a_notice_is_held_back_on_the_day_of_a_new_extractor(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, SITE) as (corpus, site):
            await rows_done(corpus, "UPDATE document_versions SET extractor = 'html-0'")
            site.pages |= some(unknown_notice, PAGES)
            assert (await refresh(corpus)).held == dict.fromkeys(URLS, Held.SAME_TEXT)

    asyncio.run(run())


def test_pages_that_all_lead_to_one_new_page_are_held_back(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, SITE) as (corpus, site):
            site.redirects = dict.fromkeys(URLS[:4], f"{HOME}closed")
            site.pages[f"{HOME}closed"] = unknown_notice(0)
            report = await refresh(corpus)
            assert report.held == dict.fromkeys(URLS[:4], Held.SAME_TEXT)
            assert set(await texts(corpus)) == set(URLS)

    asyncio.run(run())


def test_a_refresh_that_is_killed_leaves_the_old_texts_and_asks_again(settings: Settings) -> None:
    class KilledError(Exception):
        pass

    async def run() -> None:
        async with opened(settings, SITE) as (corpus, site):
            before = await texts(corpus)
            site.pages |= some(cut, PAGES)
            decide = Brake.decide
            try:
                Brake.decide = _raise(KilledError)  # type: ignore[method-assign]
                with pytest.raises(KilledError):
                    await refresh(corpus)
            finally:
                Brake.decide = decide  # type: ignore[method-assign]
            assert await texts(corpus) == before
            assert len((await refresh(corpus)).held) == PAGES

    asyncio.run(run())


def _raise(error: type[Exception]) -> Callable[..., list[str]]:
    def decide(*_: object) -> list[str]:
        raise error

    return decide


def test_the_index_keeps_what_is_not_replaced(settings: Settings) -> None:
    async def run() -> None:
        site_of_three = dict(list(SITE.items())[:3])
        async with indexed(settings, site_of_three) as (corpus, site):
            before = await indexed_texts(corpus)
            site.pages |= some(unknown_notice, 3)
            assert len((await corpus.refresher().run("example.org")).held) == 3
            assert await indexed_texts(corpus) == before
            assert (await corpus.refresher().run("example.org", accept=True)).counts.fetched == 3
            assert all("Lorem" in text for text in (await indexed_texts(corpus)).values())

    asyncio.run(run())


def test_one_page_alone_is_held_back_until_another_day(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, SITE) as (corpus, site):
            site.pages[URLS[0]] = unknown_notice(0)
            for _ in range(2):
                with pytest.raises(FetchError) as caught:
                    await corpus.ingestor.ingest(URLS[0], refresh=True)
                assert caught.value.reason.value == "held_back"
            await days_pass(corpus, 1.1)
            assert (await corpus.ingestor.ingest(URLS[0], refresh=True)).outcome == "fetched"
            site.pages[URLS[1]] = cut(1)  # its title stays
            assert (await corpus.ingestor.ingest(URLS[1], refresh=True)).outcome == "fetched"

    asyncio.run(run())


def test_pages_that_had_one_text_may_get_another_one(settings: Settings) -> None:
    async def run() -> None:
        async with opened(settings, dict.fromkeys(URLS, article(0))) as (corpus, site):
            site.pages |= dict.fromkeys(URLS, html(prose("title 0", 3), prose("again", 150)))
            assert (await refresh(corpus)).held == {}

    asyncio.run(run())


def test_the_verdict_is_linear_and_the_same_in_any_order() -> None:
    def change(number: int, new: str) -> TextChange:
        old = PageText(prose(f"old {number}", 60), "Old")
        return change_of(old, PageText(new, "New"), f"{HOME}{number}", comparable=True)

    changes = {f"{HOME}{n}": change(n, prose("notice", 40) if n % 3 else prose(f"new {n}", 70)) for n in range(300)}
    held = judge(changes, 400)
    assert {url for url, kind in held.items() if kind is Held.SAME_TEXT} == {f"{HOME}{n}" for n in range(300) if n % 3}
    backwards = dict(reversed(changes.items()))
    assert judge(backwards, 400) == held
    assert judge({}, 0) == {}


@pytest.mark.parametrize("script", ["abc", "абв", "日月火水木金土山川田"])
def test_texts_are_alike_when_they_share_most_words(script: str) -> None:
    random = Random(script)
    words = ["".join(random.choices(script, k=1 if len(script) > 5 else 6)) for _ in range(60)]
    text = (" " if len(script) < 5 else "").join(words)
    sketch = sketch_of(text, HOME)
    assert alike(sketch, sketch_of(f"{text} [more](https://example.org/x?y=1) 12:34:56", HOME))
    assert alike((), ())
    assert not alike(sketch, sketch_of(prose("other", 60), HOME))
    assert groups_alike([sketch, (), sketch]) == [[0, 2], [1]]


def test_warnings_name_the_way_out_and_no_page() -> None:
    [warning] = held_warnings("example.org", [Held.SHRUNK, Held.SHRUNK, Held.REWRITTEN])
    assert warning.startswith("2 new texts are held back")
    assert "`webrag refresh example.org --accept`" in warning
