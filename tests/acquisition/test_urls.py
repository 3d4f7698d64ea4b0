from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.acquisition.urls import MAX_URL_CHARS, canonicalise, page_key, source_key
from webrag_core.errors import FetchError, Reason


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("  https://example.org/a b\t\n", "https://example.org/a%20b"),
        ("https://example.org:443/x", "https://example.org/x"),
        ("http://example.org:443/x", "http://example.org:443/x"),
        ("https://example.org./x", "https://example.org/x"),
        ("http://example.org/a/../b/./c//d", "http://example.org/b/c//d"),
        ("http://ex.com\\@evil.test/", "http://ex.com/@evil.test/"),
        ("http://münchen.de/é?ü#ß", "http://xn--mnchen-3ya.de/%C3%A9?%C3%BC"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://127.0.0.1./", "http://127.0.0.1/"),
        ("http://[0:0::1]:8080/", "http://[::1]:8080/"),
        ("http://:@example.org/", "http://example.org/"),
        ("http://example.org/docs/index.html", "http://example.org/docs/index.html"),
        ("http://example.org/docs", "http://example.org/docs"),
    ],
)
def test_spelling_is_what_a_browser_would_ask_for(url: str, canonical: str) -> None:
    assert canonicalise(url) == canonical
    assert canonicalise(canonical) == canonical


@pytest.mark.parametrize(
    ("link", "canonical"),
    [
        ("", "https://example.org/a/b?q=1"),
        ("#part", "https://example.org/a/b?q=1"),
        ("c", "https://example.org/a/c"),
        ("?p=2", "https://example.org/a/b?p=2"),
        ("//other.test/x", "https://other.test/x"),
        ("http:c", "http://c/"),
    ],
)
def test_links_resolve_against_their_page(link: str, canonical: str) -> None:
    assert canonicalise(link, "https://example.org/a/b?q=1") == canonical


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("?", ""),
        ("?utm_source=x&UTM_Medium=y&gclid=1&fbclid=2", ""),
        ("?b=2&utm_source=x&a=1", "?b=2&a=1"),
        ("?utm%5Fsource=x&a", "?a"),
        ("?a=utm_source&ref=x&source=y", "?a=utm_source&ref=x&source=y"),
        ("?a=1&&a=1&", "?a=1&&a=1&"),
        ("?a=%7e+%20;b", "?a=%7e+%20;b"),
    ],
)
def test_query_loses_tracking_and_nothing_else(query: str, kept: str) -> None:
    assert canonicalise(f"https://example.org/{query}") == f"https://example.org/{kept}"


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("", "not an absolute URL"),
        ("/path", "not an absolute URL"),
        ("example.org", "not an absolute URL"),
        ("http://", "not an absolute URL"),
        ("http://a b/", "not an absolute URL"),
        ("http://example.org:99999/", "not an absolute URL"),
        ("http://1.2.3.4.5/", "not an absolute URL"),
        ("http://[fe80::1%25eth0]/", "not an absolute URL"),
        ("http://example.org/\ud800", "not an absolute URL"),
        ("ftp://example.org/", "only http and https"),
        ("file:///etc/passwd", "only http and https"),
        ("javascript:alert(1)", "only http and https"),
        ("http://user@example.org/", "user name or password"),
        ("http://:secret@example.org/", "user name or password"),
        ("http://a..b/", "empty or too long part"),
        ("http://example.org../", "empty or too long part"),
        ("http://./", "empty or too long part"),
        (f"http://{'a' * 64}.org/", "empty or too long part"),
        ("http://xn--99999999.org/", "malformed xn--"),
        ("http://example.org/" + "a" * MAX_URL_CHARS, "longer than"),
    ],
)
def test_refusals_say_what_is_wrong(url: str, problem: str) -> None:
    with pytest.raises(FetchError, match=problem) as caught:
        canonicalise(url)
    assert caught.value.reason is Reason.INVALID_URL
    assert "secret" not in caught.value.message


@given(st.one_of(st.text(), st.text().map("http://{}".format), st.text().map("https://h/{}".format)))
def test_any_text_is_refused_or_becomes_a_fixed_point(text: str) -> None:
    try:
        canonical = canonicalise(text)
    except FetchError:
        return
    assert canonical.isascii()
    assert canonicalise(canonical) == canonical


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://Example.org/a", "example.org"),
        ("https://example.org.:443/a", "example.org"),
        ("http://example.org:443/a", "example.org:443"),
        ("http://localhost:8000/", "localhost:8000"),
        ("http://[::1]:8000/", "[::1]:8000"),
        ("http://münchen.de/", "xn--mnchen-3ya.de"),
    ],
)
def test_source_key(url: str, key: str) -> None:
    assert source_key(url) == key


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://h/docs/index.html", "http://h/docs/"),
        ("http://h/index.htm?a=/index.html#x", "http://h/?a=/index.html"),
        ("http://h/docs/", "http://h/docs/"),
        ("http://h/docs", "http://h/docs"),
        ("http://h/myindex.html", "http://h/myindex.html"),
        ("http://h/index.html/", "http://h/index.html/"),
    ],
)
def test_page_key(url: str, key: str) -> None:
    assert page_key(url) == key
