"""Wait for something to come true. A slow machine fails no test: only the limit of a whole test ends a wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable


def wait_until(holds: Callable[[], bool]) -> None:
    """Return as soon as the condition holds."""
    while not holds():
        time.sleep(0.03)


async def await_until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Return as soon as the condition holds, and let other tasks work meanwhile."""
    while True:
        if await holds():
            return
        await asyncio.sleep(0.02)
