"""Conversion of pages in worker processes: a page of the web may hang, crash or subvert any parser.

A worker is started when the first page comes, is kept, and converts one page at a time. One that takes too long, needs
too much memory or crashes costs its page alone. Workers know none of our secrets (their environment is emptied, and
they are confined by `sandbox`), and what they answer is data, checked before use: a subverted worker must not take over
this process.

Process pools of libraries (concurrent.futures, pebble) do not do: they unpickle what a worker answers, and hand it our
environment. `worker_main` is the program that a worker runs.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Literal
from weakref import WeakKeyDictionary

from pydantic import TypeAdapter

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.dates import is_plausible
from webrag_core.acquisition.urls import MAX_URL_CHARS
from webrag_core.conversion.converted_page import READ_HEADERS, ConvertedPage
from webrag_core.conversion.worker_main import MAX_REPLY_BYTES, links_size, read_frame, write_frame
from webrag_core.errors import FetchError, Reason, WebragError
from webrag_core.plugins import FORMATS
from webrag_core.store.text import storable

logger = logging.getLogger(__name__)

WORKERS = 2
MAX_CPU_SECONDS = 22.0  # of CPU time, which a loaded machine does not use up; the limit inside the PDF reader is lower
MAX_MEMORY_BYTES = 340_000_000  # above the 40 MB that a worker has at first: no page takes it beyond 384 MB
CONVERSION = "webrag_core.conversion.convert:convert_page"
_WALL_FACTOR = 8  # a worker that waits for something uses no CPU
_MAX_FRAME_BYTES = 64_000_000  # the largest reply, escaped as JSON
_MAX_MESSAGE = 500
_MAX_LEFT_OUT = 2**31
_RETIRING_BYTES = 4_000_000  # a page this large leaves its worker with memory that it does not give back
_RETIRING_PAGES = 2_000
_KEPT_VARIABLES = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "PYTHONHOME", "SYSTEMROOT", "TMPDIR", "TZ")


class WorkerPool:
    """Workers for any number of tasks, event loops and threads of this process."""

    def __init__(
        self,
        size: int = WORKERS,
        *,
        conversion: str = CONVERSION,
        cpu_seconds: float = MAX_CPU_SECONDS,
        memory_bytes: int = MAX_MEMORY_BYTES,
        program: str = "webrag_core.conversion.worker_main",
    ) -> None:
        """`size` conversions at the same time per event loop; `cpu_seconds` and `memory_bytes` are for one page, the
        latter above the memory that a worker has at first.

        `conversion` is MODULE:FUNCTION as the worker imports it, `program` the module that it runs.
        """
        self._size = size
        self._arguments = (program, conversion, str(memory_bytes), str(cpu_seconds))
        self._cpu_seconds = cpu_seconds
        self._idle: list[_Worker] = []
        self._guard = threading.Lock()
        self._places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    async def convert(self, page: AcquiredPage) -> ConvertedPage:
        """Convert a page. Cancelling kills the worker. Time in the queue does not count.

        Raises FetchError: the conversion's own errors, TIMEOUT for a page that takes too long, TOO_LARGE for one that
        needs too much memory, PARSE_FAILURE for one that breaks the worker; WebragError when no worker starts.
        """
        places = self._places.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self._size))
        async with places:
            with self._guard:
                worker = self._idle.pop() if self._idle else _Worker(self._arguments, self._cpu_seconds)
            try:
                return await asyncio.to_thread(worker.convert, page)
            except asyncio.CancelledError:
                worker.kill()
                raise
            finally:
                with self._guard:
                    keep = not worker.killed and len(self._idle) < self._size
                    if keep:
                        self._idle.append(worker)
                if not keep and not worker.killed:
                    worker.close()

    def sandbox(self) -> dict[str, str | None]:
        """Start a worker, and return what it takes from itself, with the problem where it cannot. Blocking.

        Raises WebragError when no worker starts.
        """
        worker = _Worker(self._arguments, self._cpu_seconds)
        try:
            return worker.sandbox()
        finally:
            worker.close()

    def close(self) -> None:
        """End all idle workers. The next page starts one again."""
        with self._guard:
            workers, self._idle = self._idle, []
        for worker in workers:
            worker.close()

    def _forget(self) -> None:
        self._guard = threading.Lock()
        self._idle = []


_pool = WorkerPool()


async def convert_in_worker(page: AcquiredPage) -> ConvertedPage:
    """Convert a page in a worker process. Raises what WorkerPool.convert raises."""
    return await _pool.convert(page)


def worker_sandbox() -> dict[str, str | None]:
    """What a worker takes from itself on this machine. As WorkerPool.sandbox."""
    return _pool.sandbox()


class _CrashedError(Exception):
    """The worker ended without a reply, or sent something that is none."""


class _LateError(Exception):
    """The worker used up its time."""


@dataclass(frozen=True, slots=True)
class _Reply:
    """Reply of a worker: ready (with `confine`'s result), a page, the parts of a FetchError, a bug's traceback."""

    kind: Literal["ready", "page", "refused", "bug"]
    page: ConvertedPage | None = None
    reason: Reason = Reason.PARSE_FAILURE
    message: str = ""
    status: int | None = None
    sandbox: dict[str, str | None] = field(default_factory=dict)


@lru_cache(maxsize=1)
def _reply() -> TypeAdapter[_Reply]:
    return TypeAdapter(_Reply)


class _Worker:
    """One worker process. Blocking; one caller at a time, except for `kill`."""

    def __init__(self, arguments: tuple[str, ...], cpu_seconds: float) -> None:
        self._arguments = arguments
        self._cpu_seconds = cpu_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._lifeline: BinaryIO | None = None
        self._served = 0
        self._guard = threading.Lock()
        self.killed = False
        self._sandbox: dict[str, str | None] = {}

    def convert(self, page: AcquiredPage) -> ConvertedPage:
        """As WorkerPool.convert."""
        try:
            try:
                reply = self._ask(page)
            except _CrashedError:
                if not self._served or self.killed:
                    raise
                self.close()  # it may have been killed while idle, or be worn out: not the page's fault
                reply = self._ask(page)
        except _LateError:
            self.close()
            problem = f"the page takes more than {self._cpu_seconds:g} seconds to convert"
            raise FetchError(Reason.TIMEOUT, problem) from None
        except _CrashedError:
            self.close()
            problem = "the page breaks the parser, or needs too much memory for it"
            raise FetchError(Reason.PARSE_FAILURE, problem) from None
        self._served += 1
        too_large = reply.kind == "refused" and reply.reason is Reason.TOO_LARGE
        worn = len(page.body) > _RETIRING_BYTES or self._served >= _RETIRING_PAGES
        if too_large or worn or reply.kind == "bug":
            self.close()
        if reply.page is not None:
            return reply.page
        if reply.kind == "refused":
            raise FetchError(reply.reason, storable(reply.message[:_MAX_MESSAGE]), status=reply.status)
        logger.error("a page could not be converted\n%s", reply.message)
        raise FetchError(Reason.PARSE_FAILURE, "the page could not be converted")

    def sandbox(self) -> dict[str, str | None]:
        """As WorkerPool.sandbox."""
        self._running()
        return self._sandbox

    def kill(self) -> None:
        """End the process now, for good; a conversion under way fails. For any thread."""
        with self._guard:
            self.killed = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the process and wait for it."""
        process, self._process, self._served = self._process, None, 0
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout, self._lifeline):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        process.wait()

    def _ask(self, page: AcquiredPage) -> _Reply:
        process = self._running()
        late = threading.Event()

        def breach() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._cpu_seconds * _WALL_FACTOR, breach)
        timer.daemon = True
        timer.start()
        of_plugin = page.media_type in FORMATS
        header = {
            "url": page.url,
            "final_url": page.final_url,
            "status": page.status,
            "headers": {name: value for name, value in page.headers.items() if of_plugin or name in READ_HEADERS},
            "fetched_at": page.fetched_at.isoformat(),
            "all_text": page.all_text,
        }
        try:
            reply = _exchange(process, json.dumps(header).encode(), page.body)
        except _CrashedError:
            process.kill()
            if process.wait() == -signal.SIGPROF or late.is_set():
                raise _LateError from None
            raise
        finally:
            timer.cancel()
        if reply.kind == "ready" or (reply.kind == "page") != (reply.page is not None):
            raise _CrashedError
        return reply

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        read_end, self._lifeline = _pipe()
        program, *arguments = self._arguments
        with read_end:
            command = [sys.executable, "-P", "-m", program, *arguments, str(read_end.fileno()), *FORMATS.folders()]
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(read_end.fileno(),),
                    env=_environment(os.environ),
                )
            except OSError as error:
                raise WebragError("no process can be started to convert pages in", code="worker_failed") from error
        with self._guard:
            self._process = process
            if self.killed:
                process.kill()
        try:
            first = _exchange(process)
        except _CrashedError:
            first = None
        if (first is None or first.kind != "ready") and not self.killed:
            self.close()
            raise WebragError("the process to convert pages in does not start", code="worker_failed")
        if first is not None:
            self._sandbox = first.sandbox
            if lacking := "; ".join(f"{what}: {problem}" for what, problem in first.sandbox.items() if problem):
                _warn_unconfined(storable(lacking[:_MAX_MESSAGE]))
        return process


