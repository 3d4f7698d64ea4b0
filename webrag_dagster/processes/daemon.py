"""Dagster's daemon as `webrag up` runs it: with a warm worker at hand for the next run."""

from __future__ import annotations

import sys


def main() -> None:
    """Arguments as for `dagster-daemon run`."""
    from dagster._daemon.cli import main as daemon

    from webrag_dagster.processes.launcher import keep_warm

    keep_warm()
    sys.argv[1:] = ["run", *sys.argv[1:]]
    daemon()


if __name__ == "__main__":
    main()
