"""Work for several items at a time: each gets its own result or error, and a bad one costs itself alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from webrag_core.gathering import Gathering


def test_each_item_gets_its_own_result_and_a_bad_one_costs_itself_alone() -> None:
    calls: list[list[int]] = []

    async def halves(numbers: Sequence[int]) -> list[int | Exception]:
        calls.append(list(numbers))
        if 13 in numbers:
            raise RuntimeError("thirteen")
        return [ValueError("odd") if number % 2 else number // 2 for number in numbers]

    async def run() -> None:
        gathering = Gathering(halves, 3, 0.01)
        results = await asyncio.gather(*map(gathering.of, [2, 4, 5, 8]), return_exceptions=True)
        assert [str(result) for result in results] == ["1", "2", "odd", "4"]
        assert calls == [[2, 4, 5], [8]]
        calls.clear()
        results = await asyncio.gather(*map(gathering.of, [2, 13]), return_exceptions=True)
        assert [str(result) for result in results] == ["1", "thirteen"]
        assert calls == [[2, 13], [2], [13]]
        calls.clear()
        cancelled = asyncio.create_task(gathering.of(6))
        kept = asyncio.create_task(gathering.of(10))
        await asyncio.sleep(0)
        cancelled.cancel()
        assert await kept == 5
        assert calls == [[10]]

    asyncio.run(run())
