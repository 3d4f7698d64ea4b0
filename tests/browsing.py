"""A browser for tests. It waits as long as the whole test may take: a slow machine must not fail a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from benchmarks.security.foreign_site import CHROMIUM, FLAGS

MILLISECONDS = 300_000
expect.set_options(timeout=MILLISECONDS)

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser that runs meanwhile."""
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser:
        yield browser


def new_page(browser: Browser, **options: Any) -> Page:
    """A page that remembers nothing of another test; `options` are those of `Browser.new_page`."""
    page = browser.new_page(**options)
    page.set_default_timeout(MILLISECONDS)
    return page
