"""How much code an answer goes through: files and functions of the core that a warm question enters on a stored site.

The question is put twice to one open corpus. The first time fills caches, the second is counted: the operation alone,
without command line, opening and printing. The site are pages of the frozen Python documentation.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from pathlib import Path

from docs_tools.function_trace import Step, steps, trace
from evals.walks.goldens import DEFAULT_SITE
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.application.operations import Ask
from webrag_core.application.services import Services
from webrag_core.config import Settings, load_settings
from webrag_core.indexing.pipeline import Corpus

TARGETS = {"files": 45, "functions": 300}
"""Most that a warm question should enter."""
QUESTION = "Is asyncio.Queue thread safe?"
PAGES = 30


async def entered_by_answer(settings: Settings) -> tuple[str, list[Step]]:
    """The verdict of the second answer to the question, and what was entered on the way to it."""
    archive = WarcAcquirer(DEFAULT_SITE)
    pages = [url for url in archive.page_urls() if "/library/asyncio" in url][:PAGES]
    question = Ask.of(question=QUESTION)
    with trace() as entered:
        async with Corpus.open(settings, archive) as corpus:
            await corpus.add_all(pages, lambda url, result: None)
            await corpus.indexer.finish_bulk()
            services = Services.over(corpus)
            await question.run(services)
            entered.clear()
            answer = await question.run(services)
            return answer.status, steps(entered)


def main() -> None:
    """Print the counts as JSON; with --list the functions too, file by file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="also print the functions, in order")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(webrag_home=Path(folder), database_url=None)
        status, functions = asyncio.run(entered_by_answer(settings))
    if arguments.list:
        for file, name in functions:
            print(file, name)
    counts = {"files": len({file for file, _ in functions}), "functions": len(functions)}
    print(json.dumps({"question": QUESTION, "status": status, **counts, "targets": TARGETS}))


if __name__ == "__main__":
    main()
