"""A page in three versions, and the site that serves them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from tests.dagster.small_warc import write_site

HOST = "https://tea.example"
FIRST, SECOND, THIRD = (datetime(year, 3, 1, 12, tzinfo=UTC) for year in (2023, 2024, 2025))


def page(title: str, body: str) -> str:
    """One HTML page."""
    return f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1>{body}</main></body></html>"


_BREW = "<p>Pour the water over the leaves slowly. The leaves open within a minute and give a clear yellow cup.</p>"
_OLD = (
    "<h2>Brewing</h2>"
    "<p>Green tea is brewed at 80 degrees for two minutes. Boiling water makes it bitter. It may be brewed twice.</p>"
    f"{_BREW}<h2>Storing</h2><p>Keep the leaves dry and dark, in a tin that closes well, away from spices.</p>"
)
_NEW = (
    "<h2>Storing</h2><p>Keep the leaves dry and dark, in a tin that closes well, away from spices.</p>"
    "<h2>Brewing</h2>"
    "<p>Green tea is brewed at 75 degrees for two minutes. Boiling water makes it bitter. It may not be brewed"
    " twice.</p>"
    f"<p>A gaiwan is best.</p>{_BREW}"
)
_BLACK = "<p>Black tea is brewed with boiling water for four minutes, and takes milk or lemon as you like.</p>"
GREEN, BLACK, GONE = f"{HOST}/green", f"{HOST}/black", f"{HOST}/white"
VERSIONS: dict[datetime, dict[str, str]] = {
    FIRST: {
        GREEN: page("Green tea", _OLD),
        BLACK: page("Black tea", _BLACK),
        GONE: page("White tea", "<p>White tea is picked before the buds have opened fully in early spring.</p>"),
    },
    SECOND: {
        GREEN: page("Green tea", _NEW),
        BLACK: page(
            "Black tea",
            f"{_BLACK}<p>White tea is picked before the buds have opened fully in early spring.</p>",
        ),
    },
    THIRD: {GREEN: page("Green tea", _OLD), BLACK: page("Black tea", _BLACK)},
}


def archive(folder: Path, day: datetime) -> Path:
    """The site as a WARC of one day."""
    return write_site(folder / f"tea-{day:%Y}.warc.gz", VERSIONS[day], day=day)
