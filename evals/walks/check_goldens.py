"""Check golden queries against their WARC snapshot, without running the loop.

    python -m evals.walks.check_goldens                                 every site in evals/golden
    python -m evals.walks.check_goldens --golden F.jsonl --warc W.warc.gz

Checked: every page is in the archive; every quote is in a gold page's visible text and in its Markdown; every page that
carries a quote is listed; kind, hops, oracle pages and overlap are what text and link graph give; no title is copied.
Prints one JSON object. Exit code 1 when a claim does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from evals.jsonl import load_jsonl
from evals.walks.goldens import GoldenQuery
from evals.walks.site_map import SiteMap, key_of, letters_of, read_site
from evals.walks.suites import own_suites
from webrag_core.conversion.html import convert_html
from webrag_core.indexing.markdown import plain_text

_MIN_QUOTE = 15
_MIN_TITLE = 13
_WORD = re.compile(r"[a-z]{4,}")
_TITLE_END = re.compile(r"[—|:–]| - ")


class RecordedGolden(GoldenQuery):
    """A golden with its recorded measurements. `hops` is the distance of the farthest need, `hops_content` the same
    without navigation links (None: out of reach), `overlap` the share of the query's longer words in the quotes."""

    hops: int | None
    hops_content: int | None
    overlap: float | None


def problems_of(golden: RecordedGolden, site: SiteMap) -> list[str]:
    """Problems of an item as messages; empty when it is valid."""
    seed = key_of(golden.seed_url)
    needs = [[key_of(url) for url in urls] for urls in golden.gold_pages]
    strays = [key for key in [seed, *(key for need in needs for key in need)] if key not in site.pages]
    if strays:
        return [f"not in the archive: {key}" for key in strays]
    problems: list[str] = []
    for need, quotes in zip(needs, golden.gold_quotes, strict=True):
        problems += quote_problems(need, quotes, site)
    query = letters_of(golden.query)
    for key in {key for need in needs for key in need}:
        title = letters_of(_TITLE_END.split(site.pages[key].title)[0])
        if len(title) >= _MIN_TITLE and title in query:
            problems.append(f"the query copies the title of {key}")
    hops = _farthest(needs, site.distances(seed, content_only=False))
    for name, recorded, measured in (
        ("hops", golden.hops, hops),
        ("hops_content", golden.hops_content, _farthest(needs, site.distances(seed, content_only=True))),
        ("oracle_pages", golden.oracle_pages, site.oracle_pages(seed, needs) if needs else 1),
        ("overlap", golden.overlap, overlap_of(golden.query, golden.gold_quotes)),
    ):
        if recorded != measured:
            problems.append(f"{name} is {measured}, not {recorded}")
    if not _fits(golden.kind, len(needs), hops):
        problems.append(f"{golden.kind} does not fit {len(needs)} needs, the farthest {hops} links off")
    return problems


def overlap_of(query: str, quotes: Sequence[Sequence[str]]) -> float | None:
    """Share of the query's distinct words of four letters or more that its quotes hold, two decimals; None without
    quotes."""
    if not quotes:
        return None
    query_words = set(_WORD.findall(query.lower()))
    quote_words = set(_WORD.findall(" ".join(quote for need in quotes for quote in need).lower()))
    return round(len(query_words & quote_words) / max(1, len(query_words)), 2)


def recorded_goldens(path: Path) -> list[RecordedGolden]:
    """Goldens with their measurements. Raises InvalidInputError as `load_goldens` does, and for a line that lacks a
    measurement."""
    return load_jsonl(path, RecordedGolden.model_validate, "a measured golden query", lambda golden: golden.id)


async def check(golden_file: Path, warc: Path) -> dict[str, object]:
    """Counts of a golden file and the problems of its items."""
    site = await read_site(warc)
    goldens = recorded_goldens(golden_file)
    overlaps = [golden.overlap for golden in goldens if golden.overlap is not None]
    return {
        "pages": len(site.pages),
        "items": len(goldens),
        "kinds": dict(Counter(golden.kind for golden in goldens)),
        "mean_overlap": round(sum(overlaps) / max(1, len(overlaps)), 3),
        "problems": [f"{golden.id}: {problem}" for golden in goldens for problem in problems_of(golden, site)],
    }


def quote_problems(need: Sequence[str], quotes: Sequence[str], site: SiteMap) -> list[str]:
    """Problems of one need. `need` holds the keys of its pages, all of them in `site`."""
    problems = []
    quote_letters = [letters_of(quote) for quote in quotes]
    for quote, letters in zip(quotes, quote_letters, strict=True):
        if len(letters) < _MIN_QUOTE:
            problems.append(f"too short a quote: {quote}")
        if not any(letters in site.pages[key].letters for key in need):
            problems.append(f"on none of its pages: {quote}")
    for page in (site.pages[key] for key in need):
        markdown = letters_of(plain_text(convert_html(page.body, url=page.url, charset="utf-8").markdown))
        if not any(letters in markdown for letters in quote_letters):
            problems.append(f"the Markdown of {page.url} has lost its quote")
    for key, page in site.pages.items():
        carries = any(letters in page.letters for letters in quote_letters)
        if carries != (key in need):
            problems.append(f"{key} carries a quote but is not listed" if carries else f"{key} carries no quote")
    return problems


def _farthest(needs: Sequence[Sequence[str]], distances: Mapping[str, int]) -> int | None:
    nearest = [min((distances[key] for key in need if key in distances), default=None) for need in needs]
    known = [hops for hops in nearest if hops is not None]
    return max(known) if known and len(known) == len(nearest) else None


def _fits(kind: str, needs: int, hops: int | None) -> bool:
    if kind == "unanswerable" or hops is None:
        return kind == "unanswerable" and needs == 0
    if kind == "multi_page":
        return needs > 1 and 1 <= hops <= 3
    return hops == {"on_seed": 0, "one_hop": 1, "two_hop": 2}[kind] and needs == 1


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--golden", type=Path)
    parser.add_argument("--warc", type=Path)
    arguments = parser.parse_args()
    if (arguments.golden is None) != (arguments.warc is None):
        parser.error("--golden and --warc go together")
    suites = {arguments.golden.stem: (arguments.golden, arguments.warc)} if arguments.golden else own_suites()
    report = {name: asyncio.run(check(golden, warc)) for name, (golden, warc) in suites.items()}
    print(json.dumps(report, indent=2, ensure_ascii=False))
    sys.exit(1 if any(figures["problems"] for figures in report.values()) else 0)


if __name__ == "__main__":
    main()
