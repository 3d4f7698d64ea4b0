"""What a YAML file under `defs/` can be: component `CuratedSource` declares a source, its seed and its refresh cadence.

The file is the only place for these facts; sensor `declared_sources` takes them over into the corpus. Whether the
source is paused is not among them: that is the operator's switch (`webrag source pause`), and it wins.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urljoin

import dagster as dg
from pydantic import Field, field_validator, model_validator

from webrag_core.acquisition.urls import canonicalise
from webrag_core.corpus.sources import MAX_SHARDS, checked_prefix, section_key, section_prefix
from webrag_core.corpus.version_paths import checked_pattern
from webrag_core.errors import FetchError, InvalidInputError
from webrag_core.watches.subjects import Subject
from webrag_dagster.broken_source import GROUP, MISTAKE, MISTAKES, BrokenSource, printable

DECLARATION = "webrag/declaration"
"""Metadata key of the declaration that the sensor writes into the corpus."""

WATCHED = "webrag/watches"
"""Metadata key of the watches that the file declares."""

OWNERS = ["team:corpus"]
"""Of what belongs to nobody else."""

_WORDS = {"hourly": 1.0, "daily": 24.0, "weekly": 168.0, "monthly": 720.0}
_MOST_MISTAKES = 5
_MOST_BYTES = 32 * 1024 * 1024
_UNITS = {"m": 1 / 60, "h": 1.0, "d": 24.0}


class DeclaredWatch(dg.Model, dg.Resolvable):
    """What somebody is told of: a page of the source, a section of it, or a question to the source."""

    page: str | None = Field(default=None, description="Address of a page of the source, or its path.")
    section: list[str] = Field(default=[], description="Only this section of the page: its headings, outermost first.")
    question: str | None = Field(default=None, description="Instead of a page: a question to the stored pages.")
    pace: Literal["at_once", "daily"] = Field(
        default="at_once", description="daily = at most one message in 24 hours, with all news since the last."
    )


class CuratedSource(dg.Component, dg.Model, dg.Resolvable):
    """A site section to refresh regularly: its seed, its scope and its cadence."""

    seed: str = Field(description="URL of the page where the section begins.")
    description: str | None = Field(default=None, description="Description for the catalog.")
    scope: str | None = Field(
        default=None, description="Path that all of its pages begin with, as /docs/; unset = the folder of the seed."
    )
    pages: int = Field(default=500, ge=1, le=1_000_000, description="Pages that it may hold.")
    links: Literal["none", "map", "links"] = Field(
        default="links",
        description="What brings new pages: nothing, the site's own map, or the map and links on pages.",
    )
    refresh: str = Field(default="daily", description="How often: hourly, daily, weekly, monthly, or as 90m, 6h, 3d.")
    watch: str | None = Field(
        default=None, description="How often its change signals are checked, as 15m; unset = hourly."
    )
    acquirer: Literal["auto", "http", "firecrawl", "browser"] = Field(
        default="auto", description="Who fetches: as the settings say, our own fetcher, Firecrawl, or a browser here."
    )
    shards: int = Field(
        default=1, ge=1, le=MAX_SHARDS, description="Parts of its own partition; for more than about 5,000 pages."
    )
    pool: str | None = Field(
        default=None, pattern=r"^[a-z0-9_-]{1,40}$", description="Run tag webrag/pool: runs of a pool are limited."
    )
    versions_in_path: str | None = Field(
        default=None,
        description="Where addresses name versions, as /docs/{version}/; unset = what looks like a version is one.",
    )
    all_text: bool = Field(
        default=False, description="True = everything that its pages show is kept, navigation and footers included."
    )
    watches: list[DeclaredWatch] = Field(default=[], description="Pages, sections and questions to be told of.")
    owners: list[str] | None = Field(default=None, description="E-mail addresses, or team:name.")
    enabled: bool = Field(default=True, description="False = shown in the catalog only.")

    @field_validator("seed")
    @classmethod
    def _is_a_url(cls, seed: str) -> str:
        try:
            return canonicalise(seed)
        except FetchError as error:
            raise ValueError(error.message) from None

    @field_validator("scope")
    @classmethod
    def _is_a_path(cls, scope: str | None) -> str | None:
        if scope is not None and not scope.startswith("/"):
            raise ValueError("a scope is a path: it begins with a slash")
        return scope

    @field_validator("versions_in_path")
    @classmethod
    def _names_a_segment(cls, pattern: str | None) -> str | None:
        try:
            return None if pattern is None else checked_pattern(pattern)
        except InvalidInputError as error:
            raise ValueError(error.message) from None

    @model_validator(mode="after")
    def _has_a_key(self) -> Self:
        try:
            _ = self.key
        except (FetchError, InvalidInputError) as error:
            raise ValueError(error.message) from None
        return self

    @model_validator(mode="after")
    def _can_be_watched(self) -> Self:
        try:
            _ = self.watched()
        except (FetchError, InvalidInputError) as error:
            raise ValueError(error.message) from None
        return self

    @field_validator("refresh", "watch")
    @classmethod
    def _is_a_span(cls, span: str | None) -> str | None:
        if span is not None:
            hours_of(span)
        return span

    @property
    def key(self) -> str:
        """The source's key: its host, and the path of its section."""
        return section_key(self.seed, self.prefix)

    @property
    def prefix(self) -> str:
        """Path prefix of its pages."""
        return checked_prefix(self.seed, section_prefix(self.seed) if self.scope is None else self.scope)

    def declaration(self, declared_in: str) -> dict[str, Any]:
        """Fields of `webrag_core.corpus.declared.Declaration`."""
        return {
            "key": self.key,
            "seed_url": self.seed,
            "path_prefix": self.prefix,
            "page_limit": self.pages,
            "declared_in": declared_in,
            "refresh_hours": hours_of(self.refresh),
            "watch_minutes": None if self.watch is None else hours_of(self.watch) * 60,
            "shards": self.shards,
            "acquirer": None if self.acquirer == "auto" else self.acquirer,
            "pool": self.pool,
            "follow": self.links,
            "versions_in_path": self.versions_in_path,
            "all_text": self.all_text,
            "owners": list(self.owners or []),
        }

    def watched(self) -> list[dict[str, Any]]:
        """Parameters of `webrag_core.watches.subjects.Subject.of`, one for each watch. Raises FetchError(INVALID_URL),
        InvalidInputError for a watch that cannot be meant, and for a page of another source."""
        subjects = []
        for watch in self.watches:
            page = None if watch.page is None else canonicalise(urljoin(self.seed, watch.page))
            fields: dict[str, Any] = {
                "page": page,
                "section": watch.section,
                "question": watch.question,
                "sources": [] if watch.question is None else [self.key],
                "pace": watch.pace,
            }
            Subject.of(**fields)
            if page is not None and not page.partition("://")[2].startswith(section_key(self.seed, "/") + self.prefix):
                raise InvalidInputError(f"{watch.page} is no page of {self.key}")
            subjects.append(fields)
        return subjects

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """One external asset: the entry in the catalog. Touches nothing outside this process."""
        return dg.Definitions(assets=[self.spec(asset_key_of(context), file_of(context))])

    def spec(self, asset_key: Sequence[str], declared_in: str) -> dg.AssetSpec:
        """The entry in the catalog, under this key, of a source that this file declares."""
        declaration = self.declaration(declared_in)
        hours = declaration["refresh_hours"]
        metadata: Mapping[str, Any] = {
            "seed": dg.MetadataValue.url(self.seed),
            "scope": declaration["path_prefix"],
            "refreshed": f"{self.refresh}, by sensor refresh_due",
            "watched": f"{self.watch or 'hourly'}, by sensor site_watch",
            "pages at most": self.pages,
            "partitions": self.shards,
            DECLARATION: dg.MetadataValue.json(declaration if self.enabled else {}),
            WATCHED: dg.MetadataValue.json(self.watched() if self.enabled else []),
        }
        return dg.AssetSpec(
            key=list(asset_key),
            group_name=GROUP,
            description=(
                f"{self.description or f'Pages of {self.key}.'} Its materializations are its refreshes: sensor"
                f" `corpus_changes` reports each. Its pages are partition `{self.key}` of the assets below."
            ),
            kinds={"yaml"},
            freshness_policy=freshness(hours) if self.enabled else None,
            owners=self.owners or OWNERS,
            metadata=metadata,
            tags=source_tag(self.key) | ({} if self.enabled else {"webrag/disabled": ""}),
        )


