"""Log lines of a run on stderr: what the run says, without an event per step of Dagster's machinery."""

from __future__ import annotations

import logging

import dagster as dg


class _Plain(logging.Formatter):
    """Time and message alone; of an error what it is, since the event log has where it came from."""

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
