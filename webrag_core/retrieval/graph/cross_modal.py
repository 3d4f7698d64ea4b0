"""P6: the results of P4, with candidates and a bounded bonus from the graph. Selectable, and used by nothing: it found
no more than P4 (docs/explanation/tried.md).

    score = (raw + BONUS * g * (1 - raw)) * depth weight

g in [0, 1] is the closeness of the chunk's page. The graph leads to pages from the best hits and from what the query
names, at most two steps away. A path is worth its strength times the share of the query's words (by idf) in the anchor
of its last edge, or the name of the symbol or term that it leads over, and in the page's title. The strengths of links
are small where pages link to much, so what counts is a path's worth beside the best one's.

The bonus leaves the raw score alone and never reaches beyond 1. Pages that the graph reaches and P4 has not read bring
their passages nearest to the query, scored as any other.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from psycopg import AsyncConnection

from webrag_core.indexing.graph.model import EdgeKind
from webrag_core.indexing.graph.names import referred_name
from webrag_core.indexing.terms import terms
from webrag_core.language.detection import detected
from webrag_core.retrieval.bm25 import count_terms, search_parents
from webrag_core.retrieval.calibration import relevance
from webrag_core.retrieval.chunk_store import load_children, load_parents
from webrag_core.retrieval.graph.walk import BEAM, FAN_OUT, Step, next_steps
from webrag_core.retrieval.models import RetrievedChunk
from webrag_core.retrieval.patterns import PatternResult, RetrievalContext, lexical_hits, nearest_children, run_pattern
from webrag_core.retrieval.ranking import by_score, rank_parents
from webrag_core.retrieval.request import Pattern
from webrag_core.retrieval.scope import Scope, scope_size

BONUS = 0.1
"""Weight of the bonus: of .1, .2 and .3 the one that cost questions with one page no place."""
MAX_CANDIDATES = 30
"""Parents that the graph may add."""
HITS = 10
"""Chunks, the best ones, whose pages the walk begins at."""
KINDS: tuple[EdgeKind, ...] = ("see_also", "links_to", "mentions", "defines", "replaces", "deprecates", "typed")

_DEPTH = 2
_MOST_PAGES = 30  # that candidates come from, the best reached ones
_OF_ONE_PAGE = 3
_FULL_WORTH = 0.05  # from which on the best path counts wholly; about a third of the questions have only weaker ones
_FIRST_FAN_OUT = 100  # the links of one page have equal strength: few would be any
_MOST_KEYS = 200  # names, and terms, that a query is looked through for
_MOST_NAMED = 20  # nodes that it names, the most telling ones
_WORDS_OF_NAME = 4
_STEMS_OF_TERM = 3
_EDGE_OF_WORD = re.compile(r"^[\s\"'“”‘’(\[]+|[\s\"'“”‘’?!,.;:)\]]+$")

_SEEDS = """
SELECT n.id, n.kind, n.label, d.id FROM documents d JOIN graph_nodes n ON n.key = d.canonical_url AND n.kind = 'page'
WHERE d.id = ANY(%(hits)s)
UNION ALL
SELECT n.id, n.kind, n.label, NULL FROM graph_nodes n WHERE n.key = ANY(%(terms)s) AND n.kind = 'term'
UNION ALL
SELECT n.id, n.kind, n.label, NULL
FROM (SELECT DISTINCT s.key FROM documents d JOIN sources s ON s.id = d.source_id WHERE d.id = ANY(%(hits)s)) s
CROSS JOIN unnest(%(names)s::text[]) AS w (name)
JOIN graph_nodes n ON n.key = s.key || ':' || w.name AND n.kind = 'symbol'
"""
_DOCUMENTS = """
SELECT w.key, d.id, coalesce(v.title, '') FROM unnest(%(keys)s::text[]) AS w (key)
LEFT JOIN documents o ON o.canonical_url = w.key LEFT JOIN url_aliases a ON a.url = w.key
JOIN documents d ON d.id = coalesce(o.id, a.document_id) JOIN document_versions v ON v.id = d.current_version
WHERE {inside}
"""


@dataclass(frozen=True, slots=True)
class Reached:
    """The best path to a page, both numbers in [0, 1]: its strength, and its worth as a share of the best path's.

    `anchor` is what its last edge, or the symbol or term before, is called; `edges` begin at a hit or a named thing."""

    strength: float
    closeness: float
    anchor: str
    edges: tuple[int, ...]


class _Path(NamedTuple):
    """A way from a seed to a node; `label` names the node unless it is a page."""

    strength: float
    edges: tuple[int, ...]
    seed: int
    label: str


@dataclass(slots=True)
class _Seeds:
    """Weight of each node that the walk begins at, the documents of those that are pages, the names of the others."""

    weights: dict[int, float] = field(default_factory=dict)
    documents: dict[int, int] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)


async def cross_modal(connection: AsyncConnection, context: RetrievalContext) -> PatternResult:
    """What P4 finds for the query, with the candidates and the bonus of the graph. Without edges at its hits the result
    is P4's.

    Reads the snapshot of the search in 12 statements more (15 by words alone), however large the graph is.
    """
    result = await run_pattern(connection, Pattern.RERANKED, context)
    reached = await reach_pages(connection, context.query, result.term_idf, result.chunks, context.scope)
    if not reached:
        return result
    new = [] if context.full else await _candidates(connection, context, result, reached)
    chunks = [*result.chunks, *new]
    gains = [_gain(chunk, reached.get(chunk.document_id)) for chunk in chunks]
    probabilities = relevance([chunk.raw_score + gain for chunk, gain in zip(chunks, gains, strict=True)])
    lifted = [
        chunk.model_copy(
            update={
                "score": (chunk.raw_score + gain) * context.depths.weight(chunk.document_id),
                "relevance": probability,
            }
        )
        for chunk, gain, probability in zip(chunks, gains, probabilities, strict=True)
    ]
    return replace(result, chunks=by_score(lifted), candidates=result.candidates + len(new))


def _gain(chunk: RetrievedChunk, way: Reached | None) -> float:
    return 0.0 if way is None else BONUS * way.closeness * (1 - chunk.raw_score)


async def _candidates(
    connection: AsyncConnection,
    context: RetrievalContext,
    result: PatternResult,
    reached: Mapping[int, Reached],
) -> list[RetrievedChunk]:
    """The nearest parents of the best pages reached that no chunk found is from, with their scores."""
    read = {chunk.document_id for chunk in result.chunks}
    ways = sorted(
        (item for item in reached.items() if item[0] not in read),
        key=lambda item: (-item[1].closeness, -item[1].strength, item[0]),
    )
    pages = sorted(document for document, _ in ways[:_MOST_PAGES])
    if not pages:
        return []
    scope = context.scope.only(pages)
    inside = replace(
        context, scope=scope, size=await scope_size(connection, scope), limit=_OF_ONE_PAGE * MAX_CANDIDATES
    )
    nearest = await nearest_children(connection, inside, floor=-1.0)
    # without a vector by words
    parents = list(nearest) or [hit.parent_id for hit in (await lexical_hits(connection, inside, also={})).hits]
    rows = {row.id: row for row in await load_parents(connection, parents)}
    chosen: list[int] = []
    taken: Counter[int] = Counter()
    for parent in parents:
        document = rows[parent].document_id
        if taken[document] < _OF_ONE_PAGE and len(chosen) < MAX_CANDIDATES:
            taken[document] += 1
            chosen.append(parent)
    if not chosen:
        return []
    # the same scores as P4's need the same idf: of the whole scope
    counted = await count_terms(connection, context.words, context.scope, context.size.indexes)
    lexical = await search_parents(connection, context.words, context.scope, limit=1, also=chosen, counted=counted)
    children = await load_children(connection, context.model_id, context.vector, sorted(chosen))
    rows_of_document = [rows[parent] for parent in chosen]
    return await asyncio.to_thread(
        rank_parents, context.query, rows_of_document, children, lexical, context.depths, context.weights
    )


async def reach_pages(
    connection: AsyncConnection,
    query: str,
    term_idf: Mapping[str, float],
    hits: Sequence[RetrievedChunk],
    scope: Scope,
) -> dict[int, Reached]:
    """Pages of `scope` by document id, within two steps of the best `HITS` of `hits` (best first) and of symbols and
    terms that are named in the query. A hit's page is among them when another one leads to it.

    Reads at most 2,000 edges a level, and 100 (then 20) neighbours of a node by one kind of edge in one direction.
    """
    hits = hits[:HITS]
    seeds = await _seeds(connection, query, term_idf, hits)
    paths = {node: _Path(weight, (), node, seeds.labels.get(node, "")) for node, weight in seeds.weights.items()}
    incoming = dict.fromkeys(paths, 0)
    ends: list[tuple[Step, _Path]] = []  # steps to a page, and the path before them
    for level in range(_DEPTH):
        frontier = {
            node: path.strength / math.log(math.e + incoming[node]) if level else path.strength
            for node, path in paths.items()
        }
        steps = await next_steps(connection, frontier, KINDS, fan_out=FAN_OUT if level else _FIRST_FAN_OUT)
        steps = [step for step in steps if step.node != paths[step.previous].seed]
        ends += [(step, paths[step.previous]) for step in steps if step.kind == "page"]
        further: dict[int, _Path] = {}
        for step in steps:  # strongest first
            if step.node not in seeds.weights and step.node not in further and len(further) < BEAM:
                before = paths[step.previous]
                further[step.node] = _Path(step.weight, (*before.edges, step.edge), before.seed, step.label)
                incoming[step.node] = step.incoming
        paths = further
    return await _best_paths(connection, term_idf, ends, seeds, scope, detected(query))


def _share_of(text: str, term_idf: Mapping[str, float], language: str | None = None) -> float:
    """Share of the query's idf mass in `text`, in [0, 1]; `language` is the query's."""
    total = math.fsum(term_idf.values())
    held = set(terms(text, language))
    return min(1.0, math.fsum(idf for term, idf in term_idf.items() if term in held) / total) if total else 0.0


async def _seeds(
    connection: AsyncConnection, query: str, term_idf: Mapping[str, float], hits: Sequence[RetrievedChunk]
) -> _Seeds:
    """The pages of the hits, weighted by their raw score as a share of the best, and what the query names, weighted by
    its share of the query."""
    best: dict[int, float] = {}
    for hit in hits:
        best[hit.document_id] = max(best.get(hit.document_id, 0.0), hit.raw_score)
    most = max(best.values(), default=0.0)
    values = {"hits": list(best), "terms": _term_keys(query), "names": _names(query)}
    seeds = _Seeds()
    named: dict[int, float] = {}
    for node, kind, label, document in await (await connection.execute(_SEEDS, values)).fetchall():
        if kind == "page":
            seeds.weights[node] = best[document] / most if most else 0.0
            seeds.documents[node] = document
        else:
            named[node], seeds.labels[node] = _share_of(label, term_idf, detected(query)), label
    telling = sorted(named.items(), key=lambda item: (-item[1], item[0]))
    seeds.weights |= dict(telling[:_MOST_NAMED])
    seeds.weights = {node: weight for node, weight in seeds.weights.items() if weight > 0}
    return seeds


def _names(query: str) -> list[str]:
    """What could be symbols in the query: `Queue.get()` -> Queue.get, CREATE INDEX."""
    words = [_EDGE_OF_WORD.sub("", word).strip("`*") for word in query.split()]
    names = (referred_name(run) for run in _runs(words, _WORDS_OF_NAME))
    return list(dict.fromkeys(name[0] for name in names if name is not None))[:_MOST_KEYS]


def _term_keys(query: str) -> list[str]:
    return list(dict.fromkeys(_runs(terms(query), _STEMS_OF_TERM)))[:_MOST_KEYS]


def _runs(words: Sequence[str], longest: int) -> Iterable[str]:
    """Neighbouring words, one to `longest` of them, in the order in which they begin."""
    for start in range(len(words)):
        for end in range(start + 1, min(start + longest, len(words)) + 1):
            yield " ".join(words[start:end])


async def _best_paths(
    connection: AsyncConnection,
    term_idf: Mapping[str, float],
    ends: Sequence[tuple[Step, _Path]],
    seeds: _Seeds,
    scope: Scope,
    language: str | None,
) -> dict[int, Reached]:
    """The best path to each page of the scope; what leads back to its own beginning is none."""
    if not ends:
        return {}
    keys = sorted({step.key for step, _ in ends})
    statement = _DOCUMENTS.format(inside=scope.test("d.id"))
    cursor = await connection.execute(statement, {"keys": keys, **scope.parameters}, prepare=False)
    documents = {key: (int(document), title) for key, document, title in await cursor.fetchall()}
    ends = [(step, path) for step, path in ends if step.key in documents]
    cursor = await connection.execute(
        "SELECT id, label FROM graph_edges WHERE id = ANY(%s) AND label IS NOT NULL", ([step.edge for step, _ in ends],)
    )
    anchors: dict[int, str] = dict(await cursor.fetchall())
    shares: dict[tuple[str, str], float] = {}
    best: dict[int, tuple[float, Reached]] = {}
    for step, path in ends:
        document, title = documents[step.key]
        if document == seeds.documents.get(path.seed):
            continue
        words = (anchors.get(step.edge) or path.label, title)
        if words not in shares:
            shares[words] = _share_of(" ".join(words), term_idf, language)
        worth = step.weight * shares[words]
        known = best.get(document)
        if known is None or (worth, step.weight) > (known[0], known[1].strength):
            best[document] = (worth, Reached(step.weight, 0.0, words[0], (*path.edges, step.edge)))
    full = max(_FULL_WORTH, *(worth for worth, _ in best.values())) if best else _FULL_WORTH
    return {document: replace(item, closeness=worth / full) for document, (worth, item) in best.items()}
