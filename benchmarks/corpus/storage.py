"""Storage benchmark: bytes per table of the frozen Python site in an empty embedded database.

Bytes of a table = its heap, TOAST and indexes after VACUUM. "Per 20 KB" divides by the Markdown stored, so that sites
with pages of different sizes can be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from pathlib import Path

from evals.walks.goldens import DEFAULT_SITE
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.cli.progress import progress
from webrag_core.config import load_settings
from webrag_core.errors import FetchError
from webrag_core.indexing.pipeline import Corpus

_PAGE_KB = 20
_SIZES = (
    "SELECT regexp_replace(c.relname, '[0-9]+', 'n'), pg_total_relation_size(c.oid) FROM pg_class c"
    " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind = 'r' ORDER BY 2 DESC"
)


async def measure(home: Path, warc: Path, limit: int | None) -> dict[str, object]:
    """Index up to `limit` pages and return the figures."""
    settings = load_settings(webrag_home=home, database_url=None)
    acquirer = WarcAcquirer(warc)
    async with Corpus.open(settings, acquirer) as corpus:
        async with corpus.database.connection() as connection:
            empty = dict(await (await connection.execute(_SIZES.encode())).fetchall())
        urls = acquirer.page_urls()[:limit]
        with progress(len(urls), "index") as advance:
            for url in urls:
                try:
                    await corpus.add(url)
                except FetchError as error:
                    print(f"{url}: {error.reason.value}")
                advance(url)
        async with corpus.database.connection() as connection:
            await connection.execute("VACUUM ANALYZE")
            cursor = await connection.execute(
                "SELECT count(*), sum(octet_length(v.markdown)) FROM documents d"
                " JOIN document_versions v ON v.id = d.current_version"
            )
            row = await cursor.fetchone()
            assert row is not None
            pages, markdown = int(row[0]), int(row[1])
            sizes = dict(await (await connection.execute(_SIZES.encode())).fetchall())
    tables = {name: size - empty.get(name, 0) for name, size in sizes.items() if size > empty.get(name, 0)}
    total = sum(tables.values())
    return {
        "pages": pages,
        "markdown_kb_per_page": round(markdown / pages / 1000, 1),
        "kb_per_page": {name: round(size / pages / 1000, 1) for name, size in tables.items()},
        "total_kb_per_page": round(total / pages / 1000, 1),
        f"total_kb_per_{_PAGE_KB}_kb_of_markdown": round(total / markdown * _PAGE_KB, 1),
    }


def main() -> None:
    """Print the figures as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warc", type=Path, default=DEFAULT_SITE)
    parser.add_argument("--pages", type=int, default=150, help="only the first N pages")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(measure(Path(folder), arguments.warc, arguments.pages))
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
