"""Turns of the garbage collector: a server serves nobody meanwhile, and of what is imported all stays."""

from __future__ import annotations

import asyncio
import gc

_COLLECTED = (50_000, 5, 20)
"""Objects more than before, and collections of the generation below, after which the garbage collector looks through a
generation; by default 700, 10 and 10. A large page makes 100,000 objects that go by themselves: of them it would look
through all objects again and again, for a tenth of a second each time."""
_LOADED_SECONDS = 15.0  # by then models are read that are loaded when they are first used


def collect_rarely() -> None:
    """Collect rarely from now on."""
    gc.set_threshold(*_COLLECTED)


def collect_rarely_in_loop() -> None:
    """As `collect_rarely`, and pass over what is loaded now and soon. Call in the running loop."""
    collect_rarely()
    _leave_out_what_stays()
    asyncio.get_running_loop().call_later(_LOADED_SECONDS, _leave_out_what_stays)


def _leave_out_what_stays() -> None:
    """Have the garbage collector pass over what is loaded: it looks through all objects at once, for a fifth of a
    second."""
    gc.collect()
    gc.freeze()
