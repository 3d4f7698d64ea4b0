"""Indexing benchmark: frozen sites, from WARC to searchable, into an empty embedded database.

Without arguments the Python site, whose pages are large. `--ordinary` takes four sites of small pages instead: 1,877
pages, 7 to 13 KB at the median of each.

pages per CPU-second = pages / (user + system CPU seconds of this process, of its conversion workers and of every
PostgreSQL process it caused), everything included: reading, conversion, chunking, embedding, writing, building the
vector index. RSS is the peak resident set of this process; that of the largest worker stands beside it. The
reference figure of 5.7 CPU-seconds per page is that of the specification's reference implementation on 150 of these
pages, its own process only, without database (98 % of it parsing each page again for every chunk); it is quoted, not
measured here.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from evals.walks.goldens import DEFAULT_SITE
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.cli.progress import progress
from webrag_core.config import load_settings
from webrag_core.errors import FetchError
from webrag_core.indexing.pipeline import Corpus

REFERENCE_CPU_PER_PAGE = 5.7
ORDINARY = tuple(
    f"{name}.warc.gz" for name in ("debian-handbook-11", "libreoffice-writer-7.4", "postgresql-15", "tomcat-10.1")
)


async def measure(home: Path, warcs: Sequence[Path], limit: int | None) -> dict[str, object]:
    """Index up to `limit` pages of each site and return the figures."""
    settings = load_settings(webrag_home=home, database_url=None)
    wall, before = time.perf_counter(), time.process_time()
    pages = 0
    failed: dict[str, str] = {}
    acquirers = [WarcAcquirer(warc) for warc in warcs]
    async with Corpus.open(settings, acquirers[0]) as corpus:
        for acquirer in acquirers:
            corpus.ingestor.acquirer = acquirer
            urls = acquirer.page_urls()[:limit]
            pages += len(urls)
            with progress(len(urls), "index") as advance:
                for url in urls:
                    try:
                        await corpus.add(url)
                    except FetchError as error:
                        failed[url] = error.reason.value
                    advance(url)
        await corpus.indexer.finish_bulk()
        seconds = time.process_time() - before
        workers, worker_rss = _workers()
        database = _postgres_cpu(home)
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
        "reference_cpu_s_per_page": REFERENCE_CPU_PER_PAGE,
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "worker_rss_mb": round(worker_rss / 2**20),
    }


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


def _postgres_cpu(home: Path) -> float:
    """CPU seconds of the postmaster, of its living children and of those it has waited for."""
    pid = int((home / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0])
    postmaster = psutil.Process(pid)
    times = postmaster.cpu_times()
    total = times.user + times.system + times.children_user + times.children_system
    for child in postmaster.children():
        spent = child.cpu_times()
        total += spent.user + spent.system
    return float(total)


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
