"""Copies of pages in a web archive (RFC 7089), over the real gate and a local server that speaks as an archive does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest

from tests.acquisition.local_server import Page, Site, gate_to, redirect, reply, serving
from webrag_core.acquisition.http import HttpAcquirer
from webrag_core.acquisition.memento.acquirer import MementoAcquirer
from webrag_core.errors import FetchError, Reason

PAGE = "https://tea.example/kinds"
GATE = f"/gate/{PAGE}"
MADE = "Thu, 21 Mar 2019 08:05:01 GMT"
AT = datetime(2019, 6, 1, tzinfo=UTC)
HTML = b"<!doctype html><title>Kinds</title><p>There were three kinds of tea.</p>"
MAP = f"""<{PAGE}>;rel="original",
<http://127.0.0.1/gate/{PAGE}>; rel="timegate",
</web/20190321080501/{PAGE}>; rel="first memento"; datetime="{MADE}",
</web/20210101000000/{PAGE}>; rel="memento"; datetime="Fri, 01 Jan 2021 00:00:00 GMT",
</web/20210101000000/{PAGE}?again>; rel="memento"; datetime="Fri, 01 Jan 2021 00:00:00 GMT",
</web/nonsense/{PAGE}>; rel="memento"; datetime="some day",
</web/20240102030405/{PAGE}>; rel="last memento"; datetime="Tue, 02 Jan 2024 03:04:05 GMT"
"""
Result = TypeVar("Result")


def copy(body: bytes = HTML, made: str = MADE, *headers: str) -> bytes:
    return reply(body, "Content-Type: text/html", f"Memento-Datetime: {made}", *headers)


def archive(
    pages: dict[str, Page], work: Callable[[MementoAcquirer], Coroutine[Any, Any, Result]]
) -> tuple[Result, Site]:
    async def ask() -> tuple[Result, Site]:
        async with serving(pages) as site:
            http = HttpAcquirer(gate_to(f"127.0.0.1:{site.port}"))
            memento = MementoAcquirer(http, f"http://127.0.0.1:{site.port}/gate")
            memento.at = AT
            return await work(memento), site

    return asyncio.run(ask())


def test_the_copy_nearest_to_a_date_is_a_page_of_its_own_time() -> None:
    pages: dict[str, Page] = {GATE: redirect("/copy"), "/copy": copy(HTML, MADE, 'ETag: "of-the-archive"')}
    page, site = archive(pages, lambda memento: memento.fetch(PAGE))
    assert (page.url, page.final_url, page.body) == (PAGE, PAGE, HTML)
    assert page.fetched_at == datetime(2019, 3, 21, 8, 5, 1, tzinfo=UTC)
    assert page.checked_at.year >= 2026
    assert "etag" not in page.headers
    assert page.archive_url == f"http://127.0.0.1:{site.port}/copy"
    assert [path for path, _ in site.requests] == [GATE, "/copy"]
    assert all(sent["accept-datetime"] == "sat, 01 jun 2019 00:00:00 gmt" for _, sent in site.requests)


def test_a_copy_with_links_of_the_archive_is_asked_for_as_it_was() -> None:
    rewritten, original = f"/web/20190321080501/{PAGE}", f"/web/20190321080501id_/{PAGE}"
    pages: dict[str, Page] = {
        GATE: redirect(rewritten),
        rewritten: copy(b"<!doctype html><p>with a toolbar</p>"),
        original: copy(),
    }
    page, site = archive(pages, lambda memento: memento.fetch(PAGE))
    assert page.body == HTML
    assert page.archive_url == f"http://127.0.0.1:{site.port}{rewritten}"  # as people see it
    page, _ = archive({GATE: copy()}, lambda memento: memento.fetch(PAGE))
    assert page.archive_url is None


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (reply(b"", status="404 Not Found"), Reason.PROVIDER_FAILED),
        (reply(b"", status="500 Internal"), Reason.PROVIDER_FAILED),
        (reply(HTML, "Content-Type: text/html"), Reason.BAD_RESPONSE),
        (copy(made="once upon a time"), Reason.BAD_RESPONSE),
        (copy(made="Thu, 21 Mar 2999 08:05:01 GMT"), Reason.BAD_RESPONSE),
        (redirect("http://10.0.0.1/"), Reason.BLOCKED_ADDRESS),
    ],
)
def test_what_is_no_copy_is_an_error_and_no_absence_of_the_page(answer: Page, reason: Reason) -> None:
    with pytest.raises(FetchError) as caught:
        archive({GATE: answer}, lambda memento: memento.fetch(PAGE))
    assert caught.value.reason is reason


def test_all_copies_are_listed_by_date() -> None:
    pages: dict[str, Page] = {
        GATE: copy(HTML, MADE, 'Link: </map>; rel="timemap"; type="application/link-format"'),
        "/map": reply(MAP.encode(), "Content-Type: application/link-format"),
    }
    copies, _ = archive(pages, lambda memento: memento.copies(PAGE))
    assert [one.at.year for one in copies] == [2019, 2021, 2024]
    assert copies[1].url.endswith(f"/web/20210101000000/{PAGE}")


def test_an_archive_without_a_list_says_so() -> None:
    with pytest.raises(FetchError, match="TimeMap"):
        archive({GATE: copy()}, lambda memento: memento.copies(PAGE))
