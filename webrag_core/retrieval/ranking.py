"""Select candidates and rank them: every parent with its best children, its score and its relevance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webrag_core.indexing.chunks import embedding_text
from webrag_core.indexing.passages import Passage, extract_passages
from webrag_core.indexing.terms import terms
from webrag_core.retrieval.bm25 import Copies, LexicalResult
from webrag_core.retrieval.calibration import relevance
from webrag_core.retrieval.chunk_store import Child, ParentRow
from webrag_core.retrieval.literals import with_tokens
from webrag_core.retrieval.models import MatchSpan, RetrievedChunk
from webrag_core.retrieval.redundancy import alike_groups
from webrag_core.retrieval.scoring import Array, PassageScores, best_cosines, profile, score_passages
from webrag_core.retrieval.weights import NAMES, SHIPPED, ScoreWeights

_FUSION_LEXICAL = 0.6  # weight of BM25 in the first-stage fusion, the cosine has the rest
_LEXICAL_PLACES = 0.5  # share of the candidates that BM25's ranks fill
_MATCH_SHARE = 0.8  # children of one parent that score at least this share of its best are matches too
_AS_GOOD = 0.85  # share of the best score from which a parent may be a copy of the best
_COMPARED = 12  # parents, best first, of which those that say nearly the same are known
_ALIKE = 0.5  # share of the shingles of two parents from which they say nearly the same
_MAX_MATCHES = 3


@dataclass(frozen=True, slots=True)
class Depths:
    """Link distance of each document from the seed (absent = 0), and its cost."""

    of: Mapping[int, int]
    rate: float
    floor: float

    def weight(self, document_id: int) -> float:
        """max(1 - depth * rate, floor)."""
        return max(1.0 - self.of.get(document_id, 0) * self.rate, self.floor)


@dataclass(slots=True)
class TokenCosines:
    """What `best_cosines` makes of a query's tokens and the children of its candidates, whatever its words weigh; None
    = not computed yet."""

    of_children: Array | None = None


def select_candidates(cosines: Mapping[int, float], lexical: LexicalResult, limit: int | None) -> list[int]:
    """Ids of at most `limit` parents to read (None = all), ascending.

    BM25's best take half of the places: dense search returns no cosine for most of them, so a fusion of scores alone
    would rank them behind every dense hit. The rest goes by 0.6 of the attainable BM25 share and 0.4 of the best cosine
    (`cosines`, best first); ties keep their order.
    """
    shares = {hit.parent_id: hit.relative for hit in lexical.hits}
    candidates = list(dict.fromkeys([*cosines, *shares]))
    if limit is None:
        return sorted(candidates)
    fused = {
        parent_id: _FUSION_LEXICAL * shares.get(parent_id, 0.0)
        + (1 - _FUSION_LEXICAL) * max(0.0, cosines.get(parent_id, 0.0))
        for parent_id in candidates
    }
    reserved = list(shares)[: max(1, int(limit * _LEXICAL_PLACES))]
    by_fusion = sorted(candidates, key=lambda parent_id: -fused[parent_id])
    return sorted(list(dict.fromkeys([*reserved, *by_fusion]))[:limit])


def rank_parents(
    query: str,
    parents: Sequence[ParentRow],
    children: Sequence[Child],
    lexical: LexicalResult,
    depths: Depths,
    weights: ScoreWeights = SHIPPED,
    cosines: TokenCosines | None = None,
) -> list[RetrievedChunk]:
    """Rank parents best first, ties by URL and in reading order. `children` are grouped by parent; `cosines` are kept
    for another ranking of the same ones for the same query.

    `raw_score` in [0, 1] is the parent's share of BM25 plus the score of its children (`scoring`), `score` that times
    the depth weight, `relevance` the calibrated probability for the raw score. The best child is the match; up to two
    siblings with nearly its score are further matches.
    """
    if not parents:
        return []
    rows = {row.id: row for row in parents}
    parent_ids = [child.parent_id for child in children]
    similarities, parts = _scored(query, rows, children, lexical, cosines)
    child_scores: list[float] = parts.total(similarities, weights).tolist()
    by_parent: dict[int, list[int]] = {}
    for index, child in enumerate(children):
        by_parent.setdefault(child.parent_id, []).append(index)
    parent_scores = dict(zip(by_parent, parts.total_by_parent(similarities, parent_ids, weights).tolist(), strict=True))
    bm25_share = {hit.parent_id: hit.relative for hit in lexical.hits}
    raw_scores = {
        row.id: min(1.0, weights.lexical * bm25_share.get(row.id, 0.0) + parent_scores.get(row.id, 0.0))
        for row in parents
    }
    best = sorted(raw_scores, key=lambda parent: -raw_scores[parent])[:_COMPARED]
    texts = [_best_text(rows[parent], children, child_scores, by_parent.get(parent, [])) for parent in best]
    alike = dict(zip(best, alike_groups(texts, _ALIKE), strict=True))
    groups = [alike.get(parent, len(best) + place) for place, parent in enumerate(raw_scores)]
    relevance_by_id = dict(zip(raw_scores, relevance(list(raw_scores.values()), groups), strict=True))
    chunks = []
    for row in parents:
        best_children = sorted(by_parent.get(row.id, []), key=child_scores.__getitem__, reverse=True)
        chunks.append(
            to_chunk(
                row,
                matches=_matches([(children[index], child_scores[index]) for index in best_children[:_MAX_MATCHES]]),
                raw_score=raw_scores[row.id],
                weight=depths.weight(row.document_id),
                relevance=relevance_by_id[row.id],
                similarity=max((children[index].similarity for index in best_children), default=0.0),
                lexical=bm25_share.get(row.id, 0.0),
                depth=depths.of.get(row.document_id, 0),
            )
        )
    return by_score(chunks)


def _best_text(row: ParentRow, children: Sequence[Child], scores: Sequence[float], order: Sequence[int]) -> str:
    """The text of a parent's best child; its own without children."""
    return _body(row, children[max(order, key=scores.__getitem__)]) if order else row.body


