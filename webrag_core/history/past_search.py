"""Search the corpus as it was at a time.

Pages that still have the text they had then are searched in the index. Of those that changed since, the texts of then
whose words fit best are cut into chunks on demand and scored by the same scorer, with vectors of the same model; the
last few hundred of them stay in memory. No dead chunk or vector is stored.
"""

from __future__ import annotations

import asyncio
import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection, sql

from webrag_core.corpus.documents import StoredVersion
from webrag_core.corpus.in_force import KINDS
from webrag_core.corpus.validity import read_missing
from webrag_core.errors import EmbeddingError, InvalidInputError
from webrag_core.history.as_of import AsOf
from webrag_core.history.models import TimeAxis
from webrag_core.history.validity import holding_versions
from webrag_core.indexing.chunker import chunk_markdown
from webrag_core.indexing.chunks import child_columns, embedding_inputs
from webrag_core.indexing.lexical import term_counts
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.terms import beginnings, query_terms
from webrag_core.language.detection import detected, detected_page
from webrag_core.language.words import rules_of
from webrag_core.providers.embedder import RefusedTextsError
from webrag_core.recently_used import RecentlyUsed
from webrag_core.retrieval.bm25 import K1, B, LexicalHit, LexicalResult, Word, attainable_score, present_words
from webrag_core.retrieval.chunk_store import Child, ParentRow
from webrag_core.retrieval.languages import weights_for
from webrag_core.retrieval.merging import within_budget
from webrag_core.retrieval.models import CorpusStats, RetrievalResult, RetrievedChunk
from webrag_core.retrieval.ranking import Depths, by_score, rank_parents
from webrag_core.retrieval.request import EVERYTHING, Pattern, ScopeFilter, SearchRequest
from webrag_core.retrieval.scope import AT_PLACES, place_parameters, resolve_scope
from webrag_core.retrieval.search import CorpusSearch, finish_search
from webrag_core.retrieval.searcher import Searcher
from webrag_core.retrieval.weights import ScoreWeights, weights_in_force
from webrag_core.store.vector_tables import vector_table

_PAGES = 50  # past texts that are read for one search
_CACHED = 500  # past texts that stay prepared
_PREFIX = 3  # characters of a stem from which on the words that begin with it are looked for
_SEARCHED = frozenset({Pattern.RERANKED, Pattern.FILTERED})


@dataclass(frozen=True, slots=True)
class _Then:
    """What the pages of the scope were at the time: documents that are so now, versions that pages had then and have no
    more, and how many of these were last seen before; how many pages are left out, by reason."""

    live: list[int]
    past: list[int]
    unsure: int
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _PastPage:
    """A text of then, cut into chunks. `counts` are the terms of each parent, made by `rules`; `digests` are those of
    the texts that are embedded, `texts` these texts by digest."""

    parents: tuple[ParentRow, ...]
    counts: tuple[Counter[str], ...]
    children: tuple[Child, ...]
    digests: tuple[str, ...]
    texts: Mapping[str, str]
    rules: str
    vectors: NDArray[np.float32] | None = None


_PREPARED: RecentlyUsed[tuple[object, ...], _PastPage] = RecentlyUsed(_CACHED)  # of this process: versions never change


