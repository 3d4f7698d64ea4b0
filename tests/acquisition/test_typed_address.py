"""What people type for an address."""

from __future__ import annotations

import pytest

from webrag_core.acquisition.typed_address import typed_address
from webrag_core.errors import FetchError, Reason


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("docs.python.org/3/", "https://docs.python.org/3/"),
        ("docs.python.org", "https://docs.python.org"),
        (" Example.ORG?q=1 ", "https://Example.ORG?q=1"),
        ("//example.org/x", "https://example.org/x"),
        ("bücher.example/a b", "https://bücher.example/a b"),
        ("wiki.internal:8443/x", "https://wiki.internal:8443/x"),
        ("wiki:8080", "https://wiki:8080"),
        ("localhost/x", "http://localhost/x"),
        ("localhost:8000", "http://localhost:8000"),
        ("127.0.0.1:8123/", "http://127.0.0.1:8123/"),
        ("[::1]:80/", "http://[::1]:80/"),
        ("93.184.215.14", "https://93.184.215.14"),
        ("example.org/see/http://other.org/", "https://example.org/see/http://other.org/"),
        ("http://a/", "http://a/"),
        ("ftp://x.org/", "ftp://x.org/"),
    ],
)
def test_a_scheme_is_added_where_it_is_missing(text: str, url: str) -> None:
    assert typed_address(text) == url


@pytest.mark.parametrize(
    "text",
    [
        *("", "foo", "foo/bar", "How do I read a file?", "page.html", "report.PDF", "mailto:me@example.org", "1.5"),
        *("file:/etc/passwd", "javascript:alert(1)", "me@example.org", "--help", "...", "a b.org/", "/etc/passwd"),
    ],
)
def test_what_resembles_no_host_is_refused(text: str) -> None:
    with pytest.raises(FetchError, match=r"is no web address; write one as docs\.python\.org/3/") as caught:
        typed_address(text)
    assert caught.value.reason is Reason.INVALID_URL


def test_a_host_of_one_word_is_named_as_a_way() -> None:
    with pytest.raises(FetchError, match=r"or https://wiki/page for a host of your own network"):
        typed_address("wiki/page")