def copies_among(chunks: Sequence[RetrievedChunk], lexical: LexicalResult) -> Copies | None:
    """The chunks (best first) of other pages that say nearly the same as the best one, as far as the query goes; None
    without any."""
    least = _AS_GOOD * chunks[0].raw_score if chunks else 0.0
    best = [chunk for chunk in chunks if chunk.raw_score >= least > 0]
    groups = alike_groups([chunk.match_text for chunk in best], _ALIKE)
    members = {chunk.document_id: chunk for chunk, group in zip(best, groups, strict=True) if group == 0}
    if len(members) < 2:
        return None
    held = Counter(
        term
        for chunk in members.values()
        for term in set(terms("\n".join((*chunk.heading_path, chunk.text)), chunk.language)) & lexical.idf.keys()
    )
    return Copies(len(members) - 1, {term: number - 1 for term, number in held.items()})


def signals_of_parents(
    query: str, parents: Sequence[ParentRow], children: Sequence[Child], lexical: LexicalResult
) -> NDArray[np.float64]:
    """What the weights weigh, before they do: shape (parents, 6), columns as `weights.NAMES`. A parent without children
    has nothing but its share of BM25."""
    signals = np.zeros((len(parents), len(NAMES)))
    if not parents:
        return signals
    bm25_share = {hit.parent_id: hit.relative for hit in lexical.hits}
    signals[:, 0] = [bm25_share.get(row.id, 0.0) for row in parents]
    similarities, parts = _scored(query, {row.id: row for row in parents}, children, lexical)
    parent_ids = [child.parent_id for child in children]
    columns = np.column_stack(parts.parts_by_parent(similarities, parent_ids))
    place = {row.id: index for index, row in enumerate(parents)}
    signals[[place[number] for number in dict.fromkeys(parent_ids)], 1:] = columns
    return signals


def _scored(
    query: str,
    rows: Mapping[int, ParentRow],
    children: Sequence[Child],
    lexical: LexicalResult,
    cosines: TokenCosines | None = None,
) -> tuple[NDArray[np.float32], PassageScores]:
    """The cosine of each child, and its scores."""
    similarities = np.array([child.similarity for child in children], dtype=np.float32)
    parent_ids = [child.parent_id for child in children]
    passages = _passages(rows, children)
    if lexical.literals:
        texts = ["\n".join((*child.heading_path, _body(rows[child.parent_id], child))) for child in children]
        passages = with_tokens(passages, texts, lexical.literals)
    target = profile(query, lexical.idf, lexical.words)
    if cosines is None:
        return similarities, score_passages(target, passages, parent_ids)
    if cosines.of_children is None:
        cosines.of_children = best_cosines(target, passages)
    return similarities, score_passages(target, passages, parent_ids, cosines.of_children)


def by_score(chunks: Sequence[RetrievedChunk]) -> list[RetrievedChunk]:
    """Best first, ties by URL and in reading order."""
    return sorted(chunks, key=lambda chunk: (-chunk.score, chunk.source_url, chunk.chunk_index))


def _matches(scored: Sequence[tuple[Child, float]]) -> list[MatchSpan]:
    """The best child and those that score nearly as well; `scored` are those that may be, best first."""
    best = scored[0][1] if scored else 0.0
    return [
        MatchSpan(
            start=child.start, end=child.end, heading_path=child.heading_path, share=score / best if best > 0 else 1.0
        )
        for rank, (child, score) in enumerate(scored)
        if rank == 0 or score >= _MATCH_SHARE * best > 0
    ]


def _passages(rows: Mapping[int, ParentRow], children: Sequence[Child]) -> list[Passage]:
    unstored = [child for child in children if child.passage is None]
    made = iter(extract_passages([_embedded_text(rows[child.parent_id], child) for child in unstored]))
    return [next(made) if child.passage is None else Passage.unpacked(child.passage) for child in children]


def _embedded_text(row: ParentRow, child: Child) -> str:
    return embedding_text(row.title, child.heading_path, _body(row, child))


def _body(row: ParentRow, child: Child) -> str:
    return row.body[child.start - row.char_start : child.end - row.char_start]


def to_chunk(
    row: ParentRow,
    *,
    matches: Sequence[MatchSpan] = (),
    raw_score: float = 0.0,
    weight: float = 1.0,
    relevance: float | None = 0.0,
    similarity: float = 0.0,
    lexical: float = 0.0,
    depth: int = 0,
) -> RetrievedChunk:
    """The row as a result; without `matches` (best first) the whole parent is the match."""
    match = matches[0] if matches else MatchSpan(start=row.char_start, end=row.char_end, heading_path=row.heading_path)
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
        match_start=match.start,
        match_end=match.end,
        match_heading_path=match.heading_path,
        further_matches=list(matches[1:]),
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
        language=row.language,
        also_on=[],  # the default would be copied
    )
