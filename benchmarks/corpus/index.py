"""Indexing benchmark: frozen sites, from WARC to searchable, into an empty embedded database.

Without arguments the Python site, whose pages are large. `--ordinary` takes four sites of small pages instead: 1,877
pages, 7 to 13 KB at the median of each.

pages per CPU-second = pages / (user + system CPU seconds of this process, of its conversion workers and of every
PostgreSQL process it caused), everything included: reading, conversion, chunking, embedding, writing, building the
vector index. Garbage is collected as rarely as by servers. RSS is the peak resident set of this process; that of the
largest worker stands beside it. The reference figure of 5.7 CPU-seconds per page is that of the specification's
reference implementation on 150 of these pages, its own process only, without database (98 % of it parsing each page
again for every chunk); it is quoted, not measured here.

`cpu_ms_by_phase` are ms of CPU time per page of this process, by its steps: the rest of it is waiting for the database
and for the workers, and everything that is no step of its own. `statements_per_page` counts what is sent to the
database beside COPY. The floor of writing is `copy_ms`: copying the chunks and vectors of all pages again, in one
transaction, into tables without an index.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil

from benchmarks import server_work
from evals.walks.goldens import DEFAULT_SITE
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.cli.progress import progress
from webrag_core.config import load_settings
from webrag_core.errors import FetchError
from webrag_core.garbage import collect_rarely
from webrag_core.indexing.chunker import chunk_markdown
from webrag_core.indexing.chunks import child_columns
from webrag_core.indexing.graph.edges import edges_of
from webrag_core.indexing.lexical import term_counts
from webrag_core.indexing.markdown import parse_blocks
from webrag_core.indexing.pipeline import Corpus
from webrag_core.providers.embedder import WordLlamaEmbedder
from webrag_core.providers.static_model import token_ids

REFERENCE_CPU_PER_PAGE = 5.7
_STEPS: tuple[object, ...] = (parse_blocks, chunk_markdown, token_ids, child_columns, term_counts, edges_of)
ORDINARY = tuple(
    f"{name}.warc.gz" for name in ("debian-handbook-11", "libreoffice-writer-7.4", "postgresql-15", "tomcat-10.1")
)


async def measure(home: Path, warcs: Sequence[Path], limit: int | None) -> dict[str, object]:
    """Index up to `limit` pages of each site and return the figures."""
    settings = load_settings(webrag_home=home, database_url=None)
    wall, before = time.perf_counter(), time.process_time()
    pages = 0
    failed: dict[str, str] = {}
    phases: dict[str, float] = defaultdict(float)
    acquirers = [WarcAcquirer(warc) for warc in warcs]
    collect_rarely()
    async with Corpus.open(settings, acquirers[0]) as corpus:
        stack = ExitStack()
        stack.enter_context(_timed_steps(phases))
        statements = stack.enter_context(server_work.recorded(str))
        for acquirer in acquirers:
            site = Corpus(corpus.database, acquirer, settings, corpus.embedder)
            urls = acquirer.page_urls()[:limit]
            pages += len(urls)
            with progress(len(urls), "index") as advance:

                def done(url: str, result: object) -> None:
                    if isinstance(result, FetchError):
                        failed[url] = result.reason.value
                    advance(url)

                await site.add_all(urls, done)
        stack.close()
        await corpus.indexer.finish_bulk()
        seconds = time.process_time() - before
        workers, worker_rss = _workers()
        database = server_work.cluster_seconds(home)
        copy_ms = await _copy_ms(corpus)
    cpu = seconds + workers + database
    return {
        "pages": pages,
        "failed": failed,
        "wall_s": round(time.perf_counter() - wall, 1),
        "cpu_s": round(cpu, 1),
        "cpu_s_this_process": round(seconds, 1),
        "cpu_s_workers": round(workers, 1),
        "cpu_s_postgresql": round(database, 1),
        "pages_per_cpu_s": round(pages / cpu, 2),
        "cpu_s_per_page": round(cpu / pages, 4),
        "cpu_ms_by_phase": {name: round(spent / pages, 2) for name, spent in phases.items()},
        "statements_per_page": round(len(statements) / pages, 1),
        "copy_ms_per_page": round(copy_ms / pages, 2),
        "reference_cpu_s_per_page": REFERENCE_CPU_PER_PAGE,
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "worker_rss_mb": round(worker_rss / 2**20),
    }


@contextmanager
def _timed_steps(spent: dict[str, float]) -> Iterator[None]:
    """While it is open, the CPU time of each step is added to `spent`, in ms."""
    places: list[tuple[Any, str, Any]] = [
        (module, name, value)
        for key, module in list(sys.modules.items())
        if key.startswith("webrag_core.indexing.")
        for name, value in list(vars(module).items())
        if value in _STEPS
    ]
    places.append((WordLlamaEmbedder, "vectors", WordLlamaEmbedder.vectors))
    for owner, name, function in places:
        setattr(owner, name, _timed(function, spent))
    try:
        yield
    finally:
        for owner, name, function in places:
            setattr(owner, name, function)


def _timed(function: Callable[..., Any], spent: dict[str, float]) -> Callable[..., Any]:
    @functools.wraps(function)
    def timed(*given: Any, **named: Any) -> Any:
        started = time.thread_time()
        try:
            return function(*given, **named)
        finally:
            spent[function.__name__] += (time.thread_time() - started) * 1000

    return timed


async def _copy_ms(corpus: Corpus) -> float:
    """CPU time of client and server for copying chunks and vectors out and in again, without indexes."""
    table = f"vectors_{await corpus.model_id()}"
    async with corpus.database.connection() as connection:
        pid = connection.info.backend_pid
        started = time.process_time() * 1000 + server_work.server_ms([pid])
        async with connection.transaction():
            for name in ("chunks", table):
                await connection.execute(f"CREATE TEMP TABLE copy_of_{name} (LIKE {name}) ON COMMIT DROP".encode())
                parts = []
                async with connection.cursor().copy(f"COPY {name} TO STDOUT (FORMAT BINARY)".encode()) as out:
                    parts = [bytes(part) async for part in out]
                async with connection.cursor().copy(f"COPY copy_of_{name} FROM STDIN (FORMAT BINARY)".encode()) as into:
                    await into.write(b"".join(parts))
        return time.process_time() * 1000 + server_work.server_ms([pid]) - started


def _workers() -> tuple[float, int]:
    """CPU seconds of the conversion workers, living and ended, and the largest resident set of one, in bytes."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu, largest = ended.ru_utime + ended.ru_stime, 0
    for child in psutil.Process().children():
        if "worker_main" in " ".join(child.cmdline()):
            times = child.cpu_times()
            cpu += times.user + times.system
            largest = max(largest, child.memory_info().rss)
    return cpu, largest


def main() -> None:
    """Print the figures as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warc", type=Path, default=DEFAULT_SITE)
    parser.add_argument("--ordinary", action="store_true", help="four sites of small pages")
    parser.add_argument("--pages", type=int, default=None, help="only the first N pages of each site")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        warcs = [DEFAULT_SITE.with_name(name) for name in ORDINARY] if arguments.ordinary else [arguments.warc]
        figures = asyncio.run(measure(Path(folder), warcs, arguments.pages))
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
