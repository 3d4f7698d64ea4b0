"""Warnings that stand in a result. A log has them, too, for servers; a command that prints the result keeps them out of
the log on its terminal, so that they are said once."""

from __future__ import annotations

import logging


def log_warning(logger: logging.Logger, warning: str) -> None:
    """Log a warning that the result says as well."""
    logger.warning("%s", warning, extra={"in_result": True})


def keep_out_of_the_log() -> None:
    """Leave such warnings out of what this process logs: their result is printed."""
    for handler in logging.root.handlers:
        handler.addFilter(_logged)


def _logged(record: logging.LogRecord) -> bool:
    return not getattr(record, "in_result", False)
