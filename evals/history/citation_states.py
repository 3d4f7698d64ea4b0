"""States of citations after real releases, judged by the pages' own ids.

    python -m evals.history.citation_states python-3.11 python-3.13 [--thin] [--sentences 400] [--json FILE]

The first release is stored, sentences of it are cited, the second release is stored over it under the same addresses,
and every citation is checked. Truth comes from the HTML (`evals.history.places`): a sentence whose letters the new page
lacks has changed; one that has them at the same id still stands, at another one it moved on its page; one that
the page lacks and exactly one other page has, moved there. Sentences that stand twice on their old page are not asked.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from psycopg import AsyncConnection

from evals.history.places import MarkedPage, letters
from evals.sites.build_versions import target_of
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import Settings
from webrag_core.corpus.page_batches import gather_bounded
from webrag_core.errors import FetchError
from webrag_core.history.citations import CitationState, citation_states
from webrag_core.indexing.markdown import plain_text
from webrag_core.indexing.pipeline import AddedDocument, Corpus
from webrag_core.indexing.sentences import sentences_of

Truth = Literal["valid", "moved", "page", "changed", "unclear"]
Span = tuple[int, int, int]
"""(version, start, end) of a quote."""

_LEAST_LETTERS = 20  # of a sentence that is cited
_LOOKED_UP = 30  # sentences of a page that are looked for on all pages
_KINDS = ("paragraph", "term", "code", "table")


@dataclass(frozen=True, slots=True)
class _Sentence:
    url: str
    version_id: int
    start: int
    end: int
    text: str
    truth: Truth


async def measure(
    old: Path, new: Path, *, sentences: int, seed: int = 0
) -> tuple[list[tuple[_Sentence, CitationState]], float]:
    """Cite, replace, check. Returns each cited sentence with its state, and the seconds that the checks took."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate({"webrag_home": Path(folder) / "home", "webrag_warc": old})
        before, after = await _pages(old), await _pages(new)
        async with Corpus.open(settings) as corpus:
            stored = await store_pages(corpus, sorted(before))
            chosen = await _choose(corpus, stored, before, after, sentences, seed)
            async with corpus.database.transaction() as connection:
                await cite(connection, [(choice.version_id, choice.start, choice.end) for choice in chosen])
        async with Corpus.open(settings.model_copy(update={"webrag_warc": new})) as corpus:
            await store_pages(corpus, sorted(after))
            async with corpus.database.connection() as connection:
                gone = [url for url in before if url not in after]
                await connection.execute(
                    "UPDATE documents SET misses = 3, miss_reason = 'not_found', last_miss = now(),"
                    " missing_since = now() WHERE canonical_url = ANY(%s)",
                    (gone,),
                )
            for url in gone:
                await corpus.indexer.retire(url)
            begun = time.perf_counter()
            states = await citation_states(corpus.database)
            seconds = time.perf_counter() - begun
    by_number = {state.number: state for state in states}
    return [(sentence, by_number[number]) for number, sentence in enumerate(chosen, start=1)], seconds


async def _pages(warc: Path) -> dict[str, MarkedPage]:
    acquirer = WarcAcquirer(warc)
    return {url: MarkedPage.of((await acquirer.fetch(url)).body) for url in acquirer.page_urls()}


async def store_pages(corpus: Corpus, urls: Sequence[str]) -> dict[str, int]:
    """Store pages, and return the version of each."""
    versions: dict[str, int] = {}

    async def add(url: str) -> AddedDocument:
        return await corpus.add(url, refresh=True)

    def done(url: str, result: AddedDocument | FetchError) -> None:
        if isinstance(result, AddedDocument):
            versions[url] = result.version_id

    await gather_bounded(urls, add, done)
    return versions


