"""Assets of the sources that a command, a page, a program or a job attached.

What is attached stands in the database, which a code location must not wait for when it loads. Sensor
`declared_sources` therefore writes what the assets need into a file of the home, and the next load reads that: a
source that is attached has its events at once, and its entry in the catalog after the next reload.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg
from pydantic import TypeAdapter

from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError
from webrag_dagster.broken_source import GROUP, MISTAKES, BrokenSource
from webrag_dagster.components import OWNERS, freshness, source_tag, text_of

if TYPE_CHECKING:
    from webrag_core.corpus.kept_sources import KeptSource

ATTACHED = "attached"
"""Second part of the keys of these assets."""
_FILE = "attached-sources.json"
_MOST_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class AttachedAsset:
    """What the asset of an attached source says. `hours` between refreshes; a paused source has no freshness."""

    key: str
    seed: str
    pages: int
    hours: float
    owners: list[str]
    paused: bool

    @classmethod
    def of(cls, source: KeptSource) -> AttachedAsset:
        hours = source.every.total_seconds() / 3600
        return cls(source.key, source.start_url, source.page_limit, hours, source.owners, source.paused)

    def spec(self) -> dg.AssetSpec:
        """Its entry in the catalog."""
        return dg.AssetSpec(
            key=asset_key(self.key),
            group_name=GROUP,
            description=(
                f"Pages of {self.key}, which was attached by a command, a page, a program or a job. Its"
                " materializations are its refreshes: sensor `corpus_changes` reports each. Its pages are partition"
                f" `{self.key}` of the assets below." + (" An operator paused it." if self.paused else "")
            ),
            kinds={"postgres"},
            freshness_policy=None if self.paused else freshness(self.hours),
            owners=self.owners or OWNERS,
            metadata={
                "seed": dg.MetadataValue.url(self.seed),
                "refreshed": f"every {self.hours:g} hours, by sensor refresh_due",
                "pages at most": self.pages,
            },
            tags=source_tag(self.key),
        )


def asset_key(source: str) -> dg.AssetKey:
    """The key of the asset of an attached source; no two sources share one."""
    name = re.sub(r"[^\w-]", "_", source)
    if not re.fullmatch(r"[a-z0-9.-]+", source):
        name += "_" + hashlib.sha256(source.encode()).hexdigest()[:8]
    return dg.AssetKey([GROUP, ATTACHED, name])


def is_attached(key: dg.AssetKey) -> bool:
    """Whether this is the asset of an attached source that no file declares."""
    return list(key.path[:2]) == [GROUP, ATTACHED]


def attached_sources() -> list[dg.AssetSpec]:
    """An entry of the catalog for each source that was attached when the sensor looked last; none without its file."""
    try:
        file = load_settings().webrag_home / _FILE
    except InvalidInputError as error:  # every run says so, too
        warnings.warn(f"no attached source has an asset: {error.message}", stacklevel=2)
        return []
    if not file.exists():
        return []
    try:
        stored = _ADAPTER.validate_json(text_of(file, _MOST_BYTES))
    except MISTAKES as error:
        return [BrokenSource(error).spec([GROUP, ATTACHED], f"home/{_FILE}")]
    return list(_specs(stored))


def _specs(stored: Iterable[AttachedAsset]) -> Iterator[dg.AssetSpec]:
    for source in stored:
        try:
            yield source.spec()
        except MISTAKES as error:
            yield BrokenSource(error).spec(asset_key(source.key).path, f"home/{_FILE}: {source.key}")


def write_attached(home: Path, sources: Iterable[KeptSource]) -> bool:
    """Store which sources no file declares; returns whether the next load has other assets. Raises OSError."""
    attached = [AttachedAsset.of(source) for source in sources if source.declared_in is None]
    content = _ADAPTER.dump_json(attached, indent=0)
    file = home / _FILE
    if file.is_file() and file.read_bytes() == content:
        return False
    if not attached and not file.exists():
        return False
    successor = file.with_suffix(".next")
    successor.write_bytes(content)
    successor.replace(file)
    return True


_ADAPTER = TypeAdapter(list[AttachedAsset])