class SourceTable(dg.Component, dg.Model, dg.Resolvable):
    """Many sources in one file, a line each."""

    file: str = Field(
        default="sources.jsonl",
        pattern=r"^[\w.-]+$",
        description="File beside this one: a source a line, as JSON with the fields of CuratedSource.",
    )

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """The entries of the catalog."""
        return dg.Definitions(assets=self.specs(context.path, asset_key_of(context), file_of(context)))

    def specs(self, folder: Path, asset_key: Sequence[str], declared_in: str) -> list[dg.AssetSpec]:
        """An external asset for each line, named after its source, and one that says which lines have a mistake: what
        these declared before stays as it was. Raises OSError, ValueError for a file that cannot be read."""
        lines = text_of(folder / self.file, _MOST_BYTES).splitlines()
        declared_in = f"{declared_in}/{self.file}"
        specs: dict[str, dg.AssetSpec] = {}
        mistakes: list[str] = []
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                source = CuratedSource(**json.loads(line))
                name = re.sub(r"\W+", "_", source.key)
                if name in specs:
                    raise ValueError(f"{source.key} is declared twice")
                specs[name] = source.spec([*asset_key, name], declared_in)
            except MISTAKES as error:
                mistakes.append(f"line {number}: {BrokenSource(error).reason}")
        if not mistakes:
            return list(specs.values())
        more = f"; and {len(mistakes) - _MOST_MISTAKES} more" if len(mistakes) > _MOST_MISTAKES else ""
        broken = BrokenSource(ValueError("; ".join(mistakes[:_MOST_MISTAKES]) + more))
        return [*specs.values(), broken.spec(asset_key, declared_in)]


