"""Kill -9 at many points of fetching, converting, chunking, embedding and writing; then one plain run.

    python -m benchmarks.corpus.crash [--kills N] [--pages N] [--refresh]

A process that indexes pages of the frozen site is killed again and again, each time at another moment; every eighth
time the database server is killed with it. With `--refresh` the corpus holds one release of a manual already, and the
process refreshes its pages from the next release. Afterwards one undisturbed run finishes the work. Nothing may be torn
(`verify` finds no violation at any time the corpus is looked at), lost or doubled, and the corpus, periods and past
texts included, must have the same digest as one that was never disturbed. Prints one JSON object; exit code 1 when
anything differs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.corpus.corpus_digest import corpus_digest
from evals.sites.build_versions import RELEASES, target_of
from evals.walks.goldens import DEFAULT_SITE
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.cli.progress import progress
from webrag_core.config import Settings, load_settings
from webrag_core.corpus.verification import VerificationCounts, verify_corpus
from webrag_core.indexing.pipeline import Corpus
from webrag_core.store.database import Database

_SEED = 11
_SERVER_KILL_EVERY = 8
_LOOK_EVERY = 10
_LOADING_S = 0.4
_BEFORE = ("python-3.11", "git-2.39", "policy-4.6")
_AFTER = ("python-3.13", "git-2.47", "policy-4.7.2")


def _settings(home: Path) -> Settings:
    return load_settings(webrag_home=home, database_url=None)


async def index_pages(home: Path, pages: int) -> None:
    """Index the first `pages` pages of the frozen site, several by one transaction, and nothing that is there."""
    acquirer = WarcAcquirer(DEFAULT_SITE)
    async with Corpus.open(_settings(home), acquirer) as corpus:
        _say_ready()
        await corpus.add_all(acquirer.page_urls()[:pages], lambda url, result: None)


async def refresh_pages(home: Path, releases: Sequence[str]) -> None:
    """Refresh the pages of releases of manuals (cut thin), several at a time, first those that were not seen on the
    release's day: the others are found unchanged, and noted many at once."""
    async with Corpus.open(_settings(home)) as corpus:
        _say_ready()
        for release in releases:
            acquirer = WarcAcquirer(target_of(release, thin=True))
            replayed = Corpus(corpus.database, acquirer, corpus.settings)
            async with corpus.database.connection() as connection:
                cursor = await connection.execute(
                    "SELECT d.canonical_url FROM documents d JOIN version_periods p ON p.document_id = d.id"
                    " WHERE p.seen_last >= %s",
                    (RELEASES[release].date,),
                )
                refreshed = {url for (url,) in await cursor.fetchall()}
            urls = sorted(acquirer.page_urls(), key=refreshed.__contains__)
            await replayed.add_all(urls, lambda url, result: None, refresh=True)  # a text that is held back is no end


def _say_ready() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()


async def look(home: Path) -> tuple[str, int, dict[str, int]]:
    """(digest, violations, rows per kind) of a corpus."""
    counted = VerificationCounts()
    async with await Database.open(_settings(home)) as database:
        violations = [violation async for violation in verify_corpus(database, counted)]
        async with database.connection() as connection:
            digest = await corpus_digest(connection)
    rows = {"documents": counted.documents, "children": counted.children, "vectors": counted.vectors}
    return digest, len(violations), rows


def start(home: Path, pages: int, *, refresh: bool) -> subprocess.Popen[str]:
    """A child process that does the work, once it is ready to fetch. One that does not start is no kill survived."""
    command = [sys.executable, "-m", "benchmarks.corpus.crash", "--child", str(home), "--pages", str(pages)]
    command += ["--refresh"] if refresh else []
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert child.stdout is not None
    if child.stdout.readline() != "ready\n":
        child.kill()
        raise SystemExit("the process that does the work did not start")
    return child


def kill_server(home: Path) -> None:
    """Kill the database server as a power cut would, as far as the operating system's caches survive it."""
    pid_file = home / "postgres" / "postmaster.pid"
    os.kill(int(pid_file.read_text().split("\n", 1)[0]), signal.SIGKILL)


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--pages", type=int, default=150)
    parser.add_argument("--refresh", action="store_true", help="refresh stored pages from the next release instead")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child is not None:
        if arguments.refresh:
            asyncio.run(refresh_pages(arguments.child, _AFTER))
        else:
            asyncio.run(index_pages(arguments.child, arguments.pages))
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # the server still runs in it
        undisturbed, disturbed = Path(folder) / "a", Path(folder) / "b"
        if arguments.refresh:
            for home in (undisturbed, disturbed):
                asyncio.run(refresh_pages(home, _BEFORE))
        begun = time.perf_counter()
        with start(undisturbed, arguments.pages, refresh=arguments.refresh) as child:
            child.wait()
        wanted, _, rows = asyncio.run(look(undisturbed))
        # long enough to load the model and to be somewhere within the next pages, so that the work lasts for all kills
        span = _LOADING_S + 2 * (time.perf_counter() - begun) / arguments.kills
        moments = random.Random(_SEED)
        torn = killed = servers = 0
        with progress(arguments.kills, "kill") as advance:
            for number in range(arguments.kills):
                with start(disturbed, arguments.pages, refresh=arguments.refresh) as child:
                    try:
                        child.wait(timeout=moments.uniform(0.0, span))
                    except subprocess.TimeoutExpired:
                        killed += 1
                        if number % _SERVER_KILL_EVERY == _SERVER_KILL_EVERY - 1:
                            kill_server(disturbed)
                            servers += 1
                        child.kill()
                if number % _LOOK_EVERY == _LOOK_EVERY - 1:
                    torn += asyncio.run(look(disturbed))[1]
                advance("")
        with start(disturbed, arguments.pages, refresh=arguments.refresh) as child:
            child.wait()
        digest, violations, rows_after = asyncio.run(look(disturbed))
    report = {
        "work": "refresh" if arguments.refresh else f"index {arguments.pages} pages",
        "killed": killed,
        "servers_killed": servers,
        "finished_before_the_kill": arguments.kills - killed,
        "violations_on_the_way": torn,
        "violations_at_the_end": violations,
        "rows": rows_after,
        "rows_undisturbed": rows,
        "same_digest": digest == wanted,
    }
    print(json.dumps(report, indent=2))
    sys.exit(0 if report["same_digest"] and not torn + violations and rows_after == rows else 1)


if __name__ == "__main__":
    main()
