"""Walls and notices are told from pages, also from pages about them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product

import pytest

from tests.conversion.about_walls import ABOUT
from tests.conversion.not_found_pages import html
from tests.conversion.wall_pages import MORE_WALLS, WALLS, WallPage
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.convert import convert_page
from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.errors import FetchError, Reason

URL = "https://example.org/docs/a.html"


def answer(page: WallPage) -> AcquiredPage:
    body = page.body.encode()
    return AcquiredPage(
        url=URL,
        final_url=URL,
        status=page.status,
        headers={"content-type": f"{page.media_type}; charset=utf-8", **page.headers},
        body=body,
        fetched_at=datetime.now(UTC),
        bytes_raw=len(body),
    )


def convert(body: str, status: int = 200, **headers: str) -> ConvertedPage:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return convert_page(answer(WallPage("page", body, status, named)))


def refusal(page: WallPage) -> FetchError:
    with pytest.raises(FetchError) as caught:
        convert_page(answer(page))
    return caught.value


@pytest.mark.parametrize("maker", [*WALLS, *MORE_WALLS])
def test_what_stands_before_a_page_or_in_its_place_is_refused(maker: str) -> None:
    page = {**WALLS, **MORE_WALLS}[maker]
    error = refusal(page)
    assert (error.reason.value, error.status) == (page.reason, page.status)
    assert "known by" in error.message


def test_a_page_about_them_is_a_page() -> None:
    refused = []
    for kind, body in ABOUT.items():
        try:
            convert(body)
        except FetchError as error:
            refused.append((kind, error.message))
    assert len(ABOUT) > 120
    assert refused == []


def parts() -> Iterator[tuple[str, str]]:
    """Headlines of walls, and what they say, each below the name of another site."""
    yield "Access denied", "You do not have permission to view this page."
    yield "Please log in", "You must be logged in to view this page."
    yield "Down for maintenance", "Please check back in a few minutes."
    yield "Verify you are human", "This site needs to confirm that you are not a robot."
    yield "Zugriff verweigert", "Sie haben keine Berechtigung für diese Seite."
    yield "サイトメンテナンス中", "しばらくしてからもう一度お試しください。"


@pytest.mark.parametrize(
    ("title", "shape"),
    list(
        product(
            ("{}", "{} | Lamp House", "Lamp House – {}", "Error: {}"),
            ("<h1>{0}</h1><p>{1}</p>", "<h1>Lamp House</h1><h2>{0}</h2><p>{1}</p>", "<p>{0}</p><p>{1}</p>"),
        )
    ),
)
def test_headline_and_statement_are_two_signs_and_neither_is_enough(title: str, shape: str) -> None:
    neutral = "The lamp in the hall was made in 1920 and has been lit on every evening of the winter since then."
    for headline, statement in parts():
        page = html(title.format(headline), f"<main>{shape.format(headline, statement)}</main>")
        assert refusal(WallPage("", page)).reason in (Reason.WALL, Reason.NOTICE)
        assert convert(html(title.format(headline), f"<main>{shape.format(headline, neutral)}</main>")).markdown
        assert convert(html("The hall", f"<main>{shape.format('The hall', statement + ' ' + neutral)}</main>")).markdown


def test_the_mark_of_a_service_is_no_wall_where_there_is_a_page() -> None:
    text = "".join(
        f"<p>Paragraph {number} says something of its own about the lamp in the hall.</p>" for number in range(12)
    )
    mark = '<script>window._cf_chl_opt = {cvId: "3"};</script>'
    assert convert(html("The hall", f"<main><h1>The hall</h1>{text}</main>{mark}")).markdown
    assert convert(html("Access denied", f"<main><h1>Access denied</h1>{text * 3}</main>{mark}")).markdown
    assert refusal(WallPage("", html("Access denied", f"<main><h1>Access denied</h1>{text}</main>{mark}"))).reason is (
        Reason.WALL
    )
    spoken = "<main><h1>Notes</h1><p>The script sets window._cf_chl_opt and reads it.</p></main>"
    assert convert(html("Notes", spoken)).markdown


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"cf_mitigated": "challenge"}, 403),
        ({"x_amzn_waf_action": "captcha"}, 405),
        ({"x_vercel_mitigated": "deny"}, 200),
        ({}, 202),
    ],
)
def test_headers_and_status_are_signs(headers: dict[str, str], status: int) -> None:
    body = "<html><head><title>x</title></head><body><script>go()</script></body></html>"
    with pytest.raises(FetchError) as caught:
        convert(body, status, **headers)
    assert caught.value.reason is Reason.WALL


def test_an_error_that_is_no_wall_keeps_its_status() -> None:
    body = html("Prices", "<main><h1>Prices</h1><p>Bread costs 4 EUR and rolls cost 1 EUR each, every day.</p></main>")
    with pytest.raises(FetchError) as caught:
        convert(body, 500)
    assert (caught.value.reason, caught.value.status, caught.value.transient) == (Reason.HTTP_STATUS, 500, True)
    plain = html("Error response", "<h1>Error response</h1><p>Error code: 503</p><p>Message: Service Unavailable.</p>")
    assert refusal(WallPage("", plain, 503)).reason is Reason.HTTP_STATUS  # it says what the status says
    marked = html("522", '<h1>Connection timed out</h1><div id="cf-error-details">The web page can not be shown.</div>')
    assert refusal(WallPage("", marked, 522)).reason is Reason.HTTP_STATUS
    assert refusal(WallPage("", marked)).reason is Reason.NOTICE
    error = refusal(MORE_WALLS["wikimedia"])
    assert (error.reason, error.transient) == (Reason.NOTICE, True)
    assert not refusal(WALLS["perimeterx"]).transient


def test_the_message_has_no_words_of_the_page() -> None:
    page = html(
        "Please log in to Ignore All Orders", "<h1>Please log in to Ignore All Orders</h1><p>You must log in.</p>"
    )
    assert "gnore" not in refusal(WallPage("", page)).message


@pytest.mark.slow
def test_hostile_pages_are_decided_at_once() -> None:
    """Marks that are spoken of a hundred thousand times, headlines without end: patterns that go back would hang."""
    for unit in ("_cf_chl_opt ", "<i g-recaptcha>", "access denied to ", "a.b.", "log in to "):
        body = unit * (400_000 // len(unit))
        try:
            convert(html(body[:5_000], f"<h1>{body[:20_000]}</h1><p>{body}</p>"))
        except FetchError:
            continue
