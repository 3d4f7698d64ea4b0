"""Extras that commands and settings ask for are those of the package."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from importlib.metadata import metadata

import pytest

from tests.conversion.office_files import docx
from webrag_core import extras
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.convert import convert_page
from webrag_core.errors import FetchError, MissingExtraError, Reason
from webrag_core.extras import Extra, is_installed, require_extra

KNOWN = [value for value in vars(extras).values() if isinstance(value, Extra)]


@pytest.mark.parametrize("extra", KNOWN, ids=lambda extra: extra.brings)
def test_every_extra_is_declared_and_brings_its_modules(extra: Extra) -> None:
    assert extra.name in (metadata("webrag").get_all("Provides-Extra") or ())
    assert is_installed(extra), "the tests' requirements hold all of them"


def test_a_missing_one_is_named() -> None:
    missing = Extra("dagster", "Dagster", ("dagster", "no_such_module"))
    with pytest.raises(
        MissingExtraError, match=r"^`webrag up` needs Dagster: pip install 'webrag\[dagster\]'$"
    ) as raised:
        require_extra(missing, "`webrag up`")
    assert (raised.value.code, raised.value.exit_code) == ("missing_extra", 2)


@pytest.mark.parametrize(
    ("media_type", "body", "extra", "module"),
    [
        ("application/pdf", b"%PDF-1.7", "pdf", "pypdfium2"),
        (
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            docx("<w:p><w:r><w:t>Hello</w:t></w:r></w:p>"),
            "office",
            "mammoth",
        ),
    ],
)
def test_a_page_of_a_kind_that_is_not_installed_fails_alone_and_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, media_type: str, body: bytes, extra: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    url = "https://example.org/file"
    page = AcquiredPage(url, url, 200, {"content-type": media_type}, body, datetime.now(UTC), len(body))
    with pytest.raises(FetchError, match=rf"pip install 'webrag\[{extra}\]'$") as raised:
        convert_page(page)
    assert raised.value.reason is Reason.UNSUPPORTED_TYPE


def test_what_readme_installs_is_all_that_the_library_can_use() -> None:
    needed = {
        line.partition(";")[0].strip()
        for line in metadata("webrag").get_all("Requires-Dist") or ()
        if "standard" in line.partition(";")[2]
    }
    assert needed == {"webrag[office,pdf,reader]"}