def file_of(context: dg.ComponentLoadContext) -> str:
    """The file's folder, relative to the one that holds the package, so that two machines say the same."""
    return context.path.relative_to(context.defs_module_path.parents[1]).as_posix()


def asset_key_of(context: dg.ComponentLoadContext) -> list[str]:
    """Named after the folder: two files for one section are the sensor's to refuse, not the whole location's."""
    return [GROUP, re.sub(r"\W+", "_", context.path.name)]


def text_of(file: Path, most: int) -> str:
    """The text of a file of at most `most` bytes. Raises OSError, ValueError."""
    if not file.is_file():  # reading a pipe would wait for ever
        raise ValueError(f"{printable(file.name)} is no file that can be read")
    if file.stat().st_size > most:
        raise ValueError(f"{printable(file.name)} has more than {most} bytes")
    return file.read_text(encoding="utf-8")


def source_tag(key: str) -> dict[str, str]:
    """Tag of the asset of a source: its key, with the characters that a tag may have."""
    return {"webrag/source": re.sub(r"[^\w.-]", "-", key)[:63]}


def freshness(hours: float) -> dg.FreshnessPolicy:
    """Warn when a refresh is late by half of its interval, fail when two are missing. The minutes are for the schedule,
    the run and the sensor that reports it."""
    spare = timedelta(minutes=20)
    return dg.FreshnessPolicy.time_window(
        warn_window=timedelta(hours=1.5 * hours) + spare, fail_window=timedelta(hours=3 * hours) + spare
    )


def hours_of(span: str) -> float:
    """Hours of `hourly`, `daily`, `weekly`, `monthly`, or of a number with m, h or d. Raises ValueError."""
    if span in _WORDS:
        return _WORDS[span]
    match = re.fullmatch(r"(\d{1,4})([mhd])", span)
    hours = int(match[1]) * _UNITS[match[2]] if match else 0.0
    if not hours:
        raise ValueError(f"{span!r} is no time span: say hourly, daily, weekly, monthly, or a number as 90m, 6h, 3d")
    return hours


def declared_assets(repository: dg.RepositoryDefinition) -> dict[str, dg.AssetKey]:
    """Asset of every enabled source that a file declares, by the source's key."""
    return {
        str(value.data["key"]): node.key
        for node in repository.asset_graph.asset_nodes
        if isinstance(value := node.metadata.get(DECLARATION), dg.JsonMetadataValue) and isinstance(value.data, dict)
        if value.data
    }


@dataclass(frozen=True, slots=True)
class Declared:
    """What the loaded files say: declarations of enabled sources, files with a mistake, with the reason, and the
    watches of the sources, with their file."""

    declarations: list[dict[str, Any]]
    broken: dict[str, str]
    watches: list[tuple[str, dict[str, Any]]]


def declared_of(repository: dg.RepositoryDefinition) -> Declared:
    """Read the loaded YAML files. Two files about one section are both broken: neither is taken."""
    declared_by_key: dict[str, list[dict[str, Any]]] = {}
    broken: dict[str, str] = {}
    watches: list[tuple[str, dict[str, Any]]] = []
    for node in repository.asset_graph.asset_nodes:
        value, mistake = node.metadata.get(DECLARATION), node.metadata.get(MISTAKE)
        if isinstance(value, dg.JsonMetadataValue) and isinstance(value.data, dict) and value.data:
            declared_by_key.setdefault(str(value.data["key"]), []).append(dict(value.data))
            watched = node.metadata.get(WATCHED)
            if isinstance(watched, dg.JsonMetadataValue) and isinstance(watched.data, list):
                watches += [(str(value.data["declared_in"]), dict(fields)) for fields in watched.data]
        if isinstance(mistake, dg.JsonMetadataValue) and isinstance(mistake.data, dict):
            broken[str(mistake.data["file"])] = str(mistake.data["reason"])
    for key, twins in declared_by_key.items():
        if len(twins) > 1:
            files = sorted(twin["declared_in"] for twin in twins)
            reason = f"{key} is declared twice, in {' and '.join(files)}: a section is one source"
            broken |= dict.fromkeys(files, reason)
    declarations = [item for item, *others in declared_by_key.values() if not others]
    return Declared(declarations, broken, [watch for watch in watches if watch[0] not in broken])
