"""Search with and without window vectors, on frozen sites with people's questions and answer keys.

A site is stored in the database of `webrag eval answers`, its passages are read by the small encoder, and each question
that the site answers is searched twice. Counted are questions with a page that answers among the first five passages,
and with every fact of the answer in those of them that are of such a page. Intervals are 95 %: of the differences by
bootstrap over questions. What reading costs is told per 1,000 windows, from all that the database holds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from evals.answers.answer_suite import stored_site
from evals.answers.check_keys import path_of
from evals.answers.fact_matching import comparable, first_place
from evals.answers.keys import AnswerKey
from evals.answers.suite_list import KeySet, key_set, own_key_sets
from evals.intervals import Interval, interval
from webrag_core.config import Settings, load_settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.window_vectors import LANGUAGE, make_windows
from webrag_core.retrieval.request import SearchRequest
from webrag_core.retrieval.search import search

_FIRST = 5
_COST = (
    "SELECT count(*), avg(cpu_ms), pg_total_relation_size('window_vectors') / greatest(count(*), 1)::float8"
    " FROM window_vectors"
)


@dataclass(frozen=True, slots=True)
class Hits:
    """What the first passages of a search hold, each 0 or 1."""

    page_first: float
    page: float
    facts: float


@dataclass(frozen=True, slots=True)
class SiteFigures:
    """Shares of questions without and with windows, and what the windows cost."""

    site: str
    without: list[Hits]
    with_windows: list[Hits]
    windows: int
    cpu_seconds_per_1000: float
    bytes_per_window: float


async def figures_of(chosen: KeySet, settings: Settings) -> SiteFigures:
    """Store a site, read it and search. Raises InvalidInputError when the site cannot be read."""
    async with stored_site(chosen, settings) as site:
        corpus = site.corpus
        await make_windows(corpus.database)
        async with corpus.database.connection() as connection:
            count, cpu_ms, size = await (await connection.execute(_COST)).fetchone() or (0, 0.0, 0.0)
        keys = [key for key in chosen.keys if key.answerable and key.page]
        hits = {}
        for used in (False, True):
            searched = Corpus(
                corpus.database,
                site.archive,
                corpus.settings.model_copy(update={"retrieval_windows": used}),
                corpus.embedder,
            )
            hits[used] = [await _hits(searched, key) for key in keys]
    return SiteFigures(chosen.name, hits[False], hits[True], int(count), float(cpu_ms or 0), float(size))


async def _hits(corpus: Corpus, key: AnswerKey) -> Hits:
    result = await search(corpus, SearchRequest(query=key.question, top_k=_FIRST))
    pages = {path_of(page) for page in key.page}
    first = [chunk.chunk for chunk in result.chunks[:_FIRST]]
    right = [_is_of(chunk.source_url, pages) for chunk in first]
    text = comparable("\n".join(chunk.text for chunk, is_right in zip(first, right, strict=True) if is_right))
    facts = all(first_place(fact, text) is not None for fact in key.must)
    return Hits(float(bool(right and right[0])), float(any(right)), float(facts))


def _is_of(url: str, pages: set[str]) -> bool:
    return path_of(url) in pages


def _line(name: str, without: Sequence[Hits], with_windows: Sequence[Hits]) -> str:
    cells = [f"{name:28}", f"{len(without):4}"]
    for field in ("page_first", "page", "facts"):
        old, new = ([getattr(hits, field) for hits in questions] for questions in (without, with_windows))
        gain: Interval = interval([b - a for a, b in zip(old, new, strict=True)])
        cells.append(
            f"{sum(old) / len(old):.2f} {sum(new) / len(new):.2f} {gain.mean:+.2f} [{gain.low:+.2f}, {gain.high:+.2f}]"
        )
    return "  ".join(cells)


async def run(sets: Sequence[KeySet], settings: Settings) -> list[SiteFigures]:
    """The figures of each site. Prints a line for each, and one for all."""
    print(f"{'site':28}     n  page first: without, with, gain  page among five  facts in five")
    every: list[SiteFigures] = []
    for chosen in sets:
        figures = await figures_of(chosen, settings)
        every.append(figures)
        print(_line(chosen.name, figures.without, figures.with_windows), flush=True)
        print(
            f"{'':28} {figures.windows} windows, {figures.cpu_seconds_per_1000:.0f} CPU-s and"
            f" {figures.bytes_per_window / 1000:.2f} MB per 1,000"
        )
    without = [hits for figures in every for hits in figures.without]
    print(_line("all", without, [hits for figures in every for hits in figures.with_windows]))
    return every


def main() -> None:
    """Measure the suites of answer keys in English, those of these names, or files of keys."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*", help="names of suites, or files of answer keys; none = all in English")
    parser.add_argument("--out", type=Path, help="write the figures of every question as JSON")
    options = parser.parse_args()
    files = [Path(suite) for suite in options.suites if suite.endswith(".jsonl")]
    names = [suite for suite in options.suites if not suite.endswith(".jsonl")]
    sets = [key_set(path) for path in files]
    if names or not files:
        sets += [
            own_key_set
            for own_key_set in own_key_sets(names=names)
            if own_key_set.listed is None or own_key_set.listed.language == LANGUAGE
        ]
    every = asyncio.run(run(sets, load_settings()))
    if options.out is not None:
        options.out.write_text(json.dumps([asdict(figures) for figures in every]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