@lru_cache(maxsize=8)  # once per process
def _warn_unconfined(problems: str) -> None:
    logger.warning("pages are converted in processes that are not fully confined on this machine: %s", problems)


def _exchange(process: subprocess.Popen[bytes], *frames: bytes) -> _Reply:
    """Send frames, read the reply."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        for frame in frames:
            write_frame(process.stdin, frame)
        process.stdin.flush()
        reply = _reply().validate_json(read_frame(process.stdout, _MAX_FRAME_BYTES), strict=True)
    except (EOFError, OSError, ValueError):
        raise _CrashedError from None
    if reply.page is not None and not _is_sound(reply.page):
        raise _CrashedError
    return reply


def _is_sound(page: ConvertedPage) -> bool:
    """Whether a page is valid: storable text within the limits, plausible dates."""
    texts = [page.markdown, page.title or "", page.description or "", page.language or "", page.canonical or ""]
    texts += page.warnings
    for link in page.links:
        texts += (link.target_url, link.anchor_text, link.context, *link.heading_path)
    return (
        len(page.markdown) <= MAX_REPLY_BYTES
        and sum(map(len, page.warnings)) <= _MAX_MESSAGE
        and links_size(page.links) <= MAX_REPLY_BYTES
        and not any("\x00" in text for text in texts)
        and all(len(link.target_url) <= MAX_URL_CHARS for link in page.links)
        and page.markup.is_sound(len(page.markdown))
        and all(0 <= number < _MAX_LEFT_OUT for _, number in page.left_out.counts())
        and all(is_plausible(date) for date in (page.published, page.modified) if date is not None)
    )


def _pipe() -> tuple[BinaryIO, BinaryIO]:
    """(end to read, end to write) of a pipe: the worker ends when the other end is closed."""
    read, write = os.pipe()
    return os.fdopen(read, "rb", 0), os.fdopen(write, "wb", 0)


def _environment(ours: Mapping[str, str]) -> dict[str, str]:
    variables = {name: ours[name] for name in _KEPT_VARIABLES if name in ours}
    return {**variables, "PYTHONPATH": str(Path(__file__).parents[2])}
