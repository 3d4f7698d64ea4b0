"""`webrag ingest --git FOLDER`: store the history of a folder."""

from __future__ import annotations

from pathlib import Path

from webrag_core.cli.addresses import with_scheme
from webrag_core.cli.output import complain, print_json, print_line
from webrag_core.cli.progress import progress
from webrag_core.config import load_settings
from webrag_core.corpus.histories import HistoryDates, HistoryOutcome
from webrag_core.errors import FetchError


async def ingest_git(folder: Path, base_url: str, dates: HistoryDates, revision: str, *, as_json: bool) -> int:
    """Store every text file of a folder under git with all its versions. Returns 1 when a file failed, else 0."""
    from webrag_core.acquisition.git_folder import GitFolder
    from webrag_core.corpus.forget import allow_again
    from webrag_core.corpus.histories import HistoryIngestor
    from webrag_core.corpus.page_batches import gather_bounded
    from webrag_core.corpus.removal_list import keep_removals
    from webrag_core.indexing.pipeline import Corpus

    history = GitFolder(folder, with_scheme(base_url), revision=revision)
    files = {file.url: file for file in history.files}
    failed: dict[str, str] = {}
    counts = dict.fromkeys(("fetched", "unchanged"), 0)
    versions = ended = 0
    try:
        async with Corpus.open(settings := load_settings()) as corpus:
            histories = HistoryIngestor(corpus.database, history, dates)
            async with corpus.database.connection() as connection:
                was_removed = await allow_again(connection, list(files))
            if was_removed:
                await keep_removals(corpus.database, settings)
            with progress(len(files), "ingest") as advance:

                async def take(url: str) -> HistoryOutcome:
                    return await corpus.add_history(histories, files[url])

                def done(url: str, result: HistoryOutcome | FetchError) -> None:
                    nonlocal versions, ended
                    if isinstance(result, FetchError):
                        failed[url] = result.reason.value
                        complain(f"{url}: {result.message}")
                    else:
                        counts[result.outcome] += 1
                        versions += result.versions
                        ended += result.version_id is None
                    advance(url)

                await gather_bounded(files, take, done)
            await corpus.indexer.finish_bulk()
    finally:
        history.close()
    if as_json:
        report = {"requested": len(files), **counts, "versions": versions, "ended": ended, "failed": failed}
        commits = {"commits": len(history.commits), "undated_commits": histories.undated()}
        print_json({**report, **commits, "skipped": history.skipped, "refused": dict(history.refused)})
    else:
        print_line(
            f"{len(files)} files, {versions} versions of {len(history.commits)} commits: {counts['fetched']} read,"
            f" {counts['unchanged']} unchanged, {ended} ended, {len(failed)} failed, {len(history.skipped)} skipped"
        )
        for what, number in sorted(history.refused.items()):
            print_line(f"not taken: {what} ({number})")
        if histories.undated():
            print_line(f"commits without a credible date, of which only bounds are known: {histories.undated()}")
    return 1 if failed else 0
