"""A corpus of real pages whose answers people rated: they all prefer passages of the same meaning to the same words."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import numpy as np
import psycopg

from webrag_core.config import Settings
from webrag_core.feedback.models import Better, NewFeedback
from webrag_core.feedback.ratings import signals_of_passages
from webrag_core.feedback.store import record
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.request import SearchRequest
from webrag_core.retrieval.search import search
from webrag_core.retrieval.weights import SHIPPED, ScoreWeights

PAGES = ("asyncio-queue", "statistics", "heapq", "bisect", "fractions", "random")
PREFERRED = ScoreWeights(lexical=0.06, coverage=0.04, proximity=0.02, token_match=0.14, sibling=0.14, cosine=0.60)
ACTORS, EACH = 20, 6


@dataclass(frozen=True, slots=True)
class _Answer:
    """A question, its passages best first, and the one that people prefer: its place, page and span."""

    question: str
    chunk_ids: list[int]
    preferred: int
    better: Better


async def rate(settings: Settings) -> int:
    """Store the pages, answers and ratings; returns how many ratings name a better source."""
    async with Corpus.open(settings) as corpus:
        for name in PAGES:
            await corpus.add(f"https://docs.python.org/3.11/library/{name}.html")
        answers = await _answers(corpus, ACTORS * EACH // 2)
        with psycopg.connect(str(settings.database_url)) as connection:
            for number in range(ACTORS * EACH):
                _store(connection, number + 1, answers[number % len(answers)])
        better = 0
        for number in range(ACTORS * EACH):
            one = answers[number % len(answers)]
            actor = f"person {number % ACTORS}"
            right = one.preferred == 0
            better += not right
            await record(
                corpus.database,
                NewFeedback(
                    answer_id=number + 1,
                    kind="helpful" if right else "better_source",
                    actor=actor,
                    actor_kind="person",
                    better=None if right else one.better,
                ),
            )
        return better


async def _answers(corpus: Corpus, count: int) -> list[_Answer]:
    """Questions of eight words each, half of them from one passage, half from another."""
    rng = np.random.default_rng(4)
    async with corpus.database.connection() as connection:
        cursor = await connection.execute(
            "SELECT c.id, c.body, d.canonical_url, v.number, c.char_start, c.char_end FROM chunks c"
            " JOIN document_versions v ON v.id = c.version_id JOIN documents d ON d.current_version = v.id"
            " WHERE c.level = 'parent' ORDER BY d.canonical_url, c.ordinal"
        )
        rows = {row[0]: row[1:] for row in await cursor.fetchall()}
    bodies = [body for body, *_ in rows.values() if len(body.split()) > 40]
    found = []
    while len(found) < count:
        words: list[str] = []
        for body in rng.choice(len(bodies), 2, replace=False):
            own = [word for word in bodies[int(body)].split() if word.isalpha() and len(word) > 3]
            words += [own[int(place)] for place in sorted(rng.choice(len(own), min(4, len(own)), replace=False))]
        question = " ".join(words)
        result = await search(corpus, SearchRequest(query=question, mode="chunk"))
        ids = [one.chunk.chunk_id for one in result.chunks][:12]
        signals = await signals_of_passages(corpus, question, ids)
        order = np.argsort(-(signals @ SHIPPED.vector()), kind="stable")
        ids = [ids[place] for place in order]
        preferred = int(np.argmax(signals[order] @ PREFERRED.vector()))
        _, url, version, start, end = rows[ids[preferred]]
        better = Better(url, version=version, char_start=start, char_end=min(end, start + 3_000))
        found.append(_Answer(question, ids, preferred, better))
    return found


def _store(connection: psycopg.Connection, number: int, answer: _Answer) -> None:
    connection.execute(
        "INSERT INTO answer_runs (id, kind, query, options, state, prose) OVERRIDING SYSTEM VALUE"
        " VALUES (%s, 'prose', %s, '{}', 'done', '{\"evidence_ids\": []}')",
        (number, answer.question),
    )
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO exposures (answer_id, rank, chunk_id, agent, shown, propensity)"
            " VALUES (%s, %s, %s, 'corpus', %s, 1)",
            [(number, rank, chunk, rank == 1) for rank, chunk in enumerate(answer.chunk_ids, start=1)],
        )


def rated(settings: Settings) -> int:
    """As `rate`, from a test."""
    return asyncio.run(rate(settings))
