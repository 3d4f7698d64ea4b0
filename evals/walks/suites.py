"""Suites: golden queries and the WARC snapshot that they are about. `golden/suites.json` lists them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from pydantic import BaseModel

from evals.walks.goldens import DEFAULT_SITE, EVALS, GoldenQuery, load_goldens
from evals.walks.recorded import RecordedRun
from evals.walks.scoring import page_of, pages_in_order
from evals.walks.site_map import read_site
from evals.walks.twins import with_twins
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.errors import InvalidInputError

DEMO_SITE = EVALS / "sites" / "demo.warc.gz"
"""Excerpt of the Python snapshot, small enough for the installed package."""

SiteKind = Literal["programming", "administration", "manual", "policy"]
"""Programming: for people who write programs. Administration: for those who run computers for others. Manual: for
everybody who uses a program. Policy: rules that bind those who are in it."""

Split = Literal["fitting", "reporting"]
"""What a suite is for: numbers and rules are chosen on the fitting sites, and figures come from the reporting ones. A
site is whole in one of the two, as its pages resemble each other."""


class Suite(BaseModel, frozen=True):
    """One line of the list of suites. `in_git` is False for a snapshot that `make sites` builds: one above
    1.5 MB, or under the GPL, which asks for the source beside it."""

    name: str
    kind: SiteKind
    split: Split
    licence: str
    in_git: bool

    @property
    def golden(self) -> Path:
        """Golden queries, JSONL."""
        return EVALS / "golden" / f"sitewalk-{self.name}.jsonl"

    @property
    def warc(self) -> Path:
        """WARC snapshot, which may be absent."""
        return EVALS / "sites" / f"{self.name}.warc.gz"


class Sampled(Protocol):
    """What samples are taken of: questions of several kinds."""

    @property
    def id(self) -> str:
        """Unique in its file."""

    @property
    def kind(self) -> str:
        """What sort of question it is."""


Item = TypeVar("Item", bound=Sampled)


def sample_goldens(goldens: Sequence[Item], size: int) -> list[Item]:
    """At most `size` goldens (at least one), every kind in turn, in the order of the file: the same ones every time.

    Raises InvalidInputError for a size below one.
    """
    if size < 1:
        raise InvalidInputError(f"a sample needs at least one golden, got {size}")
    kinds: dict[str, list[Item]] = {}
    for golden in goldens:
        kinds.setdefault(golden.kind, []).append(golden)
    in_turn = [item for rank in zip_longest(*kinds.values()) for item in rank if item is not None]
    chosen = {item.id for item in in_turn[:size]}
    return [golden for golden in goldens if golden.id in chosen]


def own_suites(split: Split | None = None) -> dict[str, Suite]:
    """The suites of this package by name, all of them or those of one split."""
    rows = json.loads((EVALS / "golden" / "suites.json").read_text(encoding="utf-8"))
    suites = [Suite(name=name, **row) for name, row in rows.items()]
    return {suite.name: suite for suite in suites if split in (None, suite.split)}


def python_site() -> Path:
    """The Python snapshot, or its excerpt in an installed package."""
    return DEFAULT_SITE if DEFAULT_SITE.is_file() else DEMO_SITE


def goldens_of(runs: Sequence[RecordedRun], golden: Path | None) -> list[GoldenQuery]:
    """The goldens that `runs` have answered, in their order: of the given file, else of this package's own.

    Raises InvalidInputError when there is none.
    """
    files = [golden] if golden else [suite.golden for suite in own_suites().values()]
    items = {run.id for run in runs}
    goldens = [twin for file in files for twin in with_twins(load_goldens(file)) if twin.id in items]
    if not goldens:
        raise InvalidInputError("no recorded item matches a golden query; pass their file with --golden")
    return goldens


def sites_of(goldens: Sequence[GoldenQuery], warc: Path | None) -> list[Path]:
    """The snapshots of the goldens: `warc`, else this package's own for the names in `GoldenQuery.site`.

    Raises InvalidInputError for a name that is not one of this package's sites.
    """
    if warc is not None:
        return [warc]
    warcs = {load_goldens(suite.golden)[0].site: suite.warc for suite in own_suites().values()}
    warcs["python"] = python_site()
    names = dict.fromkeys(golden.site for golden in goldens)
    unknown = [name for name in names if name not in warcs]
    if unknown:
        raise InvalidInputError(f"no WARC snapshot for {', '.join(unknown)}; pass it with --warc FILE")
    return [warcs[name] for name in names]


def covered(goldens: Sequence[GoldenQuery], warc: Path) -> list[GoldenQuery]:
    """The goldens whose seed and gold pages are all in the snapshot."""
    pages = {page_of(url) for url in WarcAcquirer(warc).page_urls()}
    return [golden for golden in goldens if pages >= pages_of([golden], ()) | {page_of(golden.seed_url)}]


def links_of(sites: Sequence[Path], only: Collection[str] | None = None) -> dict[str, frozenset[str]]:
    """The links between the pages of snapshots, all of them or those with a name in `only` (see `page_of`)."""
    links: dict[str, frozenset[str]] = {}
    for warc in sites:
        site = asyncio.run(read_site(warc, only))
        links |= {key: page.links for key, page in site.pages.items()}
    return links


def pages_of(goldens: Sequence[GoldenQuery], runs: Sequence[RecordedRun]) -> set[str]:
    """Every page fetched by the runs or named by the goldens."""
    fetched = {page for run in runs if run.record for page in pages_in_order(run.record)}
    return fetched | {page_of(url) for golden in goldens for need in golden.gold_pages for url in need}
