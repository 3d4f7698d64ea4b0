"""One worker process that converts pages, and can be killed. `parse_child` is its other side."""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.html import ConvertedPage
from webrag_core.conversion.parse_child import Reply
from webrag_core.errors import FetchError, Reason, WebragError

logger = logging.getLogger(__name__)

_RETIRING_BYTES = 4_000_000  # a page this large leaves its worker with memory that it does not give back
_RETIRING_PAGES = 2_000
_KEPT_VARIABLES = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "PYTHONHOME", "SYSTEMROOT", "TMPDIR", "TZ")


class _CrashedError(Exception):
    """The worker ended without an answer."""


class ParseWorker:
    """One worker process. Blocking; one caller at a time, except for `kill`."""

    def __init__(self, conversion: str, seconds: float, memory_bytes: int) -> None:
        self._arguments = (conversion, str(memory_bytes), str(seconds))
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._served = 0
        self._guard = threading.Lock()
        self.killed = False

    def convert(self, page: AcquiredPage) -> ConvertedPage:
        """Raises FetchError: what the conversion raises, PARSE_FAILURE for a page that takes too long or breaks the
        parser, TOO_LARGE for one that needs too much memory; WebragError when no worker can be started."""
        veteran = self._served > 0
        try:
            try:
                return self._ask(page)
            except _CrashedError:
                if not veteran or self.killed:
                    raise
                return self._ask(page)  # it may have been killed while idle, or be worn out: not the page's fault
        except _CrashedError:
            raise FetchError(
                Reason.PARSE_FAILURE, "the page breaks the parser, or needs too much memory for it"
            ) from None

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
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        process.wait()

    def _ask(self, page: AcquiredPage) -> ConvertedPage:
        process = self._running()
        late = threading.Event()

        def breach() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._seconds, breach)
        timer.daemon = True
        timer.start()
        try:
            reply = _exchange(process, replace(page, headers=dict(page.headers)))
        except _CrashedError:
            self.close()
            if late.is_set():
                problem = f"the page takes more than {self._seconds:g} seconds to convert"
                raise FetchError(Reason.PARSE_FAILURE, problem) from None
            raise
        finally:
            timer.cancel()
        self._served += 1
        refused_for_size = reply[0] == "refused" and reply[1][0] == Reason.TOO_LARGE
        if refused_for_size or len(page.body) > _RETIRING_BYTES or self._served >= _RETIRING_PAGES:
            self.close()
        return self._outcome(reply)

    def _outcome(self, reply: Reply) -> ConvertedPage:
        if reply[0] == "page":
            return reply[1]
        if reply[0] == "refused":
            reason, message, status = reply[1]
            raise FetchError(Reason(reason), message, status=status)
        self.close()
        logger.error("a page could not be converted\n%s", reply[1])
        raise FetchError(Reason.PARSE_FAILURE, "the page could not be converted")

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        command = [sys.executable, "-P", "-m", "webrag_core.conversion.parse_child", *self._arguments]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(os.environ),
            )
        except OSError as error:
            raise WebragError("no process can be started to convert pages in", code="worker_failed") from error
        with self._guard:
            self._process = process
            if self.killed:
                process.kill()
        try:
            reply = _exchange(process, None)
        except _CrashedError:
            reply = ("bug", "")
        if reply[0] != "ready" and not self.killed:
            self.close()
            raise WebragError("the process to convert pages in does not start", code="worker_failed")
        return process


def _exchange(process: subprocess.Popen[bytes], page: AcquiredPage | None) -> Reply:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        if page is not None:
            pickle.dump(page, process.stdin, protocol=5)
            process.stdin.flush()
        reply: Reply = pickle.load(process.stdout)
    except (EOFError, OSError, ValueError, pickle.UnpicklingError):
        raise _CrashedError from None
    return reply


def _environment(ours: Mapping[str, str]) -> dict[str, str]:
    kept = {name: ours[name] for name in _KEPT_VARIABLES if name in ours}
    return {**kept, "PYTHONPATH": str(Path(__file__).parents[2])}
