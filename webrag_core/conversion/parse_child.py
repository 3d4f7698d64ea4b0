"""The worker's side of `parse_worker`: reads pages from stdin, converts them, writes what came of them to stdout.

    python -m webrag_core.conversion.parse_child MODULE:FUNCTION MEMORY_BYTES SECONDS

It ends with its parent: an idle worker reads the end of its stdin, a busy one is ended by the system (SIGIO where
stdin can raise it, SIGALRM after its time at the latest), for native code lets no Python run.
"""

from __future__ import annotations

import os
import pickle
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from types import TracebackType
from typing import Any, BinaryIO, Literal

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.html import ConvertedPage
from webrag_core.errors import FetchError, Reason

MAX_REPLY_BYTES = 12_000_000
"""Of the Markdown, and of all links together: the main process holds a page several times while it indexes it."""
MAX_BLOCKS = 220_000
"""Paragraphs, list items, terms, definitions, headings: what comes after the conversion cannot be killed, and takes a
main process 30 microseconds and 600 bytes for each."""
MAX_LINES = 500_000
"""Blank ones too: the parser of Markdown keeps 140 bytes for each."""
MAX_WORDS = 150_000
"""Different words: each is stemmed once, and stays in an index for good. The largest honest pages have some 50,000."""
_RETURN = re.compile(r"\r\n?")
_MARKER = re.compile(r"[^\w\s|]|_|\d{1,9}[.)](?:\s|$)")  # rows of a table are one block
_GRACE_S = 3.0  # the parent's own clock comes first

Reply = (
    tuple[Literal["ready"], None]
    | tuple[Literal["page"], ConvertedPage]
    | tuple[Literal["refused"], tuple[str, str, int | None]]
    | tuple[Literal["bug"], str]
)
"""What the worker says: that it is there, a page, a FetchError's parts, or the traceback that it ends with."""


def main() -> None:
    """Serve until stdin ends."""
    entry, memory_bytes, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    _default_signals()
    requests = sys.stdin.buffer
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the replies

    def tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _send(replies, ("bug", "".join(traceback.format_exception(kind, error, trace))))

    sys.excepthook = tell
    module, _, name = entry.partition(":")
    convert: Callable[[AcquiredPage], ConvertedPage] = getattr(import_module(module), name)
    _limit_memory(memory_bytes)
    _send(replies, ("ready", None))
    while True:
        try:
            page: AcquiredPage = pickle.load(requests)
            with _mortal(requests.fileno(), seconds + _GRACE_S):
                reply = _reply(convert, page)
            _send(replies, reply)
        except EOFError:
            return
        except MemoryError:  # nothing more can be expected of this process
            page = reply = None  # type: ignore[assignment]
            _send(replies, ("refused", (Reason.TOO_LARGE.value, "the page needs too much memory", None)))
            return


def _reply(convert: Callable[[AcquiredPage], ConvertedPage], page: AcquiredPage) -> Reply:
    try:
        converted = convert(page)
        _check_size(converted)
        return ("page", converted)
    except FetchError as error:
        return ("refused", (error.reason.value, error.message, error.status))
    except RecursionError:
        return ("refused", (Reason.PARSE_FAILURE.value, "the page is nested too deeply", None))


def _check_size(page: ConvertedPage) -> None:
    links = sum(len(link.context) + len(link.anchor_text) + len(link.target_url) for link in page.links)
    if max(len(page.markdown.encode()), links) > MAX_REPLY_BYTES:
        raise FetchError(Reason.TOO_LARGE, f"the page has more than {MAX_REPLY_BYTES} bytes of text or links")
    text = _RETURN.sub("\n", page.markdown)
    if text.count("\n") > MAX_LINES:
        raise FetchError(Reason.TOO_LARGE, f"the page has more than {MAX_LINES} lines")
    if text.count("\n") > MAX_BLOCKS and _blocks(text) > MAX_BLOCKS:
        raise FetchError(Reason.TOO_LARGE, f"the page has more than {MAX_BLOCKS} paragraphs or list items")
    if len(page.markdown) > 4 * MAX_WORDS and len(set(re.findall(r"\w+", page.markdown))) > MAX_WORDS:
        raise FetchError(Reason.TOO_LARGE, f"the page has more than {MAX_WORDS} different words")


def _blocks(markdown: str) -> int:
    """About how many blocks there are: lines after blank ones, and those that begin with a mark."""
    count, after_blank = 0, True
    for line in markdown.split("\n"):
        text = line.lstrip(" \t>")
        count += bool(text) and (after_blank or _MARKER.match(text) is not None)
        after_blank = not text
    return count


def _send(replies: BinaryIO, reply: Reply) -> None:
    pickle.dump(reply, replies, protocol=5)
    replies.flush()


def _default_signals() -> None:
    """Ctrl-C goes to every process of the terminal, but it is the parent who decides what becomes of a page."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for name in ("SIGTERM", "SIGALRM", "SIGIO"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)


def _limit_memory(memory_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # no such limits on this platform; the time limit holds everywhere
        return
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        with suppress(ValueError, OSError):
            _, hard = resource.getrlimit(kind)
            allowed = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
            resource.setrlimit(kind, (allowed, hard))
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@contextmanager
def _mortal(descriptor: int, seconds: float) -> Iterator[None]:
    """Within, this process ends after `seconds`, or when the other end of `descriptor` goes away."""
    set_flags: Callable[[int], Any] = lambda flags: None  # noqa: E731
    flags = 0
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
    with suppress(ImportError, OSError):
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | getattr(os, "O_ASYNC", 0))
        set_flags = lambda flags: fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)  # noqa: E731
    try:
        yield
    finally:
        set_flags(flags)
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
