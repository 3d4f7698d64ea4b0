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
from webrag_core.retrieval.scoring import Array, Matches, PassageScores, match_passages, profile, word_weights
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


@dataclass(frozen=True, slots=True)
class Candidates:
    """Parents and their children, grouped by parent: the cosine of each child, and what it holds of a query."""

    parents: Sequence[ParentRow]
    children: Sequence[Child]
    similarities: Array
    matches: Matches

    def scores(self, lexical: LexicalResult) -> PassageScores:
        """The scores of the children with the weights that the words have in `lexical`."""
        return self.matches.scores(word_weights(lexical.idf, lexical.words))


def compare(query: str, parents: Sequence[ParentRow], children: Sequence[Child], lexical: LexicalResult) -> Candidates:
    """Compare a query, whose words are those of `lexical`, with the children, which are grouped by parent."""
    rows = {row.id: row for row in parents}
    passages = _passages(rows, children)
    if lexical.literals:
        texts = ["\n".join((*child.heading_path, _body(rows[child.parent_id], child))) for child in children]
        passages = with_tokens(passages, texts, lexical.literals)
    similarities = np.array([child.similarity for child in children], dtype=np.float32)
    target = profile(query, lexical.idf, lexical.words)
    matches = match_passages(target, passages, [child.parent_id for child in children])
    return Candidates(parents, children, similarities, matches)


@dataclass(slots=True)  # as `chunk_store.ParentRow`
class ScoredParent:
    """A parent with its raw score, the weight of its depth, its share of BM25, and its children with their scores, best
    first."""

    row: ParentRow
    raw_score: float
    weight: float
    lexical: float
    children: list[tuple[Child, float]]

    @property
    def text(self) -> str:
        """The text of its best child; its own without children."""
        return _body(self.row, self.children[0][0]) if self.children else self.row.body


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
) -> list[RetrievedChunk]:
    """Rank parents best first, ties by URL and in reading order. `children` are grouped by parent.

    `raw_score` in [0, 1] is the parent's share of BM25 plus the score of its children (`scoring`), `score` that times
    the depth weight, `relevance` the calibrated probability for the raw score. The best child is the match; up to two
    siblings with nearly its score are further matches.
    """
    candidates = compare(query, parents, children, lexical)
    return to_chunks(score_parents(candidates, lexical, depths, weights), depths)


def score_parents(
    candidates: Candidates, lexical: LexicalResult, depths: Depths, weights: ScoreWeights = SHIPPED
) -> list[ScoredParent]:
    """The parents with their scores as `rank_parents` orders them."""
    if not candidates.parents:
        return []
    similarities, parts = candidates.similarities, candidates.scores(lexical)
    parent_ids = [child.parent_id for child in candidates.children]
    by_parent: dict[int, list[tuple[Child, float]]] = {}
    for child, score in zip(candidates.children, parts.total(similarities, weights).tolist(), strict=True):
        by_parent.setdefault(child.parent_id, []).append((child, score))
    totals = dict(zip(by_parent, parts.total_by_parent(similarities, parent_ids, weights).tolist(), strict=True))
    bm25_share = {hit.parent_id: hit.relative for hit in lexical.hits}
    scored = []
    for row in candidates.parents:
        share = bm25_share.get(row.id, 0.0)
        raw_score = min(1.0, weights.lexical * share + totals.get(row.id, 0.0))
        best_first = sorted(by_parent.get(row.id, []), key=lambda child: -child[1])
        scored.append(ScoredParent(row, raw_score, depths.weight(row.document_id), share, best_first))
    return sorted(
        scored, key=lambda parent: (-parent.raw_score * parent.weight, parent.row.canonical_url, parent.row.ordinal)
    )


def to_chunks(scored: Sequence[ScoredParent], depths: Depths) -> list[RetrievedChunk]:
    """The parents as results."""
    best = sorted(range(len(scored)), key=lambda place: -scored[place].raw_score)[:_COMPARED]
    groups = list(range(len(scored)))
    for place, group in zip(best, alike_groups([scored[place].text for place in best], _ALIKE), strict=True):
        groups[place] = best[group]
    chances = relevance([parent.raw_score for parent in scored], groups)
    return [
        to_chunk(
            parent.row,
            matches=_matches(parent.children[:_MAX_MATCHES]),
            raw_score=parent.raw_score,
            weight=parent.weight,
            relevance=chance,
            similarity=max((child.similarity for child, _ in parent.children), default=0.0),
            lexical=parent.lexical,
            depth=depths.of.get(parent.row.document_id, 0),
        )
        for parent, chance in zip(scored, chances, strict=True)
    ]


def copies_among(scored: Sequence[ScoredParent], lexical: LexicalResult) -> Copies | None:
    """The parents (best first) of other pages that say nearly the same as the best one, as far as the query goes; None
    without any."""
    least = _AS_GOOD * scored[0].raw_score if scored else 0.0
    best = [parent for parent in scored if parent.raw_score >= least > 0]
    groups = alike_groups([parent.text for parent in best], _ALIKE)
    members = {parent.row.document_id: parent.row for parent, group in zip(best, groups, strict=True) if group == 0}
    if len(members) < 2:
        return None
    held = Counter(
        term
        for row in members.values()
        for term in set(terms("\n".join((*row.heading_path, row.body)), row.language)) & lexical.idf.keys()
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
    candidates = compare(query, parents, children, lexical)
    parent_ids = [child.parent_id for child in children]
    columns = np.column_stack(candidates.scores(lexical).parts_by_parent(candidates.similarities, parent_ids))
    place = {row.id: index for index, row in enumerate(parents)}
    signals[[place[number] for number in dict.fromkeys(parent_ids)], 1:] = columns
    return signals


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
