"""Many processes, the same URLs, several rounds: nothing is doubled, nothing fails, nothing is embedded twice.

Every process takes the same pages of the frozen site in another order; each later round asks the site again
(conditionally). Prints one JSON object; exit code 1 when a document, version or chunk is doubled, a process fails, an
invariant breaks or more than 1.05 texts are embedded per distinct text.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.corpus.crash import look
from evals.walks.goldens import DEFAULT_SITE
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import load_settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.store.database import Database

_MOST_EMBEDDED = 1.05


async def take_pages(home: Path, pages: int, rounds: int, seed: int) -> int:
    """Add the pages `rounds` times in an order of this process's own; returns how many texts it embedded."""
    acquirer = WarcAcquirer(DEFAULT_SITE)
    order = random.Random(seed)
    embedded = 0
    async with Corpus.open(load_settings(webrag_home=home, database_url=None), acquirer) as corpus:
        for number in range(rounds):
            urls = acquirer.page_urls()[:pages]
            order.shuffle(urls)
            for url in urls:
                embedded += (await corpus.add(url, refresh=number > 0)).embedded
    return embedded


async def distinct_texts(home: Path) -> tuple[int, int]:
    """(distinct embedded texts, versions) of the corpus."""
    async with (
        await Database.open(load_settings(webrag_home=home, database_url=None)) as database,
        database.connection() as connection,
    ):
        cursor = await connection.execute(
            "SELECT (SELECT count(DISTINCT c.embed_sha256) FROM contract.v_embedding"
            "  JOIN chunks c ON c.id = chunk_id),"
            " (SELECT count(*) FROM document_versions)"
        )
        row = await cursor.fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", nargs=2, metavar=("HOME", "SEED"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child is not None:
        home, seed = Path(arguments.child[0]), int(arguments.child[1])
        print(asyncio.run(take_pages(home, arguments.pages, arguments.rounds, seed)))
        return
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        limits = ["--pages", str(arguments.pages), "--rounds", str(arguments.rounds)]
        children = [
            subprocess.Popen(
                [sys.executable, "-m", "benchmarks.corpus.race", "--child", str(home), str(seed), *limits],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for seed in range(arguments.processes)
        ]
        ended = [(*child.communicate(), child.returncode) for child in children]
        embedded = sum(int(out) for out, _, code in ended if code == 0)
        _, violations, rows = asyncio.run(look(home))
        texts, versions = asyncio.run(distinct_texts(home))
    report = {
        "processes": arguments.processes,
        "failed_processes": [errors[-300:] for _, errors, code in ended if code != 0],
        "documents": rows["documents"],
        "versions": versions,
        "expected_documents": arguments.pages,
        "violations": violations,
        "embedded_per_text": round(embedded / texts, 3),
    }
    print(json.dumps(report, indent=2))
    whole = rows["documents"] == versions == arguments.pages and not violations and not report["failed_processes"]
    sys.exit(0 if whole and embedded <= _MOST_EMBEDDED * texts else 1)


if __name__ == "__main__":
    main()
