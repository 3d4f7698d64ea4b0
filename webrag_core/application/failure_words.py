"""What a failure means to whoever does not see the log: one line, without a path of this machine."""

from __future__ import annotations

from collections.abc import Mapping

from webrag_core.errors import NotStoredError, StoreError, WebragError
from webrag_core.page_text import one_line
from webrag_core.trace import current_trace_id

LONGEST_MESSAGE = 600
DEFECT = "an internal error; the server's log says more"
"""Of a failure that nobody foresaw."""
_STORE = "the database cannot be used now; the server's log says why"
_STORE_MESSAGES: Mapping[str, str] = {
    "database_busy": "the database is busy; ask again in a minute",
    "disk_full": "the disk of the database is full",
    "database_read_only": "the database is read-only now",
    "database_damaged": "files of the database are damaged",
    "database_too_new": "a newer version of WebRAG made the corpus; this one cannot read it",
    "database_too_old": "the corpus is too old for this version of WebRAG; the server's log says what migrates it",
    "starting": "the corpus is not open yet",
    "not_open": "the corpus cannot be opened; the server's log says why",
    "restore_unfinished": "a backup is being restored, or its restoring broke off",
}


def defect_words() -> str:
    """`DEFECT` with the trace under which the log has it. Call within `traced`, where the exception is logged."""
    return f"{DEFECT} (trace {current_trace_id()})"


def failure_words(error: WebragError) -> str:
    """The message in one line of visible characters. What the database says stays in the log: it names folders."""
    if isinstance(error, StoreError):
        return _STORE_MESSAGES.get(error.code, _STORE)
    message = one_line(error.message)
    if isinstance(error, NotStoredError):
        message = message.partition("; `webrag ")[0]  # the way out on the command line
    return message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 1]}…"
