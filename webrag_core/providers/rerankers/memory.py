"""Scores of a provider's reranker that are remembered: a pair of query and passage is paid for once."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from webrag_core.errors import RerankError
from webrag_core.providers.rerankers.protocol import Reranked, Reranker, RerankResult
from webrag_core.recently_used import RecentlyUsed

_PAIRS = 50_000  # some 200 bytes each
_AT_ONCE = 4
_PAUSE_S = 120.0  # longer than most runs


@dataclass(frozen=True, slots=True)
class _Score:
    """A score in [0, 1], whether it was squashed into that range, and the provider's confidence in it, if any."""

    value: float
    squashed: bool
    confidence: float | None


class RankingMemory:
    """Scores by query (with its instruction) and passage, those of one provider. Texts are kept as hashes."""

    def __init__(self) -> None:
        self.scores: RecentlyUsed[bytes, _Score] = RecentlyUsed(_PAIRS)
        self.squashes = False  # some scores of the provider lay outside of [0, 1]
        self.failing = False  # its last request failed
        self.refusal: tuple[RerankError, float] | None = None  # and the time until which nothing is asked


class RememberingReranker:
    """A provider's reranker that is asked for new pairs alone. Implements `Reranker`."""

    def __init__(self, reranker: Reranker, memory: RankingMemory) -> None:
        self.name = reranker.name
        self._reranker = reranker
        self._memory = memory

    @property
    def at_once(self) -> int:
        """Requests that may be under way: one while the provider fails."""
        return 1 if self._memory.failing else _AT_ONCE

    async def rerank(
        self,
        query: str,
        passages: Sequence[str],
        *,
        term_idf: Mapping[str, float],
        instruction: str | None = None,
    ) -> Reranked:
        """As `Reranker.rerank`: one request for the pairs that were not scored before, none where all were."""
        keys = [_key(query, instruction, passage) for passage in passages]
        known = {key: score for key in keys if (score := self._memory.scores.get(key)) is not None}
        new = {key: passage for key, passage in zip(keys, passages, strict=True) if key not in known}
        warnings: tuple[str, ...] = ()
        if new:
            self._check()
            try:
                ranking = await self._reranker.rerank(
                    query, list(new.values()), term_idf=term_idf, instruction=instruction
                )
            except RerankError as error:
                self._memory.failing = True
                if error.refused:
                    self._memory.refusal = error, time.monotonic() + _PAUSE_S
                raise
            self._memory.failing = False
            warnings = ranking.warnings
            self._memory.squashes |= ranking.squashed
            order = list(new)
            for row in ranking.results:
                known[order[row.index]] = _Score(row.relevance_score, ranking.squashed, row.confidence)
                self._memory.scores.put(order[row.index], known[order[row.index]])
        results = [
            RerankResult(index=at, relevance_score=self._value(known[key]), confidence=known[key].confidence)
            for at, key in enumerate(keys)
        ]
        return Reranked(sorted(results, key=lambda row: -row.relevance_score), warnings, self._memory.squashes)

    def _check(self) -> None:
        """Raise RerankError where the provider refused a short time ago."""
        if self._memory.refusal is not None and time.monotonic() < self._memory.refusal[1]:
            first = self._memory.refusal[0]
            raise RerankError(first.provider, first.reason)

    def _value(self, score: _Score) -> float:
        """On one scale: where a provider gives logits, those of a request in which all lay in [0, 1] are logits too."""
        squash = self._memory.squashes and not score.squashed
        return (1 + math.tanh(score.value / 2)) / 2 if squash else score.value


def _key(query: str, instruction: str | None, passage: str) -> bytes:
    parts = (instruction or "", query, passage)
    return hashlib.sha256(b"\0".join(part.encode("utf-8", "surrogatepass") for part in parts)).digest()
