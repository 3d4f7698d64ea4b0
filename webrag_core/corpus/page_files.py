"""Files under WEBRAG_HOME that hold text of stored pages beside the database: every kind, listed once.

A removal has to reach each of them, so a new kind of file is a last resort: what is made when it is asked for holds
nothing that was removed.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from webrag_core.errors import InvalidInputError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PageFiles:
    """Files of one kind: where they lie below WEBRAG_HOME (globs), what they hold, who writes them, and whether a
    removal deletes them or has their writer write them anew from what is still stored."""

    patterns: tuple[str, ...]
    holds: str
    owner: str
    removal: Literal["deleted", "written anew"]


PAGE_FILES = (
    # earlier versions wrote these two for Dagster's UI, which has made such pages when asked for since
    PageFiles(("answers/answer-*.html",), "answers in prose with their quotes", "none", "deleted"),
    PageFiles(("graphs/*.html",), "edges of the graph with their sentences", "none", "deleted"),
    PageFiles(
        ("feedback/questions.jsonl", "feedback/documents.jsonl"),
        "whole texts of pages, for questions out of accepted corrections",
        "webrag_core.feedback.goldens",
        "written anew",
    ),
)


def delete_page_files(home: Path) -> int:
    """Delete the files of every kind that nobody writes anew. Returns how many.

    Raises InvalidInputError when one cannot be deleted.
    """
    deleted = 0
    patterns = [pattern for kind in PAGE_FILES if kind.removal == "deleted" for pattern in kind.patterns]
    for file in [file for pattern in patterns for file in sorted(home.glob(pattern))]:
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise InvalidInputError(
                f"{file} may hold text of removed pages and cannot be deleted: {error.strerror}"
            ) from None
        deleted += 1
    if deleted:
        logger.info("deleted %d files with text of pages, which an earlier version wrote below %s", deleted, home)
    return deleted
