"""The log of the command line, on stderr: short on a terminal, with logger and trace elsewhere, or as JSON."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Literal

from webrag_core import corpus_home
from webrag_core.cli.output import elsewhere, err
from webrag_core.result_warnings import is_in_result
from webrag_core.trace import TraceFilter, current_trace_id

LogFormat = Literal["text", "json"]


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


class _JsonFormat(logging.Formatter):
    """One JSON object a line: time (UTC), level, logger, message, and where there are such the trace id and the
    exception."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (trace_id := current_trace_id()) is not None:
            line["trace_id"] = trace_id
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def set_up_log() -> None:
    """Show warnings and errors of the program; does nothing where a log is set up already."""
    handler = _Lines()
    handler.setFormatter(_Format("%(levelname)s %(name)s%(trace)s: %(message)s"))
    handler.addFilter(TraceFilter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING)


def set_log_format(name: LogFormat) -> None:
    """Write the log as lines for people or as JSON. A log that somebody else set up stays as it is."""
    for handler in logging.root.handlers:
        if name == "json" and isinstance(handler, _Lines):
            handler.setFormatter(_JsonFormat())


def leave_warnings_to_the_result() -> None:
    """Print no warning that the result says, since its command prints the result. A log that somebody else set up keeps
    them, and that of a server, which is no command's."""
    if elsewhere.get() is not None:
        return
    for handler in logging.root.handlers:
        if isinstance(handler, _Lines):
            handler.addFilter(_is_for_the_log)


def _is_for_the_log(record: logging.LogRecord) -> bool:
    return not is_in_result(record)
