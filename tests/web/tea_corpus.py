"""A corpus of a small site on two days, with text that wants to be markup, and the real application over it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from tests.dagster.small_warc import write_site
from webrag_core.config import Settings
from webrag_core.corpus.sources import attach_source
from webrag_core.errors import FetchError
from webrag_core.indexing.pipeline import Corpus

HOST = "https://tea.example"
GREEN, BLACK, EVIL, GERMAN, LOST = (f"{HOST}/{name}" for name in ("green", "black", "evil", "german", "lost"))
FIRST, SECOND = (datetime(year, 3, 1, 12, tzinfo=UTC) for year in (2023, 2024))
SCRIPT = "<script>alert(1)</script>"
SHOWN = "&lt;script&gt;alert(1)&lt;/script&gt;"


def page(title: str, body: str, language: str = "en") -> str:
    """One HTML page."""
    main = f"<main><h1>{title}</h1>{body}</main>"
    return f'<html lang="{language}"><head><title>{title}</title></head><body>{main}</body></html>'


def green(degrees: int, more: str = "") -> str:
    """The page on green tea."""
    return page(
        "Green tea",
        f"<h2>Brewing</h2><p>Green tea is brewed at {degrees} degrees for two minutes. Boiling water makes it bitter."
        f'</p>{more}<h2>Storing</h2><p>Keep the leaves dry and dark. See <a href="/black">how black tea is brewed</a>'
        ' and <a href="/evil">what a teapot says</a> and <a href="https://far.example/">a page elsewhere</a>.</p>',
    )


_SAYS = "&lt;script&gt;alert(1)&lt;/script&gt;"
PAGES: dict[datetime, dict[str, str]] = {
    FIRST: {
        GREEN: green(80),
        BLACK: page("Black tea", "<p>Black tea is brewed with boiling water for four minutes, and takes milk.</p>"),
    },
    SECOND: {
        GREEN: green(75, "<p>A gaiwan is best for it, as its lid keeps the leaves back.</p>"),
        EVIL: page(
            f"Teapot {_SAYS}",
            f"<p>A teapot of porcelain says {_SAYS} and \u202egnp.exe{{{{ 7 * 7 }}}} whenever it is opened by a guest."
            "</p>"
            "<pre><code>pot.open(guest)\npour(&lt;b&gt;tea&lt;/b&gt;)</code></pre>"
            '<p>It stands beside <a href="/green">green tea</a> all day.</p>',
        ),
        GERMAN: page(
            "Die Teekannen",
            "<p>Die Häuser der alten Stadt haben Küchen, in denen Teekannen aus Ton neben den Öfen stehen und warten."
            "</p>",
            "de",
        ),
    },
}


def settings(database_url: str, **more: object) -> Settings:
    """Defaults on this database, without the reading model, which takes most of a search's time."""
    return Settings(database_url=database_url, **{"webrag_reader": "none", **more})  # type: ignore[arg-type]


def store(database_url: str, folder: Path) -> None:
    """Store the site of each day over that of the day before; one page failed, and the last attempt at another."""

    async def work() -> None:
        for day, pages in PAGES.items():
            warc = write_site(folder / f"tea-{day:%Y}.warc.gz", pages, day=day)
            async with Corpus.open(settings(database_url, webrag_warc=warc)) as corpus:
                for url in pages:
                    await corpus.add(url)
                if day == SECOND:
                    with suppress(FetchError):
                        await corpus.add(BLACK, refresh=True)
                    async with corpus.database.connection() as connection:
                        await attach_source(connection, HOST, 20)

    asyncio.run(work())
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "INSERT INTO documents (source_id, canonical_url, status, reason, last_checked, next_check)"
            " SELECT id, %s, 'failed', 'not_found', now(), now() - interval '1 day' FROM sources",
            (LOST,),
        )
