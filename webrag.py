"""The script `webrag`, and `python -m webrag`. Outside of the package, to say why that cannot be imported."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. Exit with one sentence on a system without POSIX."""
    try:
        from webrag_core.cli.entry import main as run
    except ImportError as error:
        if error.name != "webrag_core":
            raise
        sys.exit(f"error: {error}")
    run()


if __name__ == "__main__":
    main()
