"""The program of a worker: reads pages from stdin, converts them, writes what came of them to stdout.

    python -m webrag_core.conversion.worker_main MODULE:FUNCTION MEMORY_BYTES CPU_SECONDS LIFELINE [FOLDER…]

In the folders are packages with formats that are found nowhere else; they may be read like other libraries.

Messages are frames: eight bytes of length, then JSON (or the body of a page). The first reply says what the sandbox
took away and what it could not. The system ends the worker when a page uses up its CPU time (SIGPROF), or when the
parent ends (SIGIO from the pipe LIFELINE): native code lets no Python run.
"""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from importlib import import_module
from types import TracebackType
from typing import IO, Any

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.converted_page import ConvertedPage, LeftOut, PageLink
from webrag_core.conversion.markup.models import MarkupNode, PageMarkup
from webrag_core.conversion.sandbox import confine
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
_COLLECTED = 10_000
"""Objects more than before, after which the garbage collector looks for some: pages leave few that it has to find."""
_WORN_BYTES = 96 * 1024 * 1024
"""Memory above that of the beginning with which a worker takes no further page."""
_RETURN = re.compile(r"\r\n?")
_MARKER = re.compile(r"[^\w\s|]|_|\d{1,9}[.)](?:\s|$)")  # rows of a table are one block

Reply = dict[str, Any]


def main() -> None:
    """Serve until stdin ends."""
    entry, memory_bytes, cpu_seconds, lifeline = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    sys.path += [folder for folder in sys.argv[5:] if folder not in sys.path]
    _default_signals()
    _end_with_parent(lifeline)
    requests = sys.stdin.buffer
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries must not mix with the replies

    def report_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _send(replies, {"kind": "bug", "message": "".join(traceback.format_exception(kind, error, trace))})

    sys.excepthook = report_bug
    module, _, name = entry.partition(":")
    gc.disable()  # what is imported stays, and is never looked through
    convert: Callable[[AcquiredPage], ConvertedPage] = getattr(import_module(module), name)
    gc.freeze()
    gc.set_threshold(_COLLECTED)
    gc.enable()
    address_space = _AddressSpace()
    at_first = address_space.size()
    memory = _limit_memory(at_first + memory_bytes)
    _send(replies, {"kind": "ready", "sandbox": {"memory beyond its limit": memory, **confine()}})
    while address_space.size() <= at_first + _WORN_BYTES:
        try:
            page = _read_page(requests)
            signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
            reply = reply_to(convert, page)
            signal.setitimer(signal.ITIMER_PROF, 0)
            _send(replies, reply)
            page = reply = None  # type: ignore[assignment]
        except EOFError:
            return
        except MemoryError:  # nothing more can be expected of this process
            page = reply = None  # type: ignore[assignment]
            _send(replies, _refusal(Reason.TOO_LARGE, "the page needs too much memory"))
            return


def reply_to(convert: Callable[[AcquiredPage], ConvertedPage], page: AcquiredPage) -> Reply:
    """Convert a page. Raises TOO_LARGE in the worker for a result too large to index."""
    try:
        converted = convert(page)
        _check_size(converted)
        return {"kind": "page", "page": converted}
    except FetchError as error:
        return _refusal(error.reason, error.message, error.status)
    except RecursionError:
        return _refusal(Reason.PARSE_FAILURE, "the page is nested too deeply")


def read_frame(stream: IO[bytes], limit: int | None = None) -> bytes:
    """Read one frame. Raises EOFError where the stream ends, and for a frame above `limit` bytes."""
    head = stream.read(8)
    size = int.from_bytes(head, "big")
    if len(head) < 8 or (limit is not None and size > limit):
        raise EOFError
    frame = stream.read(size)
    if len(frame) < size:
        raise EOFError
    return frame


def write_frame(stream: IO[bytes], frame: bytes) -> None:
    """Write one frame."""
    stream.write(len(frame).to_bytes(8, "big"))
    stream.write(frame)


def links_size(links: Iterable[PageLink]) -> int:
    """Characters of all texts of links."""
    return sum(
        len(link.context) + len(link.anchor_text) + len(link.target_url) + sum(map(len, link.heading_path))
        for link in links
    )


def _read_page(requests: IO[bytes]) -> AcquiredPage:
    header = json.loads(read_frame(requests))
    body = read_frame(requests)
    header["fetched_at"] = datetime.fromisoformat(header["fetched_at"])
    return AcquiredPage(**header, body=body, bytes_raw=len(body))


def _refusal(reason: Reason, message: str, status: int | None = None) -> Reply:
    return {"kind": "refused", "reason": reason.value, "message": message, "status": status}


def _send(replies: IO[bytes], reply: Reply) -> None:
    write_frame(replies, json.dumps(reply, ensure_ascii=False, default=_fields).encode("utf-8", "replace"))
    replies.flush()


def _fields(value: ConvertedPage | PageLink | PageMarkup | MarkupNode | LeftOut | datetime) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return {name: getattr(value, name) for name in value.__slots__}  # dataclasses.asdict copies every text


def _check_size(page: ConvertedPage) -> None:
    if max(len(page.markdown.encode()), links_size(page.links)) > MAX_REPLY_BYTES:
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


def _default_signals() -> None:
    """Ctrl-C goes to every process of the terminal, but it is the parent who decides what becomes of a page."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for name in (signal.SIGTERM, signal.SIGPROF, signal.SIGIO):
        signal.signal(name, signal.SIG_DFL)


def _end_with_parent(lifeline: int) -> None:
    """Have the system end this process when the other end of the pipe is closed. Nothing is ever written to it."""
    import fcntl

    with suppress(OSError):
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | getattr(os, "O_ASYNC", 0))


def _limit_memory(memory_bytes: int) -> str | None:
    """Limit the address space, for good. Returns the problem where the system does not."""
    import resource

    problem = None
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        try:
            _, hard = resource.getrlimit(kind)
            allowed = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
            resource.setrlimit(kind, (allowed, allowed))
        except (ValueError, OSError) as error:
            problem = str(error)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return problem


class _AddressSpace:
    """Of this process. The file is opened before the sandbox forbids that."""

    def __init__(self) -> None:
        self._statm = open("/proc/self/statm", "rb", 0) if sys.platform == "linux" else None  # noqa: SIM115

    def size(self) -> int:
        """Bytes; 0 where the system does not say."""
        if self._statm is None:
            return 0
        return int(os.pread(self._statm.fileno(), 64, 0).split()[0]) * os.sysconf("SC_PAGESIZE")


if __name__ == "__main__":
    main()
