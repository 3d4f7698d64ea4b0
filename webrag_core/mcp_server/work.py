"""Running the core for a call: cancelled once and waited for, whatever the transport does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

import anyio

logger = logging.getLogger(__name__)

_CLEAN_UP_SECONDS = 15.0

Result = TypeVar("Result")


async def run_apart(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, run as a task of its own.

    A cancelled call is cancelled again at every await until it ends, which would cut short what the core still has to
    write. Its task is cancelled once, and the call ends after it.
    """
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            _, late = await asyncio.wait([task], timeout=_CLEAN_UP_SECONDS)
        if late:
            logger.error("cancelled work did not end within %g s", _CLEAN_UP_SECONDS)
        elif not task.cancelled() and task.exception() is not None:
            logger.info("cancelled work ended with %s", type(task.exception()).__name__)
        raise
