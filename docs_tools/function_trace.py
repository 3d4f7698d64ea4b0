"""Which functions of the core a command enters, each where it is entered first.

    python -m docs_tools.function_trace "ingest https://example.org/" "ask 'When does it open?'"

prints for each command of `webrag` a JSON object with its exit code and the functions; what the command prints goes to
stderr. In a process of its own, because only threads that start under the trace are seen; other processes are not.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import sys
import threading
from collections.abc import Iterable, Iterator
from importlib import import_module
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType

CORE = Path(__file__).parent.parent / "webrag_core"

Step = tuple[str, str]
"""A file of the core, relative to it, and the qualified name of a function of it."""


@contextlib.contextmanager
def trace() -> Iterator[dict[CodeType, None]]:
    """Yield the code objects that are entered in this thread and in those that it starts, in order of the first time.

    They grow while the block runs, and may be cleared to begin again.
    """
    entered: dict[CodeType, None] = {}

    def note(frame: FrameType, event: str, argument: object) -> None:
        entered.setdefault(frame.f_code)  # without a return value, lines are not traced

    threading.settrace(note)
    sys.settrace(note)
    try:
        yield entered
    finally:
        sys.settrace(None)
        threading.settrace(None)


def steps(entered: Iterable[CodeType]) -> list[Step]:
    """Functions of the core among them. Bodies of modules and classes, lambdas and comprehensions are none."""
    folder = f"{CORE}/"
    functions = {
        (code.co_filename.removeprefix(folder), code.co_qualname.replace(".<locals>", "")): None
        for code in list(entered)
        if code.co_filename.startswith(folder) and code.co_flags & CO_OPTIMIZED and not code.co_name.startswith("<")
    }
    return list(functions)


def main() -> None:
    """Run the commands of the arguments, in this process."""
    from webrag_core.cli.main import app

    import_module("webrag_core.application.operations")  # beforehand: imports are slow under a trace
    with trace() as entered:
        for command in sys.argv[1:]:
            entered.clear()
            with contextlib.redirect_stdout(sys.stderr):
                code = app(shlex.split(command), standalone_mode=False)
            print(json.dumps({"command": command, "exit_code": code or 0, "steps": steps(entered)}), flush=True)


if __name__ == "__main__":
    main()