async def search_at(
    corpus: Corpus, request: SearchRequest, at: AsOf, *, time: TimeAxis = "seen", instruction: str | None = None
) -> CorpusSearch:
    """Search what the pages said at a time; quotes are proved against the versions of then. With `time` valid search
    the texts that hold then by what they say of themselves, on a day that may lie ahead.

    A page counts as it was last seen before then. Pages first seen later and pages absent then are left out, with a
    warning; of valid time those that are not in force and those that do not say. Raises InvalidInputError for a seen
    time in the future, a pattern other than `reranked` and `filtered`, and filters other than sources, URLs and
    documents.
    """
    if at.in_future and time == "seen":
        raise InvalidInputError(f"{at.text} is in the future; `now` searches what is stored today")
    if request.pattern not in _SEARCHED:
        raise InvalidInputError(f"the past is searched with pattern reranked, not {request.pattern.short}")
    if request.mode == "full_context":
        raise InvalidInputError("the past is searched for its best passages, not in full context")
    filters = request.filters
    if (
        dataclasses.replace(filters, documents=None, sources=None, url_prefixes=None) != EVERYTHING
        or request.date_ranges
    ):
        raise InvalidInputError("the past can be filtered by source and URL, not by date, language, type or flag")
    model_id = await corpus.model_id()
    searcher = Searcher(corpus.database, corpus.embedder, model_id, corpus.settings)
    if time == "valid":
        await read_missing(corpus.database)
    async with corpus.database.connection() as connection:
        await resolve_scope(connection, filters)  # refuses unknown names
        then = await (_pages_then if time == "seen" else _pages_holding)(connection, filters, at)
    retrieved = await searcher.search(dataclasses.replace(request, filters=ScopeFilter(documents=then.live)))
    if then.past:
        retrieved = await _with_past(corpus, model_id, request, retrieved, then.past)
    retrieved.warnings += _warnings(at, then)
    return await finish_search(corpus, request, retrieved, instruction=instruction)


_THEN = sql.SQL("""
SELECT coalesce(array_agg(id ORDER BY id) FILTER (WHERE left_out IS NULL AND live), '{{}}'),
       coalesce(array_agg(version_id ORDER BY id) FILTER (WHERE left_out IS NULL AND NOT live), '{{}}'),
       count(*) FILTER (WHERE left_out IS NULL AND NOT live AND NOT sure),
       count(*) FILTER (WHERE left_out = 'later'), count(*) FILTER (WHERE left_out = 'absent'),
       count(*) FILTER (WHERE left_out = 'pruned')
FROM (
    SELECT d.id, p.version_id, p.version_id IS NOT DISTINCT FROM d.current_version AS live,
           p.seen_last >= %(start)s AS sure,
           CASE WHEN p.seen_last IS NULL THEN 'later' WHEN p.version_id IS NULL THEN 'absent'
                WHEN v.pruned_at IS NOT NULL THEN 'pruned' END AS left_out
    FROM documents d
    LEFT JOIN LATERAL (SELECT o.version_id, o.seen_last FROM version_periods o
        WHERE o.document_id = d.id AND o.seen_from <= %(end)s ORDER BY o.seen_from DESC LIMIT 1) p ON true
    LEFT JOIN document_versions v ON v.id = p.version_id
    WHERE EXISTS (SELECT FROM version_periods e WHERE e.document_id = d.id)
    {places}
) t
""").format(places=AT_PLACES)


async def _pages_then(connection: AsyncConnection, filters: ScopeFilter, at: AsOf) -> _Then:
    """The pages of the scope as they were."""
    cursor = await connection.execute(
        _THEN,
        {"start": at.start, "end": at.end, **place_parameters(filters)},
        prepare=False,
    )
    row = await cursor.fetchone()
    assert row is not None
    live, past, unsure, later, absent, pruned = row
    left_out = {"first seen later": later, "absent then": absent, "no longer kept": pruned}
    return _Then(live, past, unsure, left_out)


_STORED = sql.SQL("""
FROM documents d WHERE EXISTS (SELECT FROM version_periods e WHERE e.document_id = d.id) {places}
""").format(places=AT_PLACES)
_COUNTED = sql.SQL("SELECT count(*) {stored}").format(stored=_STORED)
# from the few statements to their documents, not the other way
_STATING = sql.SQL("""
WITH stating AS MATERIALIZED (
    SELECT DISTINCT v.document_id FROM version_validity y JOIN document_versions v ON v.id = y.version_id
    WHERE y.kind = ANY(%(kinds)s)
)
SELECT d.id, d.current_version {stored} AND d.id IN (SELECT document_id FROM stating) ORDER BY d.id
""").format(stored=_STORED)


