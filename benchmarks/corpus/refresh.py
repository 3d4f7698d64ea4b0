"""Refresh benchmark on the frozen Python site: what an unchanged site and one edited section cost.

First every page is asked again: new versions, texts embedded, requests per page (all of them conditional), CPU time of
client and server per page and beside it what its request to the archive costs alone. Then, on each page with at least
40 sections, one section in turn gets one more sentence and the page is refreshed: texts embedded for it, beside the
children that the page has; neither where no page has so many sections. Prints one JSON object; exit code 1 when the
unchanged site costs a version, an embedding or more than one request per page.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import hashlib
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import lxml.html

from benchmarks import server_work
from evals.storing import store_site
from evals.walks.goldens import DEFAULT_SITE
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import load_settings
from webrag_core.indexing.pipeline import Corpus

MIN_SECTIONS = 40
_SENTENCE = " One more sentence was added to this section after it had been indexed."


class EditedSite(WarcAcquirer):
    """The frozen site with some pages edited. Counts requests."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.edited: dict[str, bytes] = {}
        self.requests = 0

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """The edited page, or the archived one."""
        self.requests += 1
        if url not in self.edited:
            return await super().fetch(url, etag=etag, last_modified=last_modified)
        page = await super().fetch(url)
        body = self.edited[url]
        etag = f'"{hashlib.sha256(body).hexdigest()}"'
        return dataclasses.replace(page, headers={**page.headers, "etag": etag}, body=body)


def sections(body: bytes) -> int:
    """How many sections a page has."""
    return len(lxml.html.document_fromstring(body).findall(".//section"))


def with_sentence(body: bytes, number: int) -> bytes | None:
    """The page with a sentence more in its section `number`; None when that section has no paragraph of its own."""
    document = lxml.html.document_fromstring(body)
    section = document.findall(".//section")[number]
    paragraphs = section.findall("./p")
    if not paragraphs:
        return None
    last = paragraphs[-1]
    if len(last):
        last[-1].tail = (last[-1].tail or "") + _SENTENCE
    else:
        last.text = (last.text or "") + _SENTENCE
    return bytes(lxml.html.tostring(document, encoding="utf-8"))


async def measure(home: Path, pages: int | None, edits: int) -> dict[str, object]:
    """Ingest, refresh unchanged, then edit `edits` sections of every large page, one at a time."""
    site = EditedSite(DEFAULT_SITE)
    async with Corpus.open(load_settings(webrag_home=home, database_url=None), site) as corpus:
        urls = site.page_urls()[:pages]
        await store_site(corpus, DEFAULT_SITE.name, urls)
        versions = "SELECT count(*) FROM document_versions"
        before = await _number(corpus, versions)
        site.requests = 0
        key = urls[0].split("/")[2]
        servers = await server_work.servers_of(corpus.database)
        spent = time.process_time() * 1000 + server_work.server_ms(servers)
        with server_work.recorded(str) as statements:
            report = await corpus.refresher().run(key)
        servers += await server_work.servers_of(corpus.database)
        spent = time.process_time() * 1000 + server_work.server_ms(sorted(set(servers))) - spent
        asking = time.process_time()
        for url in urls:
            first = await WarcAcquirer.fetch(site, url)
            await WarcAcquirer.fetch(site, url, etag=first.headers.get("etag"))
        asking = (time.process_time() - asking) * 1000 / 2
        unchanged = {
            "pages": report.counts.discovered,
            "new_versions": await _number(corpus, versions) - before,
            "unchanged": report.counts.unchanged,
            "failed": report.counts.failed,
            "cpu_ms_per_page": round(spent / report.counts.discovered, 2),
            "request_cpu_ms_per_page": round(asking / len(urls), 2),
            "statements_per_page": round(len(statements) / report.counts.discovered, 1),
            "requests_per_page": round(site.requests / report.counts.discovered, 3),
        }
        embedded: list[int] = []
        share: list[float] = []
        large = [url for url in urls if sections((await site.fetch(url)).body) >= MIN_SECTIONS]
        for url in large:
            body = (await WarcAcquirer.fetch(site, url)).body
            step = max(1, sections(body) // edits)
            for number in range(0, sections(body), step):
                edited = with_sentence(body, number)
                if edited is None:
                    continue
                site.edited[url] = edited
                added = await corpus.add(url, refresh=True)
                children = await _number(
                    corpus, "SELECT child_count FROM document_versions WHERE id = %s", added.version_id
                )
                embedded.append(added.embedded)
                share.append(added.embedded / children)
            site.edited.pop(url, None)
    sections_edited: dict[str, object] = {"pages": len(large), "edits": len(embedded)}
    if embedded:  # the first pages may have no sections
        sections_edited |= {
            "texts_embedded_median": statistics.median(embedded),
            "texts_embedded_p95": sorted(embedded)[int(len(embedded) * 0.95)],
            "texts_embedded_max": max(embedded),
            "share_of_page_median": round(statistics.median(share), 4),
        }
    return {"unchanged_refresh": unchanged, "edited_section": sections_edited}


async def _number(corpus: Corpus, query: str, *parameters: object) -> int:
    async with corpus.database.connection() as connection:
        row = await (await connection.execute(query.encode(), parameters)).fetchone()
    assert row is not None
    return int(row[0])


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, help="only the first pages of the site")
    parser.add_argument("--edits", type=int, default=10, help="sections edited per page, about")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = asyncio.run(measure(Path(folder), arguments.pages, arguments.edits))
    print(json.dumps(report, indent=2))
    result = report["unchanged_refresh"]
    assert isinstance(result, dict)
    sys.exit(0 if not result["new_versions"] and not result["failed"] and result["requests_per_page"] <= 1 else 1)


if __name__ == "__main__":
    main()
