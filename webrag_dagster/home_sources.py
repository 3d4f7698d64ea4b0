"""Sources that files in the corpus' home declare: `sources/NAME.yaml`, beside those of the package's own folder."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import yaml  # type: ignore[import-untyped]

from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError
from webrag_dagster.broken_source import GROUP, MISTAKES, BrokenSource
from webrag_dagster.components import CuratedSource

FOLDER = "sources"
_HOME = "home"
_TYPE = f"{CuratedSource.__module__}.{CuratedSource.__name__}"
_SUFFIXES = (".yaml", ".yml")


def home_sources() -> list[dg.AssetSpec]:
    """An entry of the catalog for each file, also for one with a mistake. A folder that is not there declares none."""
    try:
        folder = load_settings().webrag_home / FOLDER
    except InvalidInputError as error:  # every run says so, too
        warnings.warn(f"no source of the home is declared: {error.message}", stacklevel=2)
        return []
    return list(_declared(folder))


def _declared(folder: Path) -> Iterator[dg.AssetSpec]:
    if not folder.is_dir():
        return
    files: dict[str, Path] = {}
    for number, file in enumerate(sorted(folder.iterdir())):
        if file.suffix not in _SUFFIXES or not file.is_file():
            continue
        declared_in, name = f"{_HOME}/{FOLDER}/{file.name}", re.sub(r"\W+", "_", file.stem)
        key = [GROUP, _HOME, name]
        try:
            if files.setdefault(name, file) != file:
                key = [*key, str(number)]
                raise ValueError(f"{files[name].name} has the same name")
            yield CuratedSource(**_attributes(file)).spec(key, declared_in)
        except (*MISTAKES, OSError, yaml.YAMLError) as error:
            yield BrokenSource(error, declared_in).spec(key, declared_in)


def _attributes(file: Path) -> dict[str, Any]:
    """The fields of `CuratedSource` in a file: all that it holds, or, as in the package's folder, its `attributes`.

    Raises OSError, yaml.YAMLError, ValueError.
    """
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError("the file holds no fields")
    if "attributes" not in content:
        return content
    if content.get("type", _TYPE) != _TYPE or not isinstance(content["attributes"], dict):
        raise ValueError(f"a file of the home is a {_TYPE} with attributes")
    return content["attributes"]