async def _pages_holding(connection: AsyncConnection, filters: ScopeFilter, at: AsOf) -> _Then:
    """The pages of the scope whose texts hold then. Only those are loaded that state when they hold."""
    places = place_parameters(filters)
    (stored,) = await (await connection.execute(_COUNTED, places, prepare=False)).fetchone() or (0,)
    cursor = await connection.execute(_STATING, {**places, "kinds": list(KINDS)}, prepare=False)
    current = {int(document): version for document, version in await cursor.fetchall()}
    answers = await holding_versions(connection, list(current), at.end.date())
    chosen = {document: answer.chosen.version_id for document, answer in answers.items() if answer.chosen is not None}
    cursor = await connection.execute(
        "SELECT id FROM document_versions WHERE id = ANY(%s) AND pruned_at IS NOT NULL", (list(chosen.values()),)
    )
    pruned = {int(row[0]) for row in await cursor.fetchall()}
    kept = {document: version for document, version in chosen.items() if version not in pruned}
    silent = sum(answer.chosen is None and answer.certainty == "not_stated" for answer in answers.values())
    left_out = {
        "not in force then": len(current) - len(chosen) - silent,
        "without a word on when they hold": int(stored) - len(current) + silent,
        "no longer kept": len(pruned),
    }
    return _Then(
        live=[document for document, version in kept.items() if version == current[document]],
        past=[version for document, version in kept.items() if version != current[document]],
        unsure=0,
        left_out=left_out,
    )


def _warnings(at: AsOf, then: _Then) -> list[str]:
    warnings = [
        f"pages left out, {reason}: {count}" for reason, count in then.left_out.items() if count and at.text != "now"
    ]
    if then.unsure:
        warnings.append(
            f"pages that changed some time between their last sighting before {at.text} and the next: {then.unsure}"
        )
    return warnings


async def _with_past(
    corpus: Corpus, model_id: int, request: SearchRequest, live: RetrievalResult, past: Sequence[int]
) -> RetrievalResult:
    """The live result with the best chunks of past versions merged in."""
    vector: NDArray[np.float32] | None = None
    with suppress(EmbeddingError):  # the live result says that only words were searched
        vector = (await corpus.embedder.embed([request.query], "query"))[0]
    async with corpus.database.snapshot() as connection:
        versions = await _best_by_words(connection, request.query, past)
        pages = await _prepare(corpus, connection, versions, model_id, embeds=vector is not None)
    weights = weights_for(request.query, weights_in_force(corpus.settings), corpus.settings)
    chunks = await asyncio.to_thread(_rank, request.query, vector, pages, live, weights)
    budget = request.context_budget or corpus.settings.retrieval_context_budget
    merged = within_budget(by_score([*live.chunks, *chunks]), budget, tokens=lambda chunk: chunk.token_count)
    stats = live.corpus_stats
    parents = [row for page in pages for row in page.parents]
    return live.model_copy(
        update={
            "mode": "chunk",
            "chunks": merged,
            "candidates": live.candidates + len(parents),
            "corpus_stats": CorpusStats(
                total_documents=stats.total_documents + len(past),
                total_parent_chunks=stats.total_parent_chunks + len(parents),
                total_tokens=stats.total_tokens + sum(row.token_count for row in parents),
                documents_matched=list(dict.fromkeys(chunk.source_url for chunk in merged)),
            ),
        }
    )


async def _best_by_words(connection: AsyncConnection, query: str, versions: Sequence[int]) -> list[int]:
    """At most `_PAGES` of these versions, those whose words weigh most: each term of the query by its rarity among
    them. Without a word that any of them has, the first ones."""
    if len(versions) <= _PAGES:
        return list(versions)
    weights = dict.fromkeys(versions, 0.0)
    for term in beginnings(query, detected(query)):
        pattern = f"{term}:*" if len(term) >= _PREFIX else term
        cursor = await connection.execute(
            "SELECT id FROM document_versions WHERE superseded_at IS NOT NULL AND id = ANY(%s)"
            " AND (length(markdown) > 150000 OR to_tsvector('simple'::regconfig, left(markdown, 150000))"
            "  @@ to_tsquery('simple', quote_literal(%s) || %s))",
            (list(versions), term, pattern[len(term) :]),
            prepare=False,
        )
        holders = [int(row[0]) for row in await cursor.fetchall()]
        for version_id in holders:
            weights[version_id] += math.log(1 + len(versions) / len(holders))
    ranked = sorted(versions, key=lambda version: (-weights[version], version))
    return ranked[:_PAGES]


