"""Run the core's coroutines inside ops: cancellable, with readable failures."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

import dagster as dg
from dagster_shared.error import SerializableErrorInfo

from webrag_core.errors import WebragError
from webrag_core.origin import asked_by
from webrag_core.trace import traced
from webrag_dagster.dagster_private import DagsterUserCodeProcessError

Result = TypeVar("Result")
TRACE_TAG = "webrag/trace_id"
ORIGIN = "dagster"
"""Who asks for answers of runs (`webrag_core.origin`)."""


class ReadableFailure(dg.Failure, DagsterUserCodeProcessError):
    """A failure that is never retried and that the UI shows as one sentence, without a stack trace."""

    def __init__(self, description: str, metadata: dict[str, str]) -> None:
        Exception.__init__(self, description)
        plain = dg.Failure(description=description, metadata=metadata, allow_retries=False)
        self.description, self.metadata, self.allow_retries = plain.description, plain.metadata, plain.allow_retries
        self.user_code_process_error_infos = [SerializableErrorInfo(message=description, stack=[], cls_name=None)]


class Interrupted(dg.DagsterExecutionInterruptedError, DagsterUserCodeProcessError):
    """A cancellation that the UI shows as one sentence, without a stack trace."""

    def __init__(self) -> None:
        message = "The run was cancelled, or WebRAG was stopped. What it stored before stays."
        Exception.__init__(self, message)
        self.user_code_process_error_infos = [SerializableErrorInfo(message=message, stack=[], cls_name=None)]


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run `work` in this thread.

    Terminating the Dagster run cancels `work`: its `finally` blocks run before Dagster is interrupted. Raises
    dg.Failure for every WebragError.
    """
    interrupted: list[int] = []

    async def supervised() -> Result:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()

        def interrupt() -> None:
            if not interrupted:  # a second signal must not interrupt the clean-up after the first
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
        raise Interrupted from None
    except WebragError as error:
        raise failure(error) from error
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():
                signal.signal(number, handler)


def run_once(context: dg.OpExecutionContext, work: Coroutine[Any, Any, Result]) -> Result:
    """As `run`, without retries: the caller sees the failure, which becomes a tag of the run, and decides. Everything
    is of the trace that the run's tag `webrag/trace_id` names, or of a new one, which it then names."""
    try:
        with traced(context.run.tags.get(TRACE_TAG)) as trace_id, asked_by(ORIGIN):
            context.instance.add_run_tags(context.run_id, {TRACE_TAG: trace_id})
            return run(work)
    except dg.Failure as failed:
        code = failed.__cause__.code if isinstance(failed.__cause__, WebragError) else "failed"
        context.instance.add_run_tags(context.run_id, {"webrag/stop_reason": code})
        raise ReadableFailure(str(failed.description), {"code": code}) from failed.__cause__


def failure(error: WebragError) -> dg.Failure:
    """The failure for an error of the core. An op's retry policy applies only to an unavailable database or model."""
    description = f"{error.message} [{error.code}]"
    if error.code in ("database_unavailable", "database_busy", "disk_full", "embedding_failed"):
        return dg.Failure(description=description, metadata={"code": error.code}, allow_retries=True)
    return ReadableFailure(description, {"code": error.code})
