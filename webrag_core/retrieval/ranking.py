"""From candidates to ranked chunks: every parent with its best child, its score and what that score means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from webrag_core.indexing.chunks import embedding_text
from webrag_core.indexing.passages import Passage, cut_passages
from webrag_core.retrieval.bm25 import LexicalResult
from webrag_core.retrieval.calibration import relevance
from webrag_core.retrieval.chunk_store import Child, ParentRow
from webrag_core.retrieval.models import RetrievedChunk
from webrag_core.retrieval.scoring import LEXICAL_SHARE, profile, score_passages

_LOOK_LEXICAL = 0.6  # what BM25 and a static model's cosine weigh best with nothing else (bench/retrieval)


@dataclass(frozen=True, slots=True)
class Depths:
    """Link distance of each document from the seed (absent = 0), and what it costs."""

    of: Mapping[int, int]
    rate: float
    floor: float

    def weight(self, document_id: int) -> float:
        """max(1 - depth * rate, floor)."""
        return max(1.0 - self.of.get(document_id, 0) * self.rate, self.floor)


def first_look(near: Mapping[int, float], lexical: LexicalResult, limit: int | None) -> list[int]:
    """Ids of the `limit` most promising parents (None = all), ascending: 0.6 of the attainable BM25 share and 0.4 of
    the best cosine (`near`, best first). Equal ones in the order in which they were found."""
    words = {hit.parent_id: hit.relative for hit in lexical.hits}
    found = list(dict.fromkeys([*near, *words]))
    promise = {
        parent_id: _LOOK_LEXICAL * words.get(parent_id, 0.0) + (1 - _LOOK_LEXICAL) * max(0.0, near.get(parent_id, 0.0))
        for parent_id in found
    }
    return sorted(sorted(found, key=lambda parent_id: -promise[parent_id])[:limit])


def rank_parents(
    query: str,
    parents: Sequence[ParentRow],
    children: Sequence[Child],
    lexical: LexicalResult,
    depths: Depths,
) -> list[RetrievedChunk]:
    """Best first, ties by URL and in reading order. `raw_score` = the parent's share of BM25 plus what its children
    say, in [0, 1]; `score` = that times the depth weight; `relevance` = the probability that raw scores like these
    have meant. The child that says most is the match. `children` stand side by side
    with their siblings."""
    if not parents:
        return []
    rows = {row.id: row for row in parents}
    families = [child.parent_id for child in children]
    cosines = np.array([child.similarity for child in children], dtype=np.float32)
    parts = score_passages(profile(query, lexical.idf), _passages(rows, children), families)
    own = parts.joined(cosines)
    best: dict[int, int] = {}
    similarity: dict[int, float] = {}
    for index, child in enumerate(children):
        known = best.get(child.parent_id)
        if known is None or own[index] > own[known]:
            best[child.parent_id] = index
        similarity[child.parent_id] = max(similarity.get(child.parent_id, -1.0), child.similarity)
    told = dict(zip(dict.fromkeys(families), parts.joined_by_family(cosines, families), strict=True))
    words = {hit.parent_id: hit.relative for hit in lexical.hits}
    raw = {row.id: min(1.0, LEXICAL_SHARE * words.get(row.id, 0.0) + float(told.get(row.id, 0.0))) for row in parents}
    meant = dict(zip(raw, relevance(list(raw.values())), strict=True))
    chunks = [
        to_chunk(
            row,
            match=children[best[row.id]] if row.id in best else None,
            raw_score=raw[row.id],
            weight=depths.weight(row.document_id),
            relevance=meant[row.id],
            similarity=similarity.get(row.id, 0.0),
            lexical=words.get(row.id, 0.0),
            depth=depths.of.get(row.document_id, 0),
        )
        for row in parents
    ]
    return sorted(chunks, key=lambda chunk: (-chunk.score, chunk.source_url, chunk.chunk_index))


def _passages(rows: Mapping[int, ParentRow], children: Sequence[Child]) -> list[Passage]:
    bare = [child for child in children if child.passage is None]
    cut = iter(cut_passages([_embedded(rows[child.parent_id], child) for child in bare]))
    return [next(cut) if child.passage is None else Passage.unpacked(child.passage) for child in children]


def _embedded(row: ParentRow, child: Child) -> str:
    body = row.body[child.start - row.char_start : child.end - row.char_start]
    return embedding_text(row.title, child.heading_path, body)


def to_chunk(
    row: ParentRow,
    *,
    match: Child | None = None,
    raw_score: float = 0.0,
    weight: float = 1.0,
    relevance: float = 0.0,
    similarity: float = 0.0,
    lexical: float = 0.0,
    depth: int = 0,
) -> RetrievedChunk:
    """The row as a result; without a `match` the whole parent is the match."""
    return RetrievedChunk(
        chunk_id=row.id,
        document_id=row.document_id,
        version_id=row.version_id,
        version_sha256=row.sha256,
        source_url=row.canonical_url,
        title=row.title,
        text=row.body,
        heading_path=row.heading_path,
        chunk_index=row.ordinal,
        char_start=row.char_start,
        char_end=row.char_end,
        match_start=match.start if match else row.char_start,
        match_end=match.end if match else row.char_end,
        match_heading_path=match.heading_path if match else row.heading_path,
        token_count=row.token_count,
        score=raw_score * weight,
        raw_score=raw_score,
        relevance=relevance,
        raw_similarity=similarity,
        lexical_score=lexical,
        depth=depth,
        flags=row.flags,
        fetched_at=row.fetched_at,
        dated=row.dated,
    )
