"""How long callbacks of an event loop hold it, in processor time of its thread, and where.

Pauses of the garbage collector are left out: they stop every thread, fall wherever an object is made, and grow with all
objects of the process, those of the tests among them. `make bench-health` measures what is left of them for a user.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

_SECONDS = 0.002


@dataclass(slots=True)
class Beats:
    """The longest stretch between two beats of the loop, in processor seconds of its thread, and stacks within long
    ones."""

    longest: float = 0.0
    last: float = 0.0
    stacks: dict[str, float] = field(default_factory=dict)

    def where(self) -> str:
        """Where the longest stretches were seen."""
        return "; ".join(self.stacks)


@asynccontextmanager
async def beating(least: float) -> AsyncIterator[Beats]:
    """Let the loop beat within the block. Where it holds its thread for more than `least` seconds, what it does then is
    noted. A beat comes after each round of the loop, so that no callback takes longer than a stretch."""
    loop = asyncio.get_running_loop()
    beats = Beats(last=time.thread_time())
    clock = time.pthread_getcpuclockid(threading.get_ident())
    thread = threading.get_ident()
    over = threading.Event()
    begun = 0.0

    def collect(phase: str, info: dict[str, int]) -> None:
        nonlocal begun
        if threading.get_ident() != thread:
            return
        if phase == "start":
            begun = time.thread_time()
        else:
            beats.last += time.thread_time() - begun

    def beat() -> None:
        now = time.thread_time()
        beats.longest = max(beats.longest, now - beats.last)
        beats.last = now
        if not over.is_set():
            loop.call_later(_SECONDS, beat)

    def watch() -> None:
        while not over.wait(0.02):
            held = time.clock_gettime(clock) - beats.last
            if held > least:
                frame = sys._current_frames().get(thread)
                lines = [f"{one.filename}:{one.lineno} {one.name}" for one in traceback.extract_stack(frame)]
                ours = [line for line in lines if "webrag_core" in line]
                beats.stacks[" < ".join(reversed(ours[-4:]))] = held

    watcher = threading.Thread(target=watch)
    watcher.start()
    gc.callbacks.append(collect)
    loop.call_soon(beat)
    try:
        yield beats
        await asyncio.sleep(2 * _SECONDS)
    finally:
        gc.callbacks.remove(collect)
        over.set()
        watcher.join()
