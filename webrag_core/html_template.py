"""Templates of the HTML files that are written for people: all text escaped, undefined names an error."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template


def load_template(file: Path, names: Mapping[str, object] | None = None) -> Template:
    """The Jinja template in `file`, in which `names` stand for functions and values. Not cached."""
    environment = Environment(
        loader=FileSystemLoader(file.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= names or {}
    return environment.get_template(file.name)
