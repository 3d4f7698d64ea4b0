"""The log of the command line, on stderr: short on a terminal, with logger and trace elsewhere."""

from __future__ import annotations

import logging

from webrag_core import corpus_home
from webrag_core.cli.output import err
from webrag_core.result_warnings import is_in_result
from webrag_core.trace import TraceFilter


class _Lines(logging.Handler):
    """Prints by the console that the live line uses: each record stands above it."""

    def emit(self, record: logging.LogRecord) -> None:
        err.print(self.format(record), markup=False, highlight=False)


class _Format(logging.Formatter):
    """Of an announcement the message alone."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        if record.name == corpus_home.__name__:
            return record.getMessage()
        if err.is_terminal:
            return f"{record.levelname.lower()}: {record.getMessage()}"
        return super().formatMessage(record)


def set_up_log() -> None:
    """Show warnings and errors of the program; does nothing where a log is set up already."""
    handler = _Lines()
    handler.setFormatter(_Format("%(levelname)s %(name)s%(trace)s: %(message)s"))
    handler.addFilter(TraceFilter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING)


def leave_warnings_to_the_result() -> None:
    """Print no warning that the result says, since its command prints the result. A log that somebody else set up keeps
    them."""
    for handler in logging.root.handlers:
        if isinstance(handler, _Lines):
            handler.addFilter(_is_for_the_log)


def _is_for_the_log(record: logging.LogRecord) -> bool:
    return not is_in_result(record)
