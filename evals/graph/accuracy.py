"""Accuracy of the four tasks on frozen sites: items are generated from the HTML, 250 for each task.

    python -m evals.graph.accuracy [--items 250] [--home FOLDER] [--failures]

`hierarchy` (sections by nesting, members by ids), `linked_items` (pages with a link to a page; pages that link to a
symbol) and `version_at` (symbols of two releases, by date) must be exact. `expand_related` must name pages of a "see
also" box among the first ten while every edge that stands in the box is hidden. `--home` keeps the indexed sites.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from psycopg import AsyncConnection

from evals.graph.html_truth import PageTruth, read_truth
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import load_settings
from webrag_core.errors import FetchError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.graph.past import version_at
from webrag_core.retrieval.graph.tasks import expand_related, hierarchy, linked_items

SITES = Path(__file__).parent.parent / "sites"
FIRST_TEN = 10
_CUT_LABEL = 100  # characters of a heading path's part from which on it may be cut


@dataclass(slots=True)
class Score:
    """Items that were answered exactly, and those that were not with what was wrong."""

    exact: int = 0
    failures: list[str] = field(default_factory=list)

    def judge(self, item: str, right: bool, problem: str = "") -> None:
        """Count one item."""
        if right:
            self.exact += 1
        else:
            self.failures.append(f"{item}: {problem}")

    def report(self) -> dict[str, object]:
        """Share of exact items."""
        items = self.exact + len(self.failures)
        return {"items": items, "exact": self.exact, "share": round(self.exact / items, 3) if items else None}


async def load_site(home: Path, warc: Path) -> dict[str, PageTruth]:
    """Store every page of the site unless it is, and read the structure of each."""
    settings = load_settings(webrag_home=home, database_url=None, webrag_warc=warc)
    acquirer = WarcAcquirer(warc)
    truths = {}
    async with Corpus.open(settings, acquirer) as corpus:
        for url in acquirer.page_urls():
            try:
                added = await corpus.add(url)
                page = await acquirer.fetch(url)
                truths[added.url] = read_truth(added.url, page.body)
            except FetchError:
                continue
        await corpus.indexer.finish_bulk()
    return truths


async def judge_hierarchy(connection: AsyncConnection, truths: Mapping[str, PageTruth], items: int) -> Score:
    """Sections in a section by title, members of an object by name: children exact, in order."""
    chance = random.Random(1)
    requests: list[tuple[str, str, list[str]]] = []
    for url, truth in truths.items():
        titles = [title for title, _ in truth.sections]
        for title, inner in truth.sections:
            if inner and titles.count(title) == 1 and all(inner):
                requests.append((url, title, inner))
        for name, members in truth.members.items():
            if members and "." in name:
                requests.append((url, f"symbol:{name}", members))
    score = Score()
    for url, name, wanted in chance.sample(requests, min(items, len(requests))):
        if name.startswith("symbol:"):
            (answer,) = await hierarchy(connection, [name], depth=1)
            listed = [item.node.label for item in answer.items if item.node.kind == "symbol"]
            wanted = list(dict.fromkeys(wanted))
        else:
            (page,) = await hierarchy(connection, [url])
            keys = [
                item.node.key for item in page.items if _same(item.node.label, name) and item.node.kind == "section"
            ]
            listed = []
            if keys:
                (answer,) = await hierarchy(connection, [keys[0]], depth=1)
                listed = [item.node.label for item in answer.items if item.node.kind == "section"]
        right = len(listed) == len(wanted) and all(_same(a, b) for a, b in zip(listed, wanted, strict=True))
        score.judge(f"{url} {name}", right, f"{listed} instead of {wanted}")
    return score


def _same(label: str, title: str) -> bool:
    """Equal in letters and digits; long labels are cut."""
    first, other = ("".join(filter(str.isalnum, text)) for text in (label, title))
    return first == other or (len(label) >= _CUT_LABEL and other.startswith(first))


async def judge_linked(connection: AsyncConnection, truths: Mapping[str, PageTruth], items: int) -> Score:
    """Half: which pages link to a page, exactly. Half: a symbol is documented on its page, and every page that links
    to it in code mentions it, in a sentence with its name."""
    chance = random.Random(2)
    cursor = await connection.execute(
        "SELECT d.canonical_url FROM graph_documents g JOIN documents d ON d.id = g.document_id"
        " WHERE g.reason IS NOT NULL"
    )
    bounded = {str(row[0]) for row in await cursor.fetchall()}  # an index of 8,000 links has 5,000 edges
    truths = {url: truth for url, truth in truths.items() if url not in bounded}
    to_page: dict[str, set[str]] = defaultdict(set)
    to_symbol: dict[str, set[str]] = defaultdict(set)
    defined = {name: url for url, truth in truths.items() for name in truth.members}
    for url, truth in truths.items():
        for target in truth.links:
            if target in truths:
                to_page[target].add(url)
        for target, name in truth.code_links:
            if defined.get(name) == target:
                to_symbol[name].add(url)
    score = Score()
    for target in chance.sample(sorted(to_page), min(items // 2, len(to_page))):
        (answer,) = await linked_items(connection, [target], kinds=["links_to", "see_also"], k=1_000)
        listed = {edge.url for edge in answer.items} - bounded
        wanted = to_page[target]
        score.judge(
            target, listed == wanted, f"missing {sorted(wanted - listed)[:3]}, too many {sorted(listed - wanted)[:3]}"
        )
    for name in chance.sample(sorted(to_symbol), min(items - items // 2, len(to_symbol))):
        (answer,) = await linked_items(connection, [f"symbol:{name}"], kinds=["defines", "mentions"], k=1_000)
        documented = {edge.url for edge in answer.items if edge.kind == "defines"}
        mentions = [edge for edge in answer.items if edge.kind == "mentions"]
        missing = to_symbol[name] - {edge.url for edge in mentions} - {defined[name]}
        last = name.rpartition(".")[2]
        astray = [edge.quote for edge in mentions if last not in (edge.quote or "")]
        right = documented == {defined[name]} and not missing and not astray
        score.judge(
            name, right, f"documented {sorted(documented)}, not mentioned {sorted(missing)[:3]}, astray {astray[:1]}"
        )
    return score


async def judge_related(
    connection: AsyncConnection, truths: Mapping[str, PageTruth], items: int, *, all_direct: bool
) -> tuple[dict[str, object], Score]:
    """Share of "see also" pages among the first ten, without the edges that stand in the box; with `all_direct` also
    without every other edge between the two pages."""
    chance = random.Random(3)
    pairs = [(url, target) for url, truth in truths.items() for target in sorted(truth.see_also) if target in truths]
    score = Score()
    for url, target in chance.sample(pairs, min(items, len(pairs))):
        hidden = await _edges_of_boxes(connection, url)
        if all_direct:
            hidden += await _direct(connection, url, target)
        related = await expand_related(connection, [url], of=["page"], k=FIRST_TEN, hidden=hidden)
        listed = [item.node.key for item in related.items]
        score.judge(f"{url} -> {target}", target in listed, f"{listed[:4]}")
    return {**score.report(), "first": FIRST_TEN}, score


async def _edges_of_boxes(connection: AsyncConnection, url: str) -> list[int]:
    """Edges of a page that stand where a "see also" edge stands."""
    cursor = await connection.execute(
        "SELECT e.id FROM graph_edges e JOIN documents d ON d.id = e.document_id WHERE d.canonical_url = %s"
        " AND e.kind <> 'contains' AND EXISTS (SELECT FROM graph_edges s WHERE s.document_id = d.id"
        "  AND s.kind = 'see_also' AND s.char_start < e.char_end AND e.char_start < s.char_end)",
        (url,),
    )
    return [int(row[0]) for row in await cursor.fetchall()]


async def _direct(connection: AsyncConnection, text: str, other: str) -> list[int]:
    cursor = await connection.execute(
        "SELECT e.id FROM graph_edges e JOIN graph_nodes s ON s.id = e.src JOIN graph_nodes t ON t.id = e.dst"
        " WHERE (s.key, t.key) IN ((%(one)s, %(other)s), (%(other)s, %(one)s))",
        {"one": text, "other": other},
    )
    return [int(row[0]) for row in await cursor.fetchall()]


async def judge_versions(home: Path, older: Path, newer: Path, items: int) -> Score:
    """Symbols of two releases: documented on a date in the time of each exactly where the HTML of that release has
    their id, and quoted from its text."""
    chance = random.Random(4)
    releases: list[tuple[datetime, dict[str, str]]] = []
    for warc in (older, newer):
        truths = await load_site(home, warc)
        acquirer = WarcAcquirer(warc)
        dates = [date for url in truths if (date := acquirer.date_of(url)) is not None]
        symbols = {name: url for url, truth in truths.items() for name in truth.members}
        releases.append((max(dates) + timedelta(hours=1), symbols))
    (old_date, old), (new_date, new) = releases
    changed = sorted(old.keys() ^ new.keys())
    both = sorted(old.keys() & new.keys())
    sample = chance.sample(changed, min(items // 2, len(changed)))
    sample += chance.sample(both, min(items - len(sample), len(both)))
    score = Score()
    async with _corpus(home) as corpus, corpus.database.snapshot() as connection:
        for name in sample:
            date, symbols = (old_date, old) if chance.random() < 0.5 else (min(new_date, datetime.now(UTC)), new)
            (answer,) = await version_at(connection, [f"symbol:{name}"], date, kinds=["defines"])
            listed = {edge.url for edge in answer.items}
            wanted = {symbols[name]} if name in symbols else set()
            unquoted = [edge for edge in answer.items if name.rpartition(".")[2] not in (edge.quote or "")]
            problem = f"{answer.key.status} {sorted(listed)} instead of {sorted(wanted)} on {date:%Y-%m-%d}"
            score.judge(name, listed == wanted and not unquoted, problem)
    return score


def _corpus(home: Path) -> AbstractAsyncContextManager[Corpus]:
    """The corpus in a folder."""
    return Corpus.open(load_settings(webrag_home=home, database_url=None))


async def run(home: Path, items: int) -> tuple[dict[str, object], dict[str, Sequence[str]]]:
    """Judge all tasks; returns the report and the failures by task."""
    report: dict[str, object] = {}
    failures: dict[str, Sequence[str]] = {}
    truths = await load_site(home / "sites", SITES / "python-3.11.warc.gz")
    truths |= await load_site(home / "sites", SITES / "postgresql-15.warc.gz")
    async with _corpus(home / "sites") as corpus, corpus.database.snapshot() as connection:
        for name, score in (
            ("hierarchy", await judge_hierarchy(connection, truths, items)),
            ("linked_items", await judge_linked(connection, truths, items)),
        ):
            report[name], failures[name] = score.report(), score.failures
        for name, all_direct in (("expand_related", False), ("expand_related, no direct edge", True)):
            report[name], score = await judge_related(connection, truths, items, all_direct=all_direct)
            failures[name] = score.failures
    versions = SITES / "versions"
    score = await judge_versions(
        home / "versions", versions / "python-3.11-thin.warc.gz", versions / "python-3.13-thin.warc.gz", items
    )
    report["version_at"], failures["version_at"] = score.report(), score.failures
    return report, failures


def main() -> None:
    """Print the report as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=250)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--failures", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report, failures = asyncio.run(run(options.home or Path(folder), options.items))
    print(json.dumps(report, indent=1))
    if options.failures:
        for name, lines in failures.items():
            for line in lines[:15]:
                print(f"{name}: {line}")


if __name__ == "__main__":
    main()
