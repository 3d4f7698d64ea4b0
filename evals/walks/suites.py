"""Which golden file and which frozen site a recorded run belongs to."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from itertools import zip_longest
from pathlib import Path

from evals.walks.goldens import EVALS, GoldenQuery, load_goldens
from evals.walks.recorded import RecordedRun
from evals.walks.scoring import page_of, pages_in_order
from evals.walks.site_map import read_site
from webrag_core.errors import InvalidInputError


def sample_goldens(goldens: Sequence[GoldenQuery], size: int) -> list[GoldenQuery]:
    """At most `size` goldens (at least one), every kind in turn, in the order of the file: the same ones every time.

    Raises InvalidInputError for a size below one.
    """
    if size < 1:
        raise InvalidInputError(f"a sample of {size} goldens says nothing; ask for at least one")
    kinds: dict[str, list[GoldenQuery]] = {}
    for golden in goldens:
        kinds.setdefault(golden.kind, []).append(golden)
    in_turn = [one for rank in zip_longest(*kinds.values()) for one in rank if one is not None]
    chosen = {one.id for one in in_turn[:size]}
    return [golden for golden in goldens if golden.id in chosen]


def goldens_of(runs: Sequence[RecordedRun], golden: Path | None) -> list[GoldenQuery]:
    """The goldens that `runs` have answered, in their order: of the given file, else of this package's own.

    Raises InvalidInputError when none is found.
    """
    files = [golden] if golden else sorted((EVALS / "golden").glob("sitewalk-*.jsonl"))
    items = {run.id for run in runs}
    found = [one for file in files for one in load_goldens(file) if one.id in items]
    if not found:
        raise InvalidInputError("none of the recorded items is a golden query here; name their file with --golden")
    return found


def site_of(goldens: Sequence[GoldenQuery], golden: Path | None, warc: Path | None) -> list[Path]:
    """The frozen sites that hold the goldens: the given one, else those of this package's own golden files.

    Raises InvalidInputError for goldens of another file without a site.
    """
    if warc is not None:
        return [warc]
    if golden is not None and golden.resolve().parent != (EVALS / "golden").resolve():
        raise InvalidInputError("whose links are they? Name the frozen site with --warc")
    wanted = {one.id for one in goldens}
    names = [
        file.stem.removeprefix("sitewalk-")
        for file in sorted((EVALS / "golden").glob("sitewalk-*.jsonl"))
        if wanted & {one.id for one in load_goldens(file)}
    ]
    return [EVALS / "sites" / f"{name}.warc.gz" for name in names]


def links_of(sites: Sequence[Path], only: Collection[str] | None = None) -> dict[str, frozenset[str]]:
    """The links between the pages of frozen sites, all of them or those with a name in `only` (see `page_of`)."""
    links: dict[str, frozenset[str]] = {}
    for warc in sites:
        site = asyncio.run(read_site(warc, only))
        links |= {key: page.links for key, page in site.pages.items()}
    return links


def pages_of(goldens: Sequence[GoldenQuery], runs: Sequence[RecordedRun]) -> set[str]:
    """Every page that the runs fetched or the goldens speak of."""
    fetched = {page for run in runs if run.record for page in pages_in_order(run.record)}
    return fetched | {page_of(url) for golden in goldens for need in golden.gold_pages for url in need}
