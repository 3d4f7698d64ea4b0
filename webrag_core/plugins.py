"""Plugins: parts that packages add through entry points, ours among them. Docs: `docs/plugins.md`.

A plugin is an entry point of one of the groups below, and what it names is called to make the part. Names are read from
the metadata of the installed packages; a plugin is imported when its name is asked for, and no other one with it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from webrag_core.errors import FetchError, InvalidInputError, PluginError, Reason, WebragError

_OURS = "webrag"


def failure_of(error: Exception) -> str:
    """The problem, as a predicate, of a plugin that raised an error."""
    return f"fails: {type(error).__name__}: {error}"


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point that no other package has a twin of. `noun` is what people call its kind."""

    noun: str
    entry: EntryPoint

    @property
    def is_ours(self) -> bool:
        """Whether it comes with this package."""
        return _package(self.entry) == _OURS

    def make(self, *arguments: object) -> Any:
        """Call what the entry point names. Raises PluginError where it cannot be imported, is nothing that can be
        called, or fails; a WebragError of its own stays what it is."""
        try:
            factory: Callable[..., object] = self.entry.load()
            if not callable(factory):
                raise self.broken("names nothing that can be called")
            return factory(*arguments)
        except (WebragError, MemoryError, RecursionError):  # the last two are about the page that is converted
            raise
        except Exception as error:
            raise self.broken(failure_of(error)) from error

    async def answer(self, call: Awaitable[object]) -> object:
        """What the part answers to a call. Raises FetchError(PROVIDER_FAILED) for what it raises that is no error of
        ours; those stay what they are."""
        try:
            return await call
        except WebragError:
            raise
        except Exception as error:
            raise self.unusable(failure_of(error)) from error

    def unusable(self, problem: str) -> FetchError:
        """As `broken`, where it costs a page or a document and not more."""
        return FetchError(Reason.PROVIDER_FAILED, self.broken(problem).message)

    def broken(self, problem: str) -> PluginError:
        """The error that names this entry point; `problem` follows as a predicate."""
        return PluginError(f"the {self.noun} {self.entry.name} ({_described(self.entry)}) {problem}")


@dataclass(frozen=True, slots=True)
class PluginGroup:
    """The plugins of one kind. `core` are names of parts that are no plugins; no plugin takes their place."""

    group: str
    noun: str
    core: frozenset[str] = frozenset()

    def names(self) -> list[str]:
        """All names that can be asked for, sorted. Imports nothing."""
        return sorted(self.core | self._entries().keys())

    def find(self, name: str) -> Plugin:
        """The plugin `name`; imports nothing. Raises InvalidInputError for a name that none has, PluginError for one
        that several packages have."""
        entries = self._entries().get(name, ())
        if name in self.core or not entries:
            raise InvalidInputError(f"there is no {self.noun} {name!r}; there are: {', '.join(self.names())}")
        if len(entries) > 1:
            listed = " and ".join(sorted(map(_described, entries)))
            raise PluginError(f"{len(entries)} packages have a {self.noun} {name}: {listed}; keep one of them")
        return Plugin(self.noun, entries[0])

    def check(self, name: str) -> str:
        """`name`, where it can be asked for. Raises as `find`."""
        if name not in self.core:
            self.find(name)
        return name

    def plugins(self) -> dict[str, Plugin]:
        """Those that have their name for themselves, by name. Imports nothing."""
        return {
            name: Plugin(self.noun, entries[0])
            for name, entries in sorted(self._entries().items())
            if len(entries) == 1 and name not in self.core
        }

    def folders(self) -> list[str]:
        """Where the packages of others with such plugins lie, sorted: for the path of another process."""
        entries = (entry for entries in self._entries().values() for entry in entries if _package(entry) != _OURS)
        results = {str(entry.dist.locate_file("")) for entry in entries if entry.dist is not None}
        return sorted(os.path.abspath(folder) for folder in results)

    def __contains__(self, name: str) -> bool:
        """Whether a plugin has this name."""
        return name not in self.core and name in self._entries()

    def _entries(self) -> Mapping[str, tuple[EntryPoint, ...]]:
        return _entries_of(self.group, tuple(sys.path))


ACQUIRERS = PluginGroup("webrag.acquirers", "acquirer", frozenset({"http", "warc", "git"}))
_PAGES = ("text/html", "application/xhtml+xml", "text/markdown", "text/x-markdown", "text/plain", "application/pdf")
FORMATS = PluginGroup("webrag.formats", "format", frozenset(_PAGES))
"""Names are media types, so that nobody imports a plugin to know what it reads."""
DOCUMENTS = PluginGroup("webrag.documents", "source of documents", frozenset({"eli", "file", "http", "https", "urn"}))
"""Names stand before identifiers (`NAME:IDENTIFIER`): not those with which addresses and identifiers of laws begin."""
RERANKERS = PluginGroup("webrag.rerankers", "reranker", frozenset({"local", "none"}))
RECORDS = PluginGroup("webrag.records", "keeper of records")
"""What keeps words of pages beside the corpus; `forget --scrub` has it delete its records of what was removed."""


@lru_cache(maxsize=16)  # the metadata of all packages is read for it
def _entries_of(group: str, path: tuple[str, ...]) -> Mapping[str, tuple[EntryPoint, ...]]:
    """The entry points of `group` by name, each package once. `path` is what is searched: `sys.path`."""
    entries: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in entry_points(group=group):
        entries[entry.name] = (*entries.get(entry.name, ()), entry)
    return entries


def _package(entry: EntryPoint) -> str:
    name = "" if entry.dist is None else entry.dist.name
    return re.sub(r"[-_.]+", "-", name).lower()


def _described(entry: EntryPoint) -> str:
    return f"entry point {entry.group}: {entry.name} = {entry.value}, of package {_package(entry) or 'without a name'}"
