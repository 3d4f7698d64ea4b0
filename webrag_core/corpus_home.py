"""Where the corpus lies, one for each user unless a folder has its own, and the file of its settings. Light to import:
a command that a server answers needs no more of the settings."""

from __future__ import annotations

import os
import sys
from pathlib import Path

VARIABLE = "WEBRAG_HOME"
ENV_FILE = "WEBRAG_ENV_FILE"
"""Names the file of settings; `webrag --env-file` sets it, so that child processes read the same one."""
FOLDER = ".webrag"
"""A folder of this name in the working directory is the corpus of that directory. Parents are not searched: a corpus
that appears by stepping into a folder would surprise."""


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


def env_file() -> Path | None:
    """Return the file to read: that of WEBRAG_ENV_FILE, else `.env` of the corpus, if that has an absolute path.

    A relative one (WEBRAG_HOME, or `.webrag`) lies in the working directory, so its file does not count. None where
    there is none.
    """
    if named := os.environ.get(ENV_FILE):
        return Path(named)
    file = corpus_home() / ".env"
    return file if file.is_absolute() and file.exists() else None


def stray_env_files() -> list[Path]:
    """Return the files of the working directory that look like settings and are not `env_file()`."""
    named = env_file()
    files = [Path(".env"), corpus_home() / ".env"]
    return [
        file.absolute()
        for file in files
        if file.is_file() and not (named is not None and named.exists() and file.samefile(named))
    ]


def stray_words(file: Path) -> str:
    """What is said of a file that is not read."""
    return f"{file} is not read: name the file of your settings with `webrag --env-file FILE` or {ENV_FILE}"


def announce_new(home: Path) -> None:
    """Say that a corpus is about to be created in `home`, if `corpus_home` chose it: other folders are of programs that
    know what they make, as evaluations."""
    if home == corpus_home() and not (home / "postgres" / "PG_VERSION").exists():
        import logging

        logging.getLogger(__name__).warning("new corpus at %s (set WEBRAG_HOME to have it elsewhere)", home.absolute())
