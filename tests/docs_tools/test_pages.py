"""The generated pages say what the code says."""

from __future__ import annotations

import pytest

from docs_tools import views
from docs_tools.pages import DOCS, FILES, VIEWS
from webrag_core.config import Settings

AGAIN = "stale: run `make pages` and commit what it writes"


@pytest.mark.parametrize("name", FILES)
def test_a_generated_file_is_current(name: str) -> None:
    assert (DOCS / name).read_text() == FILES[name](), AGAIN


def test_the_page_of_the_views_is_current(database_url: str) -> None:
    assert (DOCS / VIEWS).read_text() == views.page(database_url), AGAIN


def test_every_setting_says_what_it_is_for() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []
