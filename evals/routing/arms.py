"""Run every golden by every agent, in a stored, a half stored and an empty corpus, and record what each would bring.

    python -m evals.routing.arms --split reporting --out runs/arms-reporting.jsonl

A line is one golden in one state of the corpus: the features that a plan is made from, and per agent the passages
(which needs they hold, their length and score), the pages fetched and the seconds taken. With all of it, every router
can be judged without asking anything again. In the half stored corpus a page is stored by the parity of its address's
digest. Lines that the file has already are not made again.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import hashlib
import json
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Literal, TextIO, get_args

from evals.jsonl import load_jsonl
from evals.storing import store_site
from evals.walks.goldens import EVALS, GoldenQuery, load_goldens
from evals.walks.scoring import quotes_found
from evals.walks.sitewalk import suite_settings
from evals.walks.suites import Split, Suite, own_suites, sample_goldens
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.cli.progress import progress
from webrag_core.config import load_settings
from webrag_core.errors import FetchError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.retrieval.models import RankedChunk
from webrag_core.retrieval.request import ScopeFilter, SearchRequest
from webrag_core.retrieval.search import search
from webrag_core.routing.features import read_question
from webrag_core.routing.question import Question

State = Literal["stored", "half", "empty"]
ELSEWHERE = "elsewhere"
"""Name of an acquirer whose pages count as not stored."""
_NEAR = 3
_SEEDED = 2


async def record(
    suite: Suite, out: TextIO, states: Sequence[State], sample: int, done: Collection[tuple[str, str]]
) -> None:
    """Run `sample` goldens of a suite; write one line for each in each state, but for those that are `done`."""
    goldens = sample_goldens(load_goldens(suite.golden), sample)
    settings = suite_settings(load_settings(), suite.warc, stored=True)
    async with Corpus.open(settings, WarcAcquirer(suite.warc)) as corpus:
        engine = OrchestratorEngine(corpus)
        await _show(corpus, "stored")
        await store_site(corpus, suite.name, WarcAcquirer(suite.warc).page_urls())
        with progress(len(goldens) * len(states), suite.name) as advance:
            for state in states:
                for golden in goldens:
                    if (golden.id, state) in done:
                        continue
                    ids = await _show(corpus, state)
                    try:
                        line = await _line(corpus, engine, golden, state, ids)
                    except FetchError as error:
                        print(f"{golden.id}: {error.message}", file=sys.stderr)
                    else:
                        out.write(json.dumps({"suite": suite.name, **line}, ensure_ascii=False) + "\n")
                        out.flush()
                    advance(golden.id)
        await _show(corpus, "stored")


async def _show(corpus: Corpus, state: State) -> list[int]:
    """Let the corpus appear as it is in `state`; the ids of the pages that count as stored."""
    async with corpus.database.connection() as connection:
        cursor = await connection.execute("SELECT id, canonical_url, acquirer FROM documents")
        rows = await cursor.fetchall()
        ids = [
            int(number)
            for number, url, _ in rows
            if state == "stored" or (state == "half" and hashlib.sha256(url.encode()).digest()[0] % 2)
        ]
        await connection.execute(
            "UPDATE documents SET acquirer = CASE WHEN id = ANY(%(ids)s) THEN %(own)s ELSE %(elsewhere)s END"
            " WHERE acquirer IS DISTINCT FROM CASE WHEN id = ANY(%(ids)s) THEN %(own)s ELSE %(elsewhere)s END",
            {"ids": ids, "own": WarcAcquirer.name, "elsewhere": ELSEWHERE},
        )
    return ids


async def _line(
    corpus: Corpus, engine: OrchestratorEngine, golden: GoldenQuery, state: State, ids: Sequence[int]
) -> dict[str, Any]:
    begun = time.perf_counter()
    async with corpus.database.connection() as connection:
        read = await read_question(
            connection, Question(golden.query, (golden.seed_url,)), corpus.settings, WarcAcquirer.name
        )
    planning = time.perf_counter() - begun
    line: dict[str, Any] = {
        "id": golden.id,
        "kind": golden.kind,
        "style": golden.style,
        "needs": len(golden.gold_pages),
        "state": state,
        "features": dataclasses.asdict(read.features),
        "planning_ms": round(planning * 1000, 2),
        "parts": list(read.parts),
    }
    hits: list[RankedChunk] = []
    if ids:
        begun = time.perf_counter()
        results = await search(corpus, SearchRequest(query=golden.query, filters=ScopeFilter(documents=ids)))
        hits = results.chunks
        line["corpus"] = _arm(golden, hits, seconds=time.perf_counter() - begun, pages=0)
        line["corpus"]["complete"] = results.top_score
        near = [int(document) for document in await _documents(corpus, golden.seed_url) if int(document) in set(ids)]
        if near:
            request = SearchRequest(query=golden.query, filters=ScopeFilter(documents=near), top_k=_NEAR)
            line["near"] = _arm(golden, (await search(corpus, request)).chunks, seconds=0, pages=0)
        if len(read.parts) > 1:
            line["by_part"] = [
                _arm(
                    golden,
                    (await search(corpus, SearchRequest(query=part, filters=ScopeFilter(documents=ids)))).chunks,
                    seconds=0,
                    pages=0,
                )
                for part in read.parts
            ]
    line["pages"] = await _walk(corpus, engine, golden, (golden.seed_url,), stored=bool(ids))
    if hits and state == "half":
        await _show(corpus, state)
        best = [url for url in dict.fromkeys(hit.chunk.source_url for hit in hits) if url != golden.seed_url]
        seeds = (golden.seed_url, *best[:_SEEDED])
        line["seeded"] = await _walk(corpus, engine, golden, seeds, stored=True)
    return line


async def _walk(
    corpus: Corpus, engine: OrchestratorEngine, golden: GoldenQuery, urls: tuple[str, ...], *, stored: bool
) -> dict[str, Any]:
    begun = time.perf_counter()
    result = await engine.run(
        AnswerRequest(urls=urls, question=golden.query, mode="chunk", scope="source" if stored else "run")
    )
    seconds = time.perf_counter() - begun
    arm = _arm(golden, result.chunks, seconds=seconds, pages=result.total_urls_ingested)
    return {**arm, "complete": result.probability_complete, "rounds": len(result.rounds)}


async def _documents(corpus: Corpus, url: str) -> list[int]:
    async with corpus.database.connection() as connection:
        cursor = await connection.execute(
            "SELECT id FROM documents WHERE canonical_url = %(url)s"
            " UNION SELECT document_id FROM url_aliases WHERE url = %(url)s",
            {"url": url},
        )
        return [int(row[0]) for row in await cursor.fetchall()]


def _arm(golden: GoldenQuery, ranked: Sequence[RankedChunk], *, seconds: float, pages: int) -> dict[str, Any]:
    passages = [
        {
            "key": f"{passage.chunk.version_id}:{passage.chunk.char_start}",
            "chars": len(passage.chunk.text),
            "score": round(passage.reranked_score, 4),
            "holds": _holds(golden, passage),
        }
        for passage in ranked
    ]
    return {"passages": passages, "seconds": round(seconds, 3), "pages": pages}


def _holds(golden: GoldenQuery, ranked: RankedChunk) -> list[int]:
    """The needs (indexes) of which this passage holds a gold quote, from one of the need's pages."""
    passage = {"url": ranked.chunk.source_url, "text": ranked.chunk.text}
    return [need for need, is_held in enumerate(quotes_found(golden, [passage])) if is_held]


