"""Record every address that Python code dials; as a program, run `webrag` under that watch.

`python -m benchmarks.security.watched LOG ARGUMENT…` appends a line to LOG for each address dialled outside ALLOWED
(host:port,… in the environment). Local sockets (PostgreSQL's) are not addresses.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

ALLOWED = "BENCH_ALLOWED_ADDRESSES"


def watch(allowed: set[tuple[str, int]], report: Callable[[str], None]) -> None:
    """Report each address outside `allowed` that a socket of this process connects or sends to, from now on."""

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("socket.connect", "socket.sendto"):
            address = arguments[1]
            if isinstance(address, tuple) and (address[0], address[1]) not in allowed:
                report(f"{address[0]} {address[1]}")

    sys.addaudithook(hook)


def _pair(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


def main() -> None:
    """Run the command line under the watch."""
    log, *arguments = sys.argv[1:]

    def report(address: str) -> None:
        with Path(log).open("a") as file:
            file.write(address + "\n")

    watch({_pair(word) for word in os.environ.get(ALLOWED, "").split(",") if word}, report)
    sys.argv = ["webrag", *arguments]
    from webrag_core.cli.main import main as webrag

    webrag()


if __name__ == "__main__":
    main()
