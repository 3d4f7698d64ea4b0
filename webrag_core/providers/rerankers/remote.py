"""What the reranking providers have in common: one request, one time budget, one set of checks, no retry.

A failed request is not repeated, because the caller has something to fall back to and a user who waits.
"""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError, RerankError
from webrag_core.providers.endpoint import load_package
from webrag_core.providers.rerankers.protocol import Reranked, RerankResult
from webrag_core.providers.retry import Failure, through
from webrag_core.store.breakers import Breakers

LARGEST_ANSWER = 8_000_000
"""Bytes, unpacked: scores of a thousand passages are a hundredth of it, also with their texts repeated."""

# scores this far outside [0, 1] are rounding; further outside they are another scale
_ROUNDING = 1e-6
_REFUSALS = frozenset({401, 402, 403})

PREFIX = "RERANKER"
UNREACHABLE = Failure("cannot be reached", transient=True)
GARBAGE = Failure("the answer is not a ranking")


async def read_at_most(response: Any) -> None:
    """For the `response` hook of a client of httpx or httpx2: an answer above `LARGEST_ANSWER` is not read further and
    counts as empty, which is no ranking."""
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > LARGEST_ANSWER:
            parts = []
            break
        parts.append(part)
    response._content = b"".join(parts)  # where `aread` keeps what it has read


class RemoteReranker(ABC):
    """A paid or self-hosted reranker, each request on connections of its own: nothing is left to close.

    `RERANKER_BASE_URL` replaces `base_url`, `RERANKER_MODEL` replaces `model`.
    """

    name: str
    base_url: ClassVar[str]
    model: ClassVar[str]
    package: ClassVar[str | None] = None

    def __init__(self, settings: Settings, breakers: Breakers | None = None) -> None:
        """Raises InvalidInputError where neither key nor URL is set."""
        if settings.reranker_api_key is None and settings.reranker_base_url is None:
            raise InvalidInputError(
                f"RERANKER_PROVIDER={self.name} needs RERANKER_API_KEY (or RERANKER_BASE_URL of a server that wants"
                " none)"
            )
        self._url = settings.reranker_base_url or self.base_url
        self._model = settings.reranker_model or self.model
        self._key = settings.reranker_api_key
        self._seconds = settings.reranker_timeout
        self._breaker = None if breakers is None else breakers.of("reranker", self._url)

    async def rerank(
        self,
        query: str,
        passages: Sequence[str],
        *,
        term_idf: Mapping[str, float],
        instruction: str | None = None,
    ) -> Reranked:
        """As `Reranker.rerank`. No provider has a field for an instruction, so it stands in front of the query.

        The error is raised outside any handler: what the SDKs raise holds the request, and so the key.
        """
        if not passages:
            return Reranked([])
        text = f"{instruction}\n{query}" if instruction else query
        if self.package:
            await load_package(self.package)
        answer = await through(self._breaker, lambda: self._in_time(text, list(passages)))
        if isinstance(answer, Failure):
            error = answer.on(RerankError(self.name, answer.reason))
            error.refused = answer.status in _REFUSALS
            raise error
        return checked_ranking(self.name, answer, len(passages))

    async def _in_time(self, query: str, passages: list[str]) -> object:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._ask(query, passages)
        except TimeoutError:
            return Failure(f"no answer within {self._seconds:g} s", transient=True)
        except RecursionError:  # JSON nested deeper than the parser goes
            return GARBAGE

    @abstractmethod
    async def _ask(self, query: str, passages: list[str]) -> object:
        """What the provider says are the results (not checked), or a Failure."""


def checked_ranking(provider: str, rows: object, count: int) -> Reranked:
    """The ranking in `rows` (`index` and `relevance_score` as keys or attributes) of `count` passages.

    Passages without a score are ranked last, with a warning. Raises RerankError when fewer than half have one, and for
    anything that is not a ranking.

    Providers document scores in [0, 1]. When one lies outside, the scores are taken for logits: all of them go
    through the logistic function, which keeps their order, and a warning says so.
    """
    if not isinstance(rows, list):
        raise RerankError(provider, GARBAGE.reason)
    scores: dict[int, float] = {}
    for row in rows:
        index, score = _field(row, "index"), _field(row, "relevance_score")
        if type(index) is not int or not 0 <= index < count:
            raise RerankError(provider, f"a result for a passage that was not sent (there were {count})")
        if index in scores:
            raise RerankError(provider, f"two results for passage {index}")
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise RerankError(provider, f"passage {index} has no finite score")
        scores[index] = float(score)
    if 2 * len(scores) < count or not scores:
        raise RerankError(provider, f"results for {len(scores)} of {count} passages")
    low, high = min(scores.values()), max(scores.values())
    logits = low < -_ROUNDING or high > 1 + _ROUNDING
    results = [
        RerankResult(index=index, relevance_score=_logistic(score) if logits else min(1.0, max(0.0, score)))
        for index, score in sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    ]
    missing = [index for index in range(count) if index not in scores]
    results += [RerankResult(index=index, relevance_score=0.0) for index in missing]
    warnings = []
    if missing:
        warnings.append(f"{provider} scored {len(scores)} of {count} passages; the others are ranked last")
    if logits:
        warnings.append(
            f"{provider} gave scores from {low:.3g} to {high:.3g} instead of 0 to 1; they were squashed into that range"
            " in the same order, and thresholds fit them badly"
        )
    return Reranked(results, tuple(warnings), squashed=logits)


def _field(row: object, name: str) -> object:
    return row.get(name) if isinstance(row, dict) else getattr(row, name, None)


def _logistic(logit: float) -> float:
    return (1 + math.tanh(logit / 2)) / 2