async def _prepare(
    corpus: Corpus, connection: AsyncConnection, versions: Sequence[int], model_id: int, *, embeds: bool
) -> list[_PastPage]:
    """The texts of these versions, cut into chunks, in order; with vectors if `embeds`."""
    sizes = (corpus.settings.parent_max_tokens, corpus.settings.child_target_tokens)
    cursor = await connection.execute(
        "SELECT v.id, v.document_id, d.canonical_url, v.sha256 FROM document_versions v"
        " JOIN documents d ON d.id = v.document_id WHERE v.id = ANY(%s) ORDER BY array_position(%s, v.id)",
        (list(versions), list(versions)),
    )
    pages = []
    for identity in await cursor.fetchall():  # a process may read several corpora, whose numbers are alike
        key = (*identity, *sizes, model_id)
        page = _PREPARED.get(key) or await _load(connection, identity[0], *sizes)
        if page.vectors is None and embeds:
            page = dataclasses.replace(page, vectors=await _vectors(corpus, connection, model_id, page))
        _PREPARED.put(key, page)
        pages.append(page)
    return pages


async def _load(connection: AsyncConnection, version_id: int, parent_max: int, child_target: int) -> _PastPage:
    cursor = await connection.execute(
        "SELECT v.id, v.document_id, d.source_id, d.canonical_url, v.markdown, v.sha256, v.title, v.chunker,"
        " v.detected_language, language_of(v.language, v.detected_language), v.fetched_at,"
        " coalesce(v.modified, v.published)"
        " FROM document_versions v JOIN documents d ON d.id = v.document_id WHERE v.id = %s",
        (version_id,),
    )
    row = await cursor.fetchone()
    assert row is not None
    return await asyncio.to_thread(_cut, StoredVersion(*row[:10]), row[10], row[11], parent_max, child_target)


def _cut(
    version: StoredVersion, fetched_at: datetime, dated: datetime | None, parent_max: int, child_target: int
) -> _PastPage:
    parents = chunk_markdown(version.markdown, parent_max=parent_max, child_target=child_target)
    inputs = list(embedding_inputs(version, parents))
    language = version.language
    if version.detected_language is None:
        language = detected_page(version.markdown) or language
    columns = iter(child_columns(inputs, language))
    rows: list[ParentRow] = []
    children: list[Child] = []
    for ordinal, parent in enumerate(parents):
        number = -(version.id * 100_000 + ordinal)  # no chunk of the index has it
        rows.append(
            ParentRow(
                id=number,
                document_id=version.document_id,
                version_id=version.id,
                canonical_url=version.canonical_url,
                title=version.title,
                body=version.markdown[parent.char_start : parent.char_end],
                heading_path=list(parent.heading_path),
                ordinal=ordinal,
                char_start=parent.char_start,
                char_end=parent.char_end,
                token_count=parent.token_count,
                flags=list(parent.flags),
                fetched_at=fetched_at,
                sha256=version.sha256,
                dated=dated,
                language=language,
            )
        )
        for child in parent.children:
            _, passage = next(columns)
            children.append(Child(number, child.char_start, child.char_end, list(child.heading_path), 0.0, passage))
    counts = [term_counts(parent.heading_path, row.body, language) for parent, row in zip(parents, rows, strict=True)]
    digests = tuple(digest for digest, _ in inputs)
    return _PastPage(tuple(rows), tuple(counts), tuple(children), digests, dict(inputs), rules_of(language))


