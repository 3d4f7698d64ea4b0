"""Search for follow-ups as they are read, as they were typed, and for their full questions; count what is the same.

    python -m evals.dialogue.follow_ups --out runs/follow-ups.jsonl

The site of each pair is stored in the database of its answer keys. A follow-up finds the same page when the first page
for it is the first for its full question, and the same passage when the best passage for its full question is among the
first three for it. The questions of all answer keys, each behind another one of its site, say how often something is
carried into a question that is complete.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from evals.answers.answer_suite import stored_site
from evals.answers.suite_list import KeySet, own_key_sets, present
from evals.dialogue.pairs import FollowUp, load_follow_ups
from evals.intervals import wilson
from evals.jsonl import new_file
from webrag_core.cli.output import print_table
from webrag_core.cli.progress import progress
from webrag_core.config import load_settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.language.dialogue.resolution import resolve
from webrag_core.retrieval.request import SearchRequest
from webrag_core.retrieval.search import search

_FIRST = 3
_STRIDE = 7  # between a complete question and the one that stands before it


@dataclass(frozen=True, slots=True)
class Place:
    """Where a passage stands."""

    url: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A pair, how the follow-up was read, what was carried, and whether it finds what its full question finds: read
    (`same_page`, `same_passage`), and as it was typed."""

    pair: FollowUp
    text: str
    carried: tuple[str, ...]
    same_page: bool
    same_passage: bool
    typed_page: bool
    typed_passage: bool

    def line(self) -> dict[str, object]:
        """The pair and its figures as JSON."""
        figures = {name: value for name, value in asdict(self).items() if name != "pair"}
        return {**self.pair.model_dump(), **figures}


async def measure(corpus: Corpus, pair: FollowUp) -> Measured:
    """Search for the three wordings of a follow-up."""
    read = resolve(pair.first, pair.follow_up)
    full, resolved, typed = [await _places(corpus, text) for text in (pair.full, read.text, pair.follow_up)]
    return Measured(
        pair,
        read.text,
        read.carried,
        _same_page(full, resolved),
        _same_passage(full, resolved),
        _same_page(full, typed),
        _same_passage(full, typed),
    )


async def measure_site(chosen: KeySet, pairs: Sequence[FollowUp], out: TextIO) -> list[Measured]:
    """All follow-ups of a site, one line each."""
    measured = []
    async with stored_site(chosen, load_settings()) as site:
        with progress(len(pairs), chosen.name) as advance:
            for pair in pairs:
                item = await measure(site.corpus, pair)
                out.write(json.dumps(item.line(), ensure_ascii=False) + "\n")
                measured.append(item)
                advance(pair.id)
    return measured


def carried_into_complete(chosen: KeySet) -> tuple[int, int]:
    """Into how many of the questions with answer keys something is carried from another one, and how many there are."""
    questions = [key.question for key in chosen.keys]
    behind = zip(questions, (questions[(at + _STRIDE) % len(questions)] for at in range(len(questions))), strict=True)
    return sum(bool(resolve(before, question).carried) for question, before in behind), len(questions)


async def _places(corpus: Corpus, question: str) -> list[Place]:
    result = await search(corpus, SearchRequest(query=question))
    return [Place(item.chunk.source_url, item.chunk.char_start, item.chunk.char_end) for item in result.chunks]


def _same_page(full: Sequence[Place], other: Sequence[Place]) -> bool:
    return bool(full and other) and full[0].url == other[0].url


def _same_passage(full: Sequence[Place], other: Sequence[Place]) -> bool:
    return bool(full) and any(
        full[0].url == place.url and full[0].start < place.end and place.start < full[0].end for place in other[:_FIRST]
    )


def _share(items: Sequence[Measured], holds: Callable[[Measured], bool]) -> str:
    count = sum(map(holds, items))
    return str(wilson(count, len(items)))


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", action="append", default=[], help="of this site alone; repeatable")
    parser.add_argument("--split", choices=("development", "held-out"))
    parser.add_argument("--out", type=Path, default=Path("runs/follow-ups.jsonl"))
    arguments = parser.parse_args()
    pairs = [
        pair
        for pair in load_follow_ups()
        if (not arguments.site or pair.site in arguments.site) and arguments.split in (None, pair.split)
    ]
    measured: list[Measured] = []
    with new_file(arguments.out) as out:
        for chosen in present(own_key_sets(None, sorted({pair.site for pair in pairs}))):
            measured += asyncio.run(measure_site(chosen, [pair for pair in pairs if pair.site == chosen.name], out))
    groups = {split: [item for item in measured if item.pair.split == split] for split in ("development", "held-out")}
    groups |= {site: [item for item in measured if item.pair.site == site] for site in {i.pair.site for i in measured}}
    print_table(
        ("follow-ups", "n", "same page", "same passage", "as typed: page", "as typed: passage"),
        [
            (
                name,
                len(items),
                _share(items, lambda item: item.same_page),
                _share(items, lambda item: item.same_passage),
                _share(items, lambda item: item.typed_page),
                _share(items, lambda item: item.typed_passage),
            )
            for name, items in groups.items()
            if items
        ],
    )
    rows = [(chosen.name, *carried_into_complete(chosen)) for chosen in own_key_sets()]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    print_table(
        ("complete questions of", "n", "carried into"), [(name, n, f"{count / n:.3f}") for name, count, n in rows]
    )


if __name__ == "__main__":
    main()
