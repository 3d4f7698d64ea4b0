"""Settings: misspelt names are reported."""

from __future__ import annotations

import logging

import pytest

from webrag_core.config import load_settings, unknown_names


def test_a_misspelt_setting_is_reported_with_the_nearest_name(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("WEBRAG_MAXPAGES", "5")
    with caplog.at_level(logging.WARNING):
        assert load_settings().webrag_max_pages == 30
    assert "WEBRAG_MAXPAGES is no setting of WebRAG and is ignored; did you mean WEBRAG_MAX_PAGES?" in caplog.text


def test_settings_and_foreign_names_are_not_reported() -> None:
    assert unknown_names(["WEBRAG_HOME", "webrag_warc", "PATH", "EMBEDDING_FOO", "WEBRAG_PORT"]) == []