def recorded(split: Split) -> Path:
    """The recording that comes with the goldens: 18 of each fitting site, 35 of each reporting site."""
    return EVALS / "golden" / "routing" / f"arms-{split}.jsonl.gz"


def read_arms(path: Path) -> list[dict[str, Any]]:
    """The lines of a recording, gzipped or not. Raises InvalidInputError for a file that is none."""
    return load_jsonl(path, dict, "a recorded golden", lambda row: f"{row['id']} {row['state']}")


def _has_lines(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=get_args(Split), required=True)
    parser.add_argument("--site", action="append", help="only these suites; repeatable")
    parser.add_argument("--state", choices=get_args(State), action="append", help="only these; repeatable")
    parser.add_argument("--sample", type=int, default=35, help="goldens of each suite")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    states = arguments.state or list(get_args(State))
    done = {(row["id"], row["state"]) for row in read_arms(arguments.out)} if _has_lines(arguments.out) else set()
    with arguments.out.open("a", encoding="utf-8") as out:
        for suite in own_suites(arguments.split).values():
            if arguments.site and suite.name not in arguments.site:
                continue
            if suite.warc.is_file():
                asyncio.run(record(suite, out, states, arguments.sample, done))
            else:
                print(f"{suite.name}: no snapshot (`make sites`)", file=sys.stderr)


if __name__ == "__main__":
    main()