async def _choose(
    corpus: Corpus,
    stored: Mapping[str, int],
    before: Mapping[str, MarkedPage],
    after: Mapping[str, MarkedPage],
    sentences: int,
    seed: int,
) -> list[_Sentence]:
    """Sentences of pages that changed or vanished, as many of each page as of any other; those that moved first, up to
    a half."""
    rng = random.Random(seed)
    by_page: list[list[_Sentence]] = []
    moved: list[_Sentence] = []
    for url, version_id in sorted(stored.items()):
        if url in after and after[url].text == before[url].text:
            continue
        async with corpus.database.connection() as connection:
            cursor = await connection.execute("SELECT markdown FROM document_versions WHERE id = %s", (version_id,))
            (markdown,) = await cursor.fetchone() or ("",)
        spans = [item.stripped(markdown) for item in sentences_of(markdown) if item.block.kind in _KINDS]
        rng.shuffle(spans)
        candidates: list[_Sentence] = []
        for start, end in spans:
            words = plain_text(markdown[start:end])
            if len(letters(words)) >= _LEAST_LETTERS and len(before[url].occurrences(words)) == 1:
                truth = _truth(url, words, before, after, elsewhere=len(candidates) < _LOOKED_UP)
                if truth is not None:
                    item = _Sentence(url, version_id, start, end, markdown[start:end], truth)
                    (moved if truth in ("moved", "page") else candidates).append(item)
        by_page.append(candidates)
    rng.shuffle(by_page)
    rng.shuffle(moved)
    chosen = moved[: sentences // 2]
    while len(chosen) < sentences and any(by_page):
        for candidates in by_page:
            if candidates and len(chosen) < sentences:
                chosen.append(candidates.pop())
    return chosen


def _truth(
    url: str, words: str, before: Mapping[str, MarkedPage], after: Mapping[str, MarkedPage], *, elsewhere: bool
) -> Truth | None:
    """What became of a sentence; None where other pages would have to be read, and shall not (`elsewhere`)."""
    old, new = before[url], after.get(url)
    if new is not None and (places := new.occurrences(words)):
        common = old.names & new.names
        here = old.place(old.occurrences(words)[0], common)
        return "valid" if here in {new.place(at, common) for at in places} else "moved"
    if not elsewhere:
        return None
    results = [other for other in after if other != url and after[other].occurrences(words)]
    earlier = [other for other in before if other != url and before[other].occurrences(words)]
    if not results:
        return "changed"
    # what several pages said before or say now has not moved to one of them
    return "page" if len(results) == 1 and not earlier else "unclear"


async def cite(connection: AsyncConnection, spans: Sequence[Span]) -> None:
    """Store one answer that cites these spans, numbered from 1 in their order."""
    cursor = await connection.execute(
        "INSERT INTO answer_runs (seed_url, query, options, policy, state, ended_at)"
        " VALUES ('https://example.org/', 'sentences', '{}', 'none', 'done', now()) RETURNING id"
    )
    (answer,) = await cursor.fetchone() or (0,)
    await cursor.executemany(
        "INSERT INTO citations (answer_id, number, version_id, char_start, char_end, quote_sha256, score)"
        " SELECT %s, %s, v.id, s.first, s.last, encode(sha256(convert_to("
        "  substring(v.markdown FROM s.first + 1 FOR s.last - s.first), 'UTF8')), 'hex'), 1"
        " FROM (VALUES (%s::integer, %s::integer, %s::integer)) s (version, first, last)"
        " JOIN document_versions v ON v.id = s.version",
        [(answer, number, *span) for number, span in enumerate(spans, start=1)],
    )


def figures(results: Sequence[tuple[_Sentence, CitationState]]) -> dict[str, object]:
    """Counts and rates. Precision and recall of `moved` are about places: on the page and to another page."""
    pairs = [(result, state) for result, state in results if result.truth != "unclear"]
    table = Counter((item.truth, f"{state.state}/{state.how}") for item, state in pairs)
    in_page = [(item, state) for item, state in pairs if state.state == "moved" and state.how == "text"]
    to_page = [(item, state) for item, state in pairs if state.state == "moved" and state.how == "page"]

    def share(part: Sequence[object], whole: Sequence[object]) -> float | None:
        return round(len(part) / len(whole), 3) if whole else None

    moved = [(item, state) for item, state in pairs if item.truth == "moved"]
    other = [(item, state) for item, state in pairs if item.truth == "page"]
    stays = [(item, state) for item, state in pairs if item.truth == "valid"]
    return {
        "sentences": len(pairs),
        "changed_called_valid": sum(
            item.truth in ("changed", "page") and state.state == "valid" for item, state in pairs
        ),
        "changed_called_moved": sum(item.truth == "changed" and state.state == "moved" for item, state in pairs),
        "valid_recall": share(
            [stay for stay, state in stays if state.state == "valid" or state.how == "markup"], stays
        ),
        "moved_precision": share([item for item, _ in in_page if item.truth == "moved"], in_page),
        "moved_recall": share([item for item, state in moved if state.state == "moved"], moved),
        "moved": len(moved),
        "page_precision": share([item for item, _ in to_page if item.truth == "page"], to_page),
        "page_recall": share([item for item, state in other if state.how == "page"], other),
        "to_another_page": len(other),
        "table": {f"{truth} -> {state}": count for (truth, state), count in sorted(table.items())},
    }


def main(arguments: Sequence[str]) -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--thin", action="store_true")
    parser.add_argument("--sentences", type=int, default=400)
    parser.add_argument("--show", help="print the sentences with this truth and state, as `moved -> changed/lost`")
    chosen = parser.parse_args(arguments)
    old, new = (target_of(name, thin=chosen.thin) for name in (chosen.old, chosen.new))
    results, seconds = asyncio.run(measure(old, new, sentences=chosen.sentences))
    print(json.dumps({"pair": [chosen.old, chosen.new], **figures(results), "seconds": round(seconds, 2)}, indent=1))
    for result, state in results:
        if chosen.show == f"{result.truth} -> {state.state}/{state.how}":
            print(f"\n{result.url}\n  {result.text!r}\n  now {state.now_url} {state.now_start} kept {state.kept}")


if __name__ == "__main__":
    main(sys.argv[1:])
