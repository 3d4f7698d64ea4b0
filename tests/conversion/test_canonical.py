"""The URL that a page names as its own: read from head and header, believed only as another spelling."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.conversion.canonical import preferred_url
from webrag_core.conversion.convert import convert_page
from webrag_core.conversion.markup.relations import header_relations

URL = "https://example.org/docs/page.html"
SITE = Path(__file__).parents[2] / "evals" / "sites" / "python-3.11.warc.gz"
BODY = "<p>Some words, so that there is a page.</p>"


def canonical(head: str, *, body: str = BODY, link: str = "", media_type: str = "text/html") -> str | None:
    text = f"<!doctype html><html><head><title>T</title>{head}</head><body>{body}</body></html>"
    answer = AcquiredPage(
        url=URL,
        final_url=URL,
        status=200,
        headers={"content-type": media_type, **({"link": link} if link else {})},
        body=text.encode(),
        fetched_at=datetime.now(UTC),
        bytes_raw=len(text),
    )
    return convert_page(answer).canonical


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("", None),
        ('<link rel="canonical" href="https://Example.org/docs/page.html?utm_source=x#top">', URL),
        ('<link rel="CANONICAL alternate" href=" /docs/page.html ">', URL),
        ('<link href="page" rel="canonical">', "https://example.org/docs/page"),
        ('<base href="/other/"><link rel="canonical" href="page">', "https://example.org/other/page"),
        ('<link rel="canonical" href="page"><base href="/other/">', "https://example.org/other/page"),
        ('<link rel="canonical" href="a"><link rel="canonical" href="./a">', "https://example.org/docs/a"),
        ('<link rel="canonical" href="a"><link rel="canonical" href="b">', None),
        ('<link rel="canonical" href="javascript:alert(1)">', None),
        ('<link rel="canonical" href="https://me:secret@example.org/">', None),
        ('<link rel="canonical" href="http://[broken">', None),
        ('<link rel="canonical" href="">', None),
        ('<link rel="alternate" href="a"><link rel="not-canonical" href="b">', None),
        ('<noscript><link rel="canonical" href="a"></noscript>', None),
    ],
)
def test_what_the_head_names(head: str, expected: str | None) -> None:
    assert canonical(head) == expected


def test_a_link_in_the_body_names_nothing() -> None:
    assert canonical("", body=f'<div><link rel="canonical" href="/spam"></div>{BODY}') is None


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ('<https://example.org/a>; rel="canonical"', "https://example.org/a"),
        (
            '</style.css>; rel=preload; as=style, </a?x=1,2>; title="a, b; c"; REL=canonical',
            "https://example.org/a?x=1,2",
        ),
        ('</a>; rel="alternate canonical"', "https://example.org/a"),
        ('</a>; rel="canonical"; anchor="/b"', None),
        ('</a>; rel="next"', None),
        ('</a>; rel="canonical", </b>; rel="canonical"', None),
        ("</a>; title=canonical", None),
        ("</a; rel=canonical", None),
        ("<javascript:x>; rel=canonical", None),
    ],
)
def test_what_the_header_names(link: str, expected: str | None) -> None:
    assert canonical('<base href="/other/">', link=link) == expected
    assert canonical("", link=link, media_type="text/plain") == expected


def test_header_and_page_must_agree() -> None:
    head = '<link rel="canonical" href="/a">'
    assert canonical(head, link='</a>; rel="canonical"') == "https://example.org/a"
    assert canonical(head, link='</b>; rel="canonical"') is None


def test_a_hostile_header_costs_nothing() -> None:
    """Looking back for each part would take minutes."""
    for unit in ("<", '<a>"', "<a>;" + "a" * 40, '<a>; rel="', "; ", '\\"'):
        assert header_relations({"link": "<" + unit * (64_000 // len(unit))}, URL) == ()


@pytest.mark.parametrize(
    ("final", "named", "expected"),
    [
        ("https://example.org/a", "https://example.org/a/", True),
        ("https://example.org/a/", "https://example.org/a", True),
        ("https://example.org/a/index.html", "https://example.org/a/", True),
        ("https://example.org/a/", "https://example.org/a/index.php", True),
        ("https://example.org/a/Default.aspx", "https://example.org/a", True),
        ("https://example.org/A/Page", "https://example.org/a/page", True),
        ("https://example.org/a", "https://www.example.org/a", True),
        ("https://www.example.org/a", "https://example.org/a", True),
        ("http://example.org/a", "https://example.org/a", True),
        ("https://example.org/a?sort=asc&x=y", "https://example.org/a?x=y", True),
        ("https://example.org/a?sort=asc", "https://example.org/a", True),
        ("https://example.org/a?x=y&z=w", "https://example.org/a?z=w&x=y", True),
        ("https://example.org/", "https://example.org/index.html", True),
        ("https://example.org/a", "https://example.org/a", True),
        # another page
        ("https://docs.python.org/3.11/library/os.html", "https://docs.python.org/3/library/os.html", False),
        ("https://example.org/a", "https://example.org/", False),
        ("https://example.org/a", "https://example.org/b", False),
        ("https://example.org/a", "https://example.org/a.html", False),
        ("https://example.org/a/b", "https://example.org/a", False),
        ("https://example.org/a", "https://other.org/a", False),
        ("https://example.org/a", "https://docs.example.org/a", False),
        ("https://example.org/a", "https://wwwexample.org/a", False),
        ("https://example.org/a", "https://example.org:8443/a", False),
        # a query that is more, other, or says which page it is
        ("https://example.org/a", "https://example.org/a?x=y", False),
        ("https://example.org/a?x=y", "https://example.org/a?x=z", False),
        ("https://example.org/a?x=y&x=z", "https://example.org/a?x=y&x=y", False),
        ("https://example.org/a?page=two", "https://example.org/a", False),
        ("https://example.org/a?seite=2", "https://example.org/a", False),
        ("https://example.org/a?hl=de", "https://example.org/a", False),
        ("https://example.org/?topic=queues", "https://example.org/", False),
        ("https://example.org/index.php?topic=queues", "https://example.org/", False),
        # nothing to go by
        ("https://example.org/a", None, False),
        ("https://example.org/a", "http://[broken", False),
        ("https://example.org/a", "javascript:alert(1)", False),
        ("https://example.org/a", " ", False),
    ],
)
def test_another_spelling_is_believed_and_another_page_is_not(final: str, named: str | None, expected: bool) -> None:
    assert preferred_url(final, named) == (named if expected else final)


def test_no_page_is_led_away_from_https() -> None:
    assert preferred_url("https://example.org/a", "http://example.org/a/") == "https://example.org/a/"
    assert preferred_url("https://example.org/a", "http://www.example.org/a/") == "https://example.org/a"


def test_the_answer_is_canonical_and_stays() -> None:
    once = preferred_url("https://example.org/a/?sort=asc", "HTTPS://Example.org:443/a?utm_source=feed#top")
    assert once == "https://example.org/a"
    assert preferred_url(once, once) == once


@pytest.mark.slow
def test_a_pinned_version_of_a_documentation_stays_itself() -> None:
    answer = asyncio.run(WarcAcquirer(SITE).fetch("https://docs.python.org/3.11/library/os.html"))
    assert b'<link rel="canonical" href="file:///' in answer.body  # built for a machine of its own
    assert convert_page(answer).canonical is None
    published = re.sub(rb"file:///[^\"]*/html/", b"https://docs.python.org/3/", answer.body)
    named = convert_page(replace(answer, body=published)).canonical
    assert named == "https://docs.python.org/3/library/os.html"
    assert preferred_url(answer.final_url, named) == answer.final_url
