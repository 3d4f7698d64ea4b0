"""Extras that commands and settings ask for are those of the package."""

from __future__ import annotations

from importlib.metadata import metadata

import pytest

from webrag_core import extras
from webrag_core.errors import MissingExtraError
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
