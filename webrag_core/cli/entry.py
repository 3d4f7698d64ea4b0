"""The `webrag` script: clean ends from the first instant, before anything heavy is imported. A server of the corpus
that runs on this machine runs the command, where it can.

Interrupted while it imports, the process ends at once: nothing is begun yet. Later the commands clean up.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType


def _end_at_once(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)


def here_first(arguments: list[str]) -> list[str]:
    """The arguments with `--here` in front, where the commands know it, wherever it stands before a `--`."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    if "--here" not in arguments[:end]:
        return arguments
    return ["--here", *(text for text in arguments[:end] if text != "--here"), *arguments[end:]]


def main() -> None:
    """Run the command line. Exit code 130 after Ctrl-C, 143 after SIGTERM."""
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # as in a shell's background
    signal.signal(signal.SIGTERM, _end_at_once)
    if not ignored:
        signal.signal(signal.SIGINT, _end_at_once)
    from webrag_core.cli import client

    sys.argv[1:] = here_first(sys.argv[1:])
    code = client.run(sys.argv[1:])
    if code is not None:
        sys.exit(code)
    from webrag_core.garbage import collect_rarely

    collect_rarely()
    from webrag_core.cli import main as commands

    commands.choose_commands(sys.argv[1:])
    if not ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        commands.main()
    except KeyboardInterrupt:  # outside of a command, as in its options
        raise SystemExit(130) from None
    finally:
        if not ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one must not disturb the end of the server
