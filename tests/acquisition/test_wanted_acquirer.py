"""A source may choose who fetches it."""

from __future__ import annotations

import pytest

from webrag_core.config import Settings
from webrag_core.corpus.acquirers import make_acquirer
from webrag_core.errors import InvalidInputError


def test_http_never_asks_firecrawl_and_firecrawl_needs_it(settings: Settings) -> None:
    live = settings.model_copy(update={"webrag_warc": None})
    both = live.model_copy(update={"firecrawl_api_url": "http://127.0.0.1:9"})
    assert make_acquirer(both, "http").name == "http"
    assert make_acquirer(both).name != "http"
    assert make_acquirer(both, "firecrawl").name == make_acquirer(both).name
    with pytest.raises(InvalidInputError, match="`firecrawl` needs FIRECRAWL_API_KEY"):
        make_acquirer(live, "firecrawl")


def test_a_frozen_site_stands_in_for_all_of_them(settings: Settings) -> None:
    assert {make_acquirer(settings, wanted).name for wanted in (None, "http", "firecrawl")} == {"warc"}
