"""Sources that files declare: `NAME/defs.yaml` below the package's `defs/sources`, `NAME.yaml` below `sources` in the
corpus' home. Dagster's loader needs some 20 ms a file, this reader 1 ms, and a file that cannot be read fails alone.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import yaml  # type: ignore[import-untyped]

from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError
from webrag_dagster.broken_source import GROUP, MISTAKES, BrokenSource, printable
from webrag_dagster.components import CuratedSource, SourceTable, file_of, text_of
from webrag_dagster.corpus.source_assets import ATTACHED

FOLDER = "sources"
_HOME = "home"
_TYPES = {f"{kind.__module__}.{kind.__name__}": kind for kind in (CuratedSource, SourceTable)}
_TYPE = next(iter(_TYPES))
_SUFFIXES = (".yaml", ".yml")
_FILE = "defs.yaml"
_MOST_BYTES = 256 * 1024
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""PyYAML's reader in C where it is there: ten times as fast."""
_MOST_LEVELS = 100
_OPENING = "[{-?:"
"""Characters of which each level of a YAML file needs one."""


@dataclass(frozen=True, slots=True)
class _SourceFile:
    """A file, what its asset is named after, and its name for people."""

    path: Path
    names: tuple[str, ...]
    declared_in: str


class SourceFolder(dg.Component, dg.Model, dg.Resolvable):
    """The source files in the folders below: each `defs.yaml` is a CuratedSource or a SourceTable."""

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """An external asset for each source, also for one whose file has a mistake."""
        place = file_of(context)
        files = (
            _SourceFile(path, (path.parent.name,), f"{place}/{path.parent.relative_to(context.path).as_posix()}")
            for path in _files_below(context.path)
        )
        return dg.Definitions(assets=list(_specs(files, context.resolution_context)))


def home_sources() -> list[dg.AssetSpec]:
    """An entry of the catalog for each file of the home. A folder that is not there declares none."""
    try:
        folder = load_settings().webrag_home / FOLDER
    except InvalidInputError as error:  # every run says so, too
        warnings.warn(f"no source of the home is declared: {error.message}", stacklevel=2)
        return []
    try:
        files = sorted(file for file in folder.iterdir() if file.suffix in _SUFFIXES)
    except FileNotFoundError:
        return []
    except OSError as error:
        return [BrokenSource(error).spec([GROUP, _HOME], f"{_HOME}/{FOLDER}")]
    return list(_specs(_SourceFile(file, (_HOME, file.stem), f"{_HOME}/{FOLDER}/{file.name}") for file in files))


def _files_below(folder: Path, levels: int = 4) -> Iterator[Path]:
    """The file of each folder, however deep; links are followed, so a circle of them must end. Where a folder cannot be
    listed, its file is not there to be read, which is reported."""
    try:
        folders = sorted(
            child for child in folder.iterdir() if child.is_dir() and not child.name.startswith((".", "_"))
        )
    except OSError:
        yield folder / _FILE
        return
    for child in folders:
        if os.path.lexists(child / _FILE):
            yield child / _FILE
        elif levels:
            yield from _files_below(child, levels - 1)


def _specs(files: Iterable[_SourceFile], context: dg.ResolutionContext | None = None) -> Iterator[dg.AssetSpec]:
    """The entries of these files. Of two files whose names give one key, the second has a mistake."""
    names: dict[tuple[str, ...], str] = {}
    for number, file in enumerate(files):
        name, declared_in = tuple(re.sub(r"\W+", "_", part) for part in file.names), printable(file.declared_in)
        key = [GROUP, *name]
        try:
            if names.setdefault(name, declared_in) != declared_in:
                key = [*key, "twice", str(number)]
                raise ValueError(f"{names[name]} has the same name")
            if name in ((_HOME,), (ATTACHED,)):
                raise ValueError(f"the name {name[0]} is that of other sources")
            source = _read(file.path, context)
            if isinstance(source, SourceTable):
                yield from source.specs(file.path.parent, key, declared_in)
            else:
                yield source.spec(key, declared_in)
        except MISTAKES as error:
            yield BrokenSource(error).spec(key, declared_in)


def _read(path: Path, context: dg.ResolutionContext | None) -> CuratedSource | SourceTable:
    """What a file declares: the fields of `CuratedSource`, or a type with its `attributes`. Raises one of MISTAKES."""
    text = text_of(path, _MOST_BYTES)
    if sum(map(text.count, _OPENING)) > _MOST_LEVELS:
        _check_levels(text)
    content = yaml.load(text, Loader=_LOADER)
    if not isinstance(content, dict):
        raise ValueError("the file holds no fields")
    if not content.keys() & {"type", "attributes"}:
        return CuratedSource(**content)
    kind = _TYPES.get(str(content.get("type", _TYPE)))
    attributes = content.get("attributes") or {}
    if kind is None or not isinstance(attributes, dict):
        raise ValueError(f"a source file is a {' or a '.join(_TYPES)}, with attributes")
    if "{{" in text and context is not None:
        resolved: CuratedSource | SourceTable = kind.resolve_from_model(context, kind.model()(**attributes))
        return resolved
    return kind(**attributes)


def _check_levels(text: str) -> None:
    """Refuse lists in lists in lists, which end the process: the reader in C needs stack for each level. Raises
    ValueError, yaml.YAMLError."""
    level = 0
    for event in yaml.parse(text, Loader=_LOADER):
        level += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if level > _MOST_LEVELS:
            raise ValueError(f"the file has more than {_MOST_LEVELS} levels")
