"""llms.txt: one more map of a site, read last, and only for its own host."""

from __future__ import annotations

import asyncio

import pytest

from tests.acquisition.served_map import HOST, mapped, urlset
from webrag_core.acquisition.sitemaps.llms_txt import page_of_markdown, read_llms_txt
from webrag_core.acquisition.sitemaps.models import MapEntry
from webrag_core.errors import FetchError, Reason

LIST = f"""# Valves

> Everything about valves.

See [the shop](/shop) for prices.

## Docs

- [Opening]({HOST}/docs/opening.md): When a valve opens
- [Closing](/docs/closing): When it closes
* **[Dead band](docs/band)** - How wide it is
1. [Elsewhere](https://other.test/page): Another site

## Optional

- [Everything](/llms-full.txt)
- [Write to us](mailto:valves@site.test)
- a line without a link
"""


def test_its_links_are_pages_of_the_map() -> None:
    found, requests = asyncio.run(mapped({"/robots.txt": "User-agent: *\nAllow: /", "/llms.txt": LIST}))
    assert requests[-1] == "/llms.txt"
    assert found.entries == (
        MapEntry(f"{HOST}/docs/band", "Dead band", "How wide it is", None, "llms_txt"),
        MapEntry(f"{HOST}/docs/closing", "Closing", "When it closes", None, "llms_txt"),
        MapEntry(f"{HOST}/docs/opening.md", "Opening", "When a valve opens", None, "llms_txt"),
    )
    assert found.warnings == ()


def test_the_markdown_of_a_known_page_is_that_page() -> None:
    pages = {
        "/robots.txt": "User-agent: *\nAllow: /",
        "/llms.txt": LIST,
        "/sitemap.xml": urlset(f"{HOST}/docs/opening"),
    }
    found, _ = asyncio.run(mapped(pages))
    entry = next(entry for entry in found.entries if "opening" in entry.url)
    assert entry == MapEntry(f"{HOST}/docs/opening", "Opening", "When a valve opens", None, "sitemap")


@pytest.mark.parametrize(
    ("markdown", "page"),
    [("/a.md", "/a"), ("/b.html.md", "/b.html"), ("/c.md", "/c.html"), ("/d.md", "/d/"), ("/e/index.html.md", "/e/"),
     ("/f/index.md", "/f/"), ("/g.md", "/g.md"), ("/h", "/h")],
)  # fmt: skip
def test_names_of_markdown(markdown: str, page: str) -> None:
    known = {"/a", "/b.html", "/c.html", "/d/", "/e/", "/f/", "/other"}
    assert page_of_markdown(markdown, known) == page


def test_robots_txt_holds_for_it() -> None:
    pages = {"/robots.txt": "User-agent: *\nDisallow: /llms.txt", "/llms.txt": LIST}
    found, requests = asyncio.run(mapped(pages))
    assert "/llms.txt" not in requests
    assert found.entries == ()


@pytest.mark.parametrize("text", ["", "# Only a title", "no list at all " * 500, "- [a](" * 20_000, "- [" * 20_000])
def test_a_text_that_lists_nothing_is_no_map(text: str) -> None:
    with pytest.raises(FetchError) as caught:
        read_llms_txt(text)
    assert caught.value.reason is Reason.BAD_RESPONSE
