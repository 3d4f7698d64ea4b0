"""What is at or below an address: over steps of paths, whatever way the address is typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.corpus.places import Places
from webrag_core.errors import FetchError

STEPS = st.lists(st.sampled_from(("doc", "docs", "Doc", "a", "ä", "b.html", "1-2")), max_size=3)


def holds(places: Places, url: str) -> bool:
    """As the condition in SQL."""
    return url in places.addresses or url.startswith(places.beginnings)


def stored(steps: list[str], scheme: str, end: str) -> str:
    return f"{scheme}://site.example" + "".join(f"/{step.replace('ä', '%C3%A4')}" for step in steps) + end


@given(
    typed=STEPS,
    page=STEPS,
    scheme=st.sampled_from(("", "http", "https", "HTTPS")),
    host=st.sampled_from(("site.example", "Site.Example")),
    typed_end=st.sampled_from(("", "/", "#part", "/#part")),
    end=st.sampled_from(("/", "?page=2", "/?page=2", "")),
    page_scheme=st.sampled_from(("http", "https")),
)
def test_a_page_is_below_an_address_whose_steps_its_own_steps_go_on_from(
    typed: list[str], page: list[str], scheme: str, host: str, typed_end: str, end: str, page_scheme: str
) -> None:
    text = (f"{scheme}://" if scheme else "") + "/".join([host, *typed]) + typed_end
    url = stored(page, page_scheme, end if page else "/")
    expected = page[: len(typed)] == typed and scheme.lower() in ("", page_scheme)
    assert holds(Places.typed([text]), url) is expected


@pytest.mark.parametrize(
    "text", ["", "docs", "notes.html", "ftp://site.example/", "https://", "https://user@site.example/"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(FetchError):
        Places.typed([text])


def test_an_address_with_a_query_means_that_page_alone() -> None:
    places = Places.typed(["https://site.example/list?utm_source=x&page=2"])
    assert (places.addresses, places.beginnings) == (("https://site.example/list?page=2",), ())
    assert Places.typed([]) == Places((), ())
