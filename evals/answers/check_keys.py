"""Check answer keys against their frozen site, without asking anything.

    python -m evals.answers.check_keys                                every suite with a snapshot
    python -m evals.answers.check_keys --keys F.jsonl --warc W.warc.gz

Checked: every page of a key is in the archive; each fact stands in one of its wordings on one of these pages.
Prints one JSON object. Exit code 1 when a key does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from evals.answers.fact_matching import comparable, first_place
from evals.answers.keys import AnswerKey
from evals.answers.suite_list import KeySet, key_set, own_key_sets
from evals.walks.site_map import document_of, visible_text
from webrag_core.acquisition.warc import WarcAcquirer


async def page_texts(warc: Path) -> dict[str, str]:
    """Title and visible text of the pages of a snapshot, as of `comparable`, by `path_of` their URLs.

    Raises InvalidInputError for a file that is no WARC.
    """
    acquirer = WarcAcquirer(warc)
    texts = {}
    for url in acquirer.page_urls():
        document = document_of((await acquirer.fetch(url)).body)
        title = document.findtext(".//title") or ""
        texts[path_of(url)] = comparable(f"{title} {visible_text(document)}")
    return texts


def path_of(page: str) -> str:
    """The path of a page below its host, with its query, without slashes around it and a final `index.html`. A path is
    its own."""
    parts = urlsplit(page)
    path = unquote(parts.path).removesuffix("index.html").strip("/")
    return f"{path}?{parts.query}" if parts.query else path


def problems_of(key: AnswerKey, texts: Mapping[str, str]) -> list[str]:
    """What does not hold of a key, as messages."""
    pages = [path_of(page) for page in key.page]
    problems = [f"not in the archive: {page}" for page in pages if page not in texts]
    page_texts = [texts[page] for page in pages if page in texts]
    return problems + [
        f"on none of its pages: {' | '.join(fact)}"
        for fact in key.must
        if all(first_place(fact, text) is None for text in page_texts)
    ]


async def check(key_set: KeySet) -> dict[str, object]:
    """Counts of a suite and the problems of its keys."""
    texts = await page_texts(key_set.warc)
    return {
        "pages": len(texts),
        "keys": len(key_set.keys),
        "answerable": sum(key.answerable for key in key_set.keys),
        "kinds": dict(Counter(key.kind for key in key_set.keys)),
        "problems": [f"{key.id}: {problem}" for key in key_set.keys for problem in problems_of(key, texts)],
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=Path)
    parser.add_argument("--warc", type=Path)
    given = parser.parse_args(arguments)
    if (given.keys is None) != (given.warc is None):
        parser.error("--keys and --warc go together")
    report: dict[str, dict[str, object]] = {}
    for own_key_set in [key_set(given.keys, given.warc)] if given.keys else own_key_sets():
        if given.keys is None and not own_key_set.warc.is_file():
            report[own_key_set.name] = {"absent": own_key_set.warc.name, "problems": []}
            continue
        report[own_key_set.name] = asyncio.run(check(own_key_set))
    print(json.dumps(report, indent=2, ensure_ascii=False))
    sys.exit(1 if any(figures["problems"] for figures in report.values()) else 0)


if __name__ == "__main__":
    main()
