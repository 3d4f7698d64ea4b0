"""How a command says that it failed."""

from __future__ import annotations

from webrag_core.cli import addresses
from webrag_core.cli.output import complain, print_json
from webrag_core.errors import WebragError


def report_error(error: WebragError, *, as_json: bool) -> int:
    """Print the error. Returns the exit code: 2 for wrong usage, else 1."""
    message = error.message + addresses.way_out(error.code)
    if as_json:
        print_json({"error": {"code": error.code, "message": message}})
    complain(f"error: {message} [{error.code}]", style="red")
    return error.exit_code
