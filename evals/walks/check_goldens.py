"""Check golden queries against their WARC snapshot, without running the loop.

    python -m evals.walks.check_goldens                                 every suite with a snapshot
    python -m evals.walks.check_goldens --golden F.jsonl --warc W.warc.gz [--fill]

Checked: every page is in the archive; every quote is in a gold page's visible text and in its Markdown; every page that
carries a quote is listed; kind, hops, oracle pages and overlap are what text and link graph give; a question has the
form of its style; no title is copied, except by keywords and navigational queries, which name what they look for.
Prints one JSON object. Exit code 1 when a claim does not hold.

`--fill` first writes these fields into the file: a line needs id, site, seed_url, query, style, origin, gold_quotes.
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
from typing import get_args

from pydantic import BaseModel

from evals.jsonl import load_jsonl
from evals.walks.goldens import GoldenQuery, Kind, Origin, Style
from evals.walks.site_map import SiteMap, key_of, letters_of, read_site
from evals.walks.suites import own_suites
from webrag_core.conversion.html import convert_html
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.markdown import plain_text

_MIN_QUOTE = 15
_MIN_TITLE = 13
_WORD = re.compile(r"[a-z]{4,}")
_TITLE_END = re.compile(r"[—|:–]| - ")
_STYLES_WITH_TITLES: tuple[Style, ...] = ("keywords", "navigational")
_AUXILIARY = r"(?:is|are|was|do|does|did|can|could|will|would|must|may|should|has|have|am)\b"
_YES_NO = re.compile(rf"(?:^|[,;:.?] (?:and |so |then )?){_AUXILIARY}[^?]*\?$", re.IGNORECASE)
_NUMBER = re.compile(
    r"\d|\b(?:zero|one|once|two|twice|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|first|second|half)\b",
    re.IGNORECASE,
)
_LONGEST_HOW_TO = 14


class RecordedGolden(GoldenQuery):
    """A golden with its recorded measurements. `hops` is the distance of the farthest need, `hops_content` the same
    without navigation links (None: out of reach), `overlap` the share of the query's longer words in the quotes."""

    style: Style
    origin: Origin
    hops: int | None
    hops_content: int | None
    overlap: float | None


class DraftGolden(BaseModel):
    """What a writer states of a golden. The rest follows from the snapshot, see `filled`."""

    id: str
    site: str
    seed_url: str
    query: str
    style: Style
    origin: Origin
    gold_quotes: list[list[str]]


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
    problems += style_problems(golden)
    titled = () if golden.style in _STYLES_WITH_TITLES else {key for need in needs for key in need}
    for key in titled:
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


def style_problems(golden: RecordedGolden) -> list[str]:
    """Problems of a query's form. Only its style says whether a need or a number has to be there."""
    words = len(golden.query.split())
    quotes = " ".join(quote for need in golden.gold_quotes for quote in need)
    rules: dict[Style, tuple[bool, str]] = {
        "keywords": (words <= 3 and "?" not in golden.query, "keywords are one to three words"),
        "how_to": (
            golden.query.startswith("How ") and words <= _LONGEST_HOW_TO,
            f"a how-to starts with How and has at most {_LONGEST_HOW_TO} words",
        ),
        "yes_no": (bool(_YES_NO.search(golden.query)), "a yes-no question starts with its verb"),
        "numeric": (not quotes or bool(_NUMBER.search(quotes)), "no quote has a number"),
        "multi_part": (len(golden.gold_quotes) != 1, "a question of several parts has one need"),
    }
    holds, problem = rules.get(golden.style, (True, ""))
    return [] if holds else [problem]


def filled(draft: DraftGolden, site: SiteMap) -> RecordedGolden:
    """The golden of a draft: its gold pages are all that carry a quote.

    Raises InvalidInputError for a seed or a quote that is not on the site, and for a page too far away for any kind.
    """
    seed = key_of(draft.seed_url)
    if seed not in site.pages:
        raise InvalidInputError(f"{draft.id}: not in the archive: {seed}")
    needs = []
    for quotes in draft.gold_quotes:
        letters = [letters_of(quote) for quote in quotes]
        for quote, letter in zip(quotes, letters, strict=True):
            if not any(letter in page.letters for page in site.pages.values()):
                raise InvalidInputError(f"{draft.id}: on no page: {quote}")
        needs.append([key for key, page in site.pages.items() if any(letter in page.letters for letter in letters)])
    hops = _farthest(needs, site.distances(seed, content_only=False))
    kind = next((kind for kind in get_args(Kind) if _fits(kind, len(needs), hops)), None)
    oracle_pages = site.oracle_pages(seed, needs) if needs else 1
    if kind is None or oracle_pages is None:
        raise InvalidInputError(f"{draft.id}: no kind fits {len(needs)} needs, the farthest {hops} links off")
    return RecordedGolden(
        **draft.model_dump(),
        kind=kind,
        gold_pages=[[site.pages[key].url for key in need] for need in needs],
        hops=hops,
        hops_content=_farthest(needs, site.distances(seed, content_only=True)),
        oracle_pages=oracle_pages,
        overlap=overlap_of(draft.query, draft.gold_quotes),
    )


def fill(golden_file: Path, site: SiteMap) -> None:
    """Write a golden file anew, every field that follows from the snapshot computed."""
    drafts = load_jsonl(golden_file, DraftGolden.model_validate, "a draft of a golden query", lambda draft: draft.id)
    lines = [filled(draft, site).model_dump_json() for draft in drafts]
    golden_file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


async def check(golden_file: Path, warc: Path, *, fill_first: bool = False) -> dict[str, object]:
    """Counts of a golden file and the problems of its items."""
    site = await read_site(warc)
    if fill_first:
        fill(golden_file, site)
    goldens = recorded_goldens(golden_file)
    overlaps = [golden.overlap for golden in goldens if golden.overlap is not None]
    return {
        "pages": len(site.pages),
        "items": len(goldens),
        "kinds": dict(Counter(golden.kind for golden in goldens)),
        "styles": dict(Counter(f"{golden.style}, {golden.origin}" for golden in goldens)),
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
    parser.add_argument("--fill", action="store_true")
    arguments = parser.parse_args()
    if (arguments.golden is None) != (arguments.warc is None):
        parser.error("--golden and --warc go together")
    if arguments.fill and arguments.golden is None:
        parser.error("--fill needs --golden and --warc")
    suites = {suite.name: (suite.golden, suite.warc) for suite in own_suites().values()}
    if arguments.golden:
        suites = {arguments.golden.stem: (arguments.golden, arguments.warc)}
    report: dict[str, dict[str, object]] = {}
    for name, (golden, warc) in suites.items():
        if arguments.golden is None and not warc.is_file():
            report[name] = {"absent": f"{warc.name}: build it with make sites", "problems": []}
            continue
        report[name] = asyncio.run(check(golden, warc, fill_first=arguments.fill))
    print(json.dumps(report, indent=2, ensure_ascii=False))
    sys.exit(1 if any(figures["problems"] for figures in report.values()) else 0)


if __name__ == "__main__":
    main()