async def _vectors(corpus: Corpus, connection: AsyncConnection, model_id: int, page: _PastPage) -> NDArray[np.float32]:
    """Vectors of the children: those of equal texts in the index and in the cache, the others made now."""
    known: dict[str, NDArray[np.float32]] = {}
    table = vector_table(model_id).as_string(None)
    for query in (
        "SELECT text_sha256, embedding FROM embedding_cache WHERE model_id = %(model)s"
        " AND text_sha256 = ANY(%(digests)s)",
        f"SELECT DISTINCT ON (c.embed_sha256) c.embed_sha256, e.embedding FROM chunks c JOIN {table} e"  # noqa: S608
        " ON e.chunk_id = c.id WHERE c.embed_sha256 = ANY(%(digests)s) ORDER BY c.embed_sha256",
    ):
        cursor = await connection.execute(query.encode(), {"model": model_id, "digests": list(page.texts)})
        known |= {digest: vector.to_numpy().astype(np.float32) for digest, vector in await cursor.fetchall()}
    missing = [digest for digest in page.texts if digest not in known]
    size = corpus.settings.embedding_batch_size
    for start in range(0, len(missing), size):
        batch = missing[start : start + size]
        try:
            made = await corpus.embedder.embed([page.texts[digest] for digest in batch])
        except RefusedTextsError as error:  # a row of zeros is near to nothing
            made = error.vectors
        known |= dict(zip(batch, (np.asarray(vector, dtype=np.float32) for vector in made), strict=True))
    return np.stack([known[digest] for digest in page.digests]) if page.digests else np.empty((0, 0), np.float32)


def _rank(
    query: str,
    vector: NDArray[np.float32] | None,
    pages: Sequence[_PastPage],
    live: RetrievalResult,
    weights: ScoreWeights,
) -> list[RetrievedChunk]:
    """Score the parents of past texts as the index scores its own."""
    children: list[Child] = []
    for page in pages:
        cosines = (
            page.vectors @ vector if vector is not None and page.vectors is not None and len(page.digests) else None
        )
        children += [
            child if cosines is None else dataclasses.replace(child, similarity=float(cosines[place]))
            for place, child in enumerate(page.children)
        ]
    parents = [row for page in pages for row in page.parents]
    counts = [count for page in pages for count in page.counts]
    words = query_terms(query, sorted({page.rules for page in pages}), detected(query))
    lexical = _lexical(words, parents, counts, live)
    return rank_parents(query, parents, children, lexical, Depths({}, 0.0, 1.0), weights)


def _lexical(
    words: Sequence[Word], parents: Sequence[ParentRow], counts: Sequence[Counter[str]], live: RetrievalResult
) -> LexicalResult:
    """BM25 of the past parents. How rare a term is, is counted over them and the parents of the live scope."""
    lengths = [max(1, count.total()) for count in counts]
    mean = sum(lengths) / max(1, len(lengths))
    live_parents = live.corpus_stats.total_parent_chunks
    total = live_parents + len(parents)
    holders: dict[str, int] = {}
    for term in dict.fromkeys(chain.from_iterable(words)):
        holders[term] = sum(term in count for count in counts)
        if term in live.term_idf and live_parents:  # the number of parents from BM25's idf, solved for it
            holders[term] += round((live_parents + 1) / math.exp(live.term_idf[term]) - 0.5)
    words = present_words(words, holders)
    idf = {
        term: math.log(1 + (total - holders[term] + 0.5) / (holders[term] + 0.5))
        for term in dict.fromkeys(chain.from_iterable(words))
    }
    attainable = attainable_score(words, idf)
    hits = []
    for row, count, length in zip(parents, counts, lengths, strict=True):
        score = math.fsum(
            weight * count[term] * (K1 + 1) / (count[term] + K1 * (1 - B + B * length / mean))
            for term, weight in idf.items()
            if count[term]
        )
        if score > 0:
            hits.append(LexicalHit(row.id, score, min(1.0, score / attainable) if attainable else 0.0))
    return LexicalResult(sorted(hits, key=lambda hit: -hit.score), idf, tuple(words))
