"""Log lines of a run on stderr, without Dagster's step events."""

from __future__ import annotations

import logging

import dagster as dg


class _Plain(logging.Formatter):
    """Format time and message. Of an exception only its type and text: the event log has the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        meta = getattr(record, "dagster_meta", {})
        text = meta.get("orig_message") if record.levelno < logging.ERROR else None
        text = text or record.getMessage().split("\nStack Trace:", 1)[0]
        return f"{self.formatTime(record, '%H:%M:%S')}  {text.strip()}"


@dg.logger(None, description="Messages of the run on stderr; the event log has everything.")
def console(_: dg.InitLoggerContext) -> logging.Logger:
    """The logger of every run of this code location."""
    logger = logging.Logger("webrag.run", level=logging.INFO)
    handler = logging.StreamHandler()
    handler.setFormatter(_Plain())
    logger.addHandler(handler)
    return logger
