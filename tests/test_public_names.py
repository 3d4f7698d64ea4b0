"""The public face of the library."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

import webrag_core
from tests.command_line import Webrag, webrag
from webrag_core import WebragError
from webrag_core.cli.wanted_evidence import seconds_of
from webrag_core.errors import InvalidInputError

__all__ = ["webrag"]


def test_every_public_name_can_be_imported_and_is_documented() -> None:
    assert webrag_core.__doc__
    for name in webrag_core.__all__:
        assert getattr(webrag_core, name) is not None
        assert name == "__version__" or f"`{name}`" in webrag_core.__doc__ or name == "WebragError"
    with pytest.raises(AttributeError):
        _ = webrag_core.Nothing


def test_every_error_class_is_public() -> None:
    names = {error.__name__ for error in WebragError.__subclasses__() if error.__module__ == "webrag_core.errors"}
    assert names <= set(webrag_core.__all__)


def test_types_are_shipped() -> None:
    assert (Path(webrag_core.__file__).parent / "py.typed").exists()


@pytest.mark.slow
def test_the_version_is_told(webrag: Webrag) -> None:
    assert webrag_core.__version__ == version("webrag")
    assert webrag("--version").stdout == f"webrag {version('webrag')}\n"


@pytest.mark.parametrize(("age", "seconds"), [(None, None), ("90", 90), ("90s", 90), ("12h", 43_200), ("1d", 86_400)])
def test_an_age_has_a_unit(age: str | None, seconds: float | None) -> None:
    assert seconds_of(age) == seconds


@pytest.mark.parametrize("age", ["", "d", "-1", "1y", "1.5d", "٣d", "9" * 20])
def test_anything_else_is_no_age(age: str) -> None:
    with pytest.raises(InvalidInputError, match="--max-age"):
        seconds_of(age)
