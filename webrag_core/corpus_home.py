"""Where the corpus lies: one for each user, unless a folder has its own."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

VARIABLE = "WEBRAG_HOME"
FOLDER = ".webrag"
"""A folder of this name in the working directory is the corpus of that directory. Parents are not searched: a corpus
that appears by stepping into a folder would surprise."""

logger = logging.getLogger(__name__)


def users_home() -> Path:
    """The user's own corpus: `webrag` in the data folder of the system, as `~/.local/share/webrag`.

    Root's lies in /var/lib on Linux: the server runs as another user there, who would have to pass root's own folder.
    """
    if sys.platform == "linux" and os.geteuid() == 0 and not os.environ.get("XDG_DATA_HOME"):
        return Path("/var/lib/webrag")
    from platformdirs import user_data_path  # seldom needed where a start pays for it

    return user_data_path("webrag", appauthor=False)


def corpus_home() -> Path:
    """WEBRAG_HOME where it is set, else `.webrag` of the working directory where it is there, else the user's own."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    folder = Path(FOLDER)
    return folder if folder.is_dir() else users_home()


def announce_new(home: Path) -> None:
    """Say that a corpus is about to be created in `home`, if `corpus_home` chose it: other folders are of programs that
    know what they make, as evaluations."""
    if home == corpus_home() and not (home / "postgres" / "PG_VERSION").exists():
        logger.warning("new corpus at %s (set WEBRAG_HOME to have it elsewhere)", home.absolute())
