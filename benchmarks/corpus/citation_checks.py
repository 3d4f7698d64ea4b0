"""What it costs to check stored citations after a new release of a manual.

    python -m benchmarks.corpus.citation_checks [python-3.11 python-3.13] [--thin] [--citations 10000]

The first release is stored and passages of its changed pages are cited, as answers cite them: one child chunk each,
drawn at random. The second release is stored under the same addresses, then every citation is checked, and all of them
are read once more. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from psycopg import AsyncConnection

from evals.history.citation_states import Span, cite, store_pages
from evals.sites.build_versions import target_of
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import Settings
from webrag_core.history.citations import citation_states
from webrag_core.indexing.pipeline import Corpus

_SEED = 5


async def measure(old: Path, new: Path, citations: int) -> dict[str, object]:
    """Cite, replace, check, read."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate({"webrag_home": Path(folder) / "home", "webrag_warc": old})
        async with Corpus.open(settings) as corpus:
            await store_pages(corpus, WarcAcquirer(old).page_urls())
            async with corpus.database.transaction() as connection:
                passages = await _passages(connection)
        async with Corpus.open(settings.model_copy(update={"webrag_warc": new})) as corpus:
            await store_pages(corpus, WarcAcquirer(new).page_urls())
            async with corpus.database.transaction() as connection:
                chosen = (await _outdated(connection, passages))[:citations]
                await cite(connection, chosen)
            begun, processor = time.perf_counter(), time.process_time()
            states = await citation_states(corpus.database)
            seconds, processor = time.perf_counter() - begun, time.process_time() - processor
            begun = time.perf_counter()
            stored = await citation_states(corpus.database)
            again = time.perf_counter() - begun
            assert stored == states
    return {
        "citations": len(chosen),
        "seconds": round(seconds, 1),
        "processor_seconds_of_python": round(processor, 1),
        "seconds_read_again": round(again, 2),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "states": dict(Counter(f"{state.state}/{state.how}" for state in states).most_common()),
    }


async def _passages(connection: AsyncConnection) -> list[Span]:
    """Every child chunk."""
    cursor = await connection.execute(
        "SELECT c.version_id, c.char_start, c.char_end FROM chunks c JOIN documents d ON d.id = c.document_id"
        " WHERE c.level = 'child' ORDER BY d.canonical_url, c.ordinal"
    )
    return await cursor.fetchall()


async def _outdated(connection: AsyncConnection, passages: Sequence[Span]) -> list[Span]:
    """Those of pages that are no longer what they were, in random order."""
    cursor = await connection.execute("SELECT current_version FROM documents WHERE current_version IS NOT NULL")
    current = {int(row[0]) for row in await cursor.fetchall()}
    outdated = [passage for passage in passages if passage[0] not in current]
    random.Random(_SEED).shuffle(outdated)
    return outdated


def main(arguments: Sequence[str]) -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", nargs="?", default="python-3.11")
    parser.add_argument("new", nargs="?", default="python-3.13")
    parser.add_argument("--thin", action="store_true", help="the small archives that are in the repository")
    parser.add_argument("--citations", type=int, default=10_000, help="at most")
    chosen = parser.parse_args(arguments)
    old, new = (target_of(name, thin=chosen.thin) for name in (chosen.old, chosen.new))
    report = asyncio.run(measure(old, new, chosen.citations))
    print(json.dumps({"releases": [chosen.old, chosen.new], **report}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
