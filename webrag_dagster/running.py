"""Runs the core's coroutines inside ops: cancellable, with failures that a person can read."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

import dagster as dg

from webrag_core.errors import WebragError
from webrag_dagster.failures import ReadableFailure

Result = TypeVar("Result")


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run `work` to its end in this thread.

    Terminating the Dagster run cancels `work`, so that its `finally` blocks still reach the database; only then does
    the interrupt reach Dagster. Raises dg.Failure for every WebragError.
    """
    interrupted: list[int] = []

    async def supervised() -> Result:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()

        def interrupt() -> None:
            if not interrupted:  # a second signal must not cut short what the first one left to be written
                interrupted.append(signal.SIGINT)
                task.cancel()

        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, interrupt)
        return await task

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return asyncio.run(supervised())
    except asyncio.CancelledError:
        if not interrupted:
            raise
        raise dg.DagsterExecutionInterruptedError from None
    except WebragError as error:
        raise failure(error) from error
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():
                signal.signal(number, handler)


def failure(error: WebragError) -> dg.Failure:
    """What the UI shows for an error of the core. Dagster tries again, where an op has a policy for it, only when the
    database or the embedding model was away."""
    told = f"{error.message} [{error.code}]"
    if error.code in ("database_unavailable", "embedding_failed"):
        return dg.Failure(description=told, metadata={"code": error.code}, allow_retries=True)
    return ReadableFailure(told, {"code": error.code})
