"""What the reranking providers have in common: one request, one time budget, one set of checks, no retry.

A failed request is not repeated, because the caller has something to fall back to and a user who waits.
"""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from webrag_core.config.reranking import RerankingSettings
from webrag_core.errors import InvalidInputError, RerankError
from webrag_core.providers.announcement import Announcement
from webrag_core.providers.endpoint import load_package
from webrag_core.providers.rerankers.protocol import Reranked, RerankResult
from webrag_core.providers.retry import Failure, through
from webrag_core.store.breakers import Breakers, spending_of
from webrag_core.store.spending import Amounts

LARGEST_ANSWER = 8_000_000
"""Bytes, unpacked: scores of a thousand passages are a hundredth of it, also with their texts repeated."""

# scores this far outside [0, 1] are rounding; further outside they are another scale
_ROUNDING = 1e-6
_REFUSALS = frozenset({401, 402, 403})

_OF_THE_PASSAGES = frozenset([400, 413, 422, 500])  # statuses with which servers refuse what is too long or too much
_SHARES = (0.5, 0.25)  # of a refused passage that are tried
_FURTHER_REQUESTS = 4  # for passages that a provider left out

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

    def __init__(self, settings: RerankingSettings, breakers: Breakers | None = None) -> None:
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
        self._spending = spending_of(breakers)
        cap = f"every search sends its passages, of which it keeps {settings.reranker_top_n} (RERANKER_TOP_N)"
        has_key = self._key is not None
        self._announcement = Announcement(self._breaker, self._url, self._model, cap, has_key=has_key)

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
        await self._announcement.make()
        answer = await through(self._breaker, lambda: self._in_time(text, list(passages)))
        if isinstance(answer, Failure):
            error = answer.on(RerankError(self.name, answer.reason))
            error.refused = answer.status in _REFUSALS
            raise error
        return checked_ranking(self.name, answer, len(passages))

    async def _in_time(self, query: str, passages: list[str]) -> object:
        """Rows of all passages, in as many requests as the provider needs; those that are there when time ends."""
        rows: list[object] = []
        try:
            async with asyncio.timeout(self._seconds):
                return await self._rows(query, passages, rows)
        except TimeoutError:
            return rows or Failure(f"no answer within {self._seconds:g} s", transient=True)

    async def _rows(self, query: str, passages: list[str], rows: list[object]) -> object:
        """As `_ask`, into `rows` too. What a provider that returns only the best leaves out is asked for by itself;
        passages that it refuses are sent in halves, and one alone is cut."""
        answer = await self._once(query, passages)
        if isinstance(answer, Failure):
            if answer.status not in _OF_THE_PASSAGES or isinstance(await self._once(query, ["text"]), Failure):
                return answer
            for start, count in halves(len(passages)):
                await self._part(query, passages[start : start + count], start, rows)
            return rows
        if not isinstance(answer, list):
            return answer
        rows += answer
        known = {place for place in map(_index, answer) if place is not None and 0 <= place < len(passages)}
        left = [place for place in range(len(passages)) if place not in known]
        for _ in range(_FURTHER_REQUESTS):
            if not left or not known or len(known) != len(answer):
                break
            further = await self._once(query, [passages[place] for place in left])
            if not isinstance(further, list):
                break
            results = {left[place]: row for row in further if (place := _index(row)) is not None and place < len(left)}
            if not results:
                break
            rows += [{"index": place, "score": _score(row)} for place, row in results.items()]
            left = [place for place in left if place not in results]
        return rows

    async def _part(self, query: str, passages: list[str], first: int, rows: list[object]) -> None:
        """Add the rows of passages that were refused together with others, the first of which has the number `first`.
        What is refused alone and in part gets none."""
        answer = await self._once(query, passages)
        if isinstance(answer, list):
            results = {place: row for row in answer if (place := _index(row)) is not None and place < len(passages)}
            rows += [{"index": first + place, "score": _score(row)} for place, row in results.items()]
        elif len(passages) > 1:
            for start, count in halves(len(passages)):
                await self._part(query, passages[start : start + count], first + start, rows)
        else:
            for share in _SHARES:
                cut = await self._once(query, [passages[0][: max(1, int(share * len(passages[0])))]])
                if isinstance(cut, list) and cut:
                    rows.append({"index": first, "score": _score(cut[0])})
                    return

    async def _once(self, query: str, passages: list[str]) -> object:
        try:
            return await self._ask(query, passages)
        except (RecursionError, OverflowError):  # JSON nested deeper, or numbers longer, than the parser goes
            return GARBAGE

    def _count(self, tokens: object) -> None:
        """Count an answered request, with its tokens; None where the endpoint did not tell them."""
        charged = tokens if isinstance(tokens, int) and tokens >= 0 else None
        amounts = Amounts(requests=1, untold=int(charged is None), input_tokens=charged or 0)
        self._spending.add(f"reranker {self.name} {self._model}", amounts)

    @abstractmethod
    async def _ask(self, query: str, passages: list[str]) -> object:
        """What the provider says are the results (not checked), or a Failure."""


def checked_ranking(provider: str, rows: object, count: int) -> Reranked:
    """The ranking in `rows` (`index` and `relevance_score` or `score` as keys or attributes) of `count` passages.

    Passages without a score are ranked last, with a warning. Raises RerankError when fewer than half have one, and for
    anything that is not a ranking.

    Providers document scores in [0, 1]. When one lies outside, the scores are taken for logits: all of them go
    through the logistic function, which keeps their order, and a warning says so.
    """
    if not isinstance(rows, list):
        raise RerankError(provider, GARBAGE.reason)
    scores: dict[int, float] = {}
    for row in rows:
        index, score = _index(row), _score(row)
        if index is None or not 0 <= index < count:
            raise RerankError(provider, f"a result for a passage that was not sent (there were {count})")
        if index in scores:
            raise RerankError(provider, f"two results for passage {index}")
        if score is None:
            raise RerankError(provider, f"passage {index} has no finite score")
        scores[index] = score
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
    if low == high == 0 and count > 1:
        warnings.append(f"{provider} scored every passage 0, which is no order")
    if missing:
        warnings.append(f"{provider} scored {len(scores)} of {count} passages; the others are ranked last")
    if logits:
        warnings.append(
            f"{provider} gave scores from {low:.3g} to {high:.3g} instead of 0 to 1; they were squashed into that range"
            " in the same order, and thresholds fit them badly"
        )
    return Reranked(results, tuple(warnings), squashed=logits)


def halves(count: int) -> list[tuple[int, int]]:
    """Start and length of the two halves of `count` places, empty ones left out."""
    half = (count + 1) // 2
    return [(start, length) for start, length in ((0, half), (half, count - half)) if length]


def _index(row: object) -> int | None:
    """The number of a row's passage, also as a text; None where it has none."""
    value = _field(row, "index")
    number = _number(value)
    return int(number) if number is not None and number.is_integer() else None


def _score(row: object) -> float | None:
    """A row's finite score, also as a text; None where it has none."""
    value = _field(row, "relevance_score")
    return _number(_field(row, "score") if value is None else value)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def rows_of(answer: object) -> object:
    """The rows of an answer: the answer itself where it is a list, else its `results` or `data`."""
    if isinstance(answer, list):
        return answer
    rows = _field(answer, "results")
    return _field(answer, "data") if rows is None else rows


def _field(row: object, name: str) -> object:
    return row.get(name) if isinstance(row, dict) else getattr(row, name, None)


def _logistic(logit: float) -> float:
    return (1 + math.tanh(logit / 2)) / 2
