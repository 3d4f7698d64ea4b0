"""The code server as a service: started again when it dies, and its runs settled.

`python -m webrag_dagster.processes.code_service HOST PORT` is what the `code` container runs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence

from webrag_dagster.processes.code_health import answers
from webrag_dagster.processes.services import Service, Supervisor

MODULE, LOCATION = "webrag_dagster.definitions", "webrag"
_SECONDS_TO_LOAD = 90.0


def code_service(listen: Sequence[str], target: str) -> Service:
    """The service. `listen` are the command-line options for its address, `target` is the same address for gRPC."""
    command = (
        *(sys.executable, "-m", "dagster", "code-server", "start", *listen),
        *("-m", MODULE, "--location-name", LOCATION),
    )
    return Service(
        "code server", command, gone=settle, answers=lambda: answers(target), wait_for_answer=_SECONDS_TO_LOAD
    )


def settle() -> subprocess.Popen[bytes]:
    """End the runs that went with the last code server, in a process of its own: this one has no use for Dagster."""
    return subprocess.Popen([sys.executable, "-m", "webrag_dagster.processes.orphans", str(time.time())])


def main() -> None:
    """Serve until told to end."""
    host, port = sys.argv[1], int(sys.argv[2])
    settle()
    service = code_service(("-h", host, "-p", str(port)), f"127.0.0.1:{port}")
    sys.exit(Supervisor([service], os.environ).run())


if __name__ == "__main__":
    main()
