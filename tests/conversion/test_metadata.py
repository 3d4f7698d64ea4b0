"""What a page says about itself: its dates above all."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.conftest import in_time_zone
from tests.conversion.test_html import page

MAY = datetime(2024, 5, 6, tzinfo=UTC)


def dates(head: str, body: str = "") -> tuple[datetime | None, datetime | None]:
    converted = page(f"<html><head>{head}</head><body>{body}<p>Some words here.</p></body></html>")
    return converted.published, converted.modified


def meta(name: str, content: str) -> str:
    return f'<meta property="{name}" content="{content}">'


def json_ld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


@in_time_zone
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("2024-05-06", MAY),
        ("2024-05-06T00:00:00", MAY),
        ("2024-05-06T02:00:00+02:00", MAY),
        ("Mon, 06 May 2024 00:00:00 GMT", MAY),
        ("yesterday", None),
        ("0001-01-01T00:00:00Z", None),
        ("0001-01-01T00:00:00", None),
        ("9999-12-31T23:59:59Z", None),
    ],
)
def test_dates_of_meta(content: str, expected: datetime | None) -> None:
    head = meta("article:published_time", content) + f'<meta http-equiv="Last-Modified" content="{content}">'
    assert dates(head) == (expected, expected)


def test_the_first_plausible_meta_counts() -> None:
    head = meta("article:published_time", "0001-01-01T00:00:00") + '<meta name="date" content="2024-05-06">'
    assert dates(head) == (MAY, None)


@pytest.mark.parametrize(
    ("data", "published"),
    [
        ('{"@type": "Article", "datePublished": "2024-05-06", "dateModified": "2024-05-06T00:00:00Z"}', MAY),
        ('[{"@type": ["TechArticle"], "datePublished": "2024-05-06"}]', MAY),
        (
            '{"@graph": [{"@type": "WebPage", "datePublished": "2020-01-01"},'
            ' {"@type": "BlogPosting", "datePublished": "2024-05-06"}]}',
            MAY,
        ),
        ('{"@type": "WebPage", "datePublished": "2024-05-06"}', MAY),
        ('{"@type": "Product", "review": {"@type": "Review", "datePublished": "2024-05-06"}}', None),
        (
            '[{"@type": "Article", "datePublished": "2024-05-06"},'
            ' {"@type": "Article", "datePublished": "2024-05-07"}]',
            None,
        ),
        ('{"@type": "Article", "datePublished": "0001-01-01T00:00:00"}', None),
        ('{"@type": "Article", "datePublished": 20240506}', None),
        ('{"@type": "Article", "datePublished": "2024-05-06"', None),
        ("[" * 100_000, None),
        ("", None),
    ],
)
def test_dates_of_json_ld(data: str, published: datetime | None) -> None:
    assert dates(json_ld(data))[0] == published


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('<time class="entry-date published" datetime="2024-05-06">x</time>', (MAY, None)),
        ('<time class="dt-updated" datetime="2024-05-06">x</time>', (None, MAY)),
        ('<time itemprop="datePublished dateModified" datetime="2024-05-06">x</time>', (MAY, MAY)),
        ('<div itemscope><meta itemprop="datePublished" content="2024-05-06"></div>', (MAY, None)),
        ("<article><header><h1>T</h1><time datetime=2024-05-06>6 May</time></header></article>", (MAY, None)),
        ("<article><p>On <time datetime=2024-05-06>6 May</time> it rained.</p></article>", (None, None)),
        ("<time class=unpublished datetime=2024-05-06>x</time>", (None, None)),
        (  # a list of posts
            "<time class=published datetime=2024-05-06>x</time><time class=published datetime=2024-05-07>x</time>",
            (None, None),
        ),
    ],
)
def test_dates_of_marked_elements(body: str, expected: tuple[datetime | None, datetime | None]) -> None:
    assert dates("", body) == expected


def test_meta_comes_before_json_ld_and_json_ld_before_elements() -> None:
    element = "<time class=published datetime=2022-01-01>x</time>"
    data = json_ld('{"@type": "Article", "datePublished": "2023-01-01"}')
    assert dates("", element)[0] == datetime(2022, 1, 1, tzinfo=UTC)
    assert dates(data, element)[0] == datetime(2023, 1, 1, tzinfo=UTC)
    assert dates(data + meta("article:published_time", "2024-05-06"), element)[0] == MAY
