"""Where the corpus lies, one for each user unless a folder has its own, and the file of its settings. Light to import:
a command that a server answers needs no more of the settings."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as typing's; that and pathlib take longer to import than all of this module
if TYPE_CHECKING:
    from pathlib import Path

VARIABLE = "WEBRAG_HOME"
ENV_FILE = "WEBRAG_ENV_FILE"
"""Names the file of settings; `webrag --env-file` sets it, so that child processes read the same one."""
FOLDER = ".webrag"
"""A folder of this name in the working directory is the corpus of that directory. Parents are not searched: a corpus
that appears by stepping into a folder would surprise."""


def users_folder() -> str:
    """The user's own corpus: `webrag` in the data folder of the system, as `~/.local/share/webrag`: that of the XDG
    Base Directory Specification, of macOS without XDG_DATA_HOME `~/Library/Application Support`.

    Root's lies in /var/lib on Linux: the server runs as another user there, who would have to pass root's own folder.
    """
    folder = os.environ.get("XDG_DATA_HOME", "").strip()
    if sys.platform == "linux" and os.geteuid() == 0 and not folder:
        return "/var/lib/webrag"
    if not os.path.isabs(folder):  # the specification ignores relative ones
        folder = os.path.expanduser("~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share")
    return os.path.join(folder, "webrag")


def home_folder() -> str:
    """WEBRAG_HOME where it is set, else `.webrag` of the working directory where it is there, else the user's own."""
    return os.environ.get(VARIABLE) or (FOLDER if os.path.isdir(FOLDER) else users_folder())


def corpus_home() -> Path:
    """As `home_folder`."""
    from pathlib import Path

    return Path(home_folder())


def settings_file() -> str | None:
    """Return the file to read: that of WEBRAG_ENV_FILE, else `.env` of the corpus, if that has an absolute path.

    A relative one (WEBRAG_HOME, or `.webrag`) lies in the working directory, so its file does not count. None where
    there is none.
    """
    if named := os.environ.get(ENV_FILE):
        return named
    file = os.path.join(home_folder(), ".env")
    return file if os.path.isabs(file) and os.path.exists(file) else None


def env_file() -> Path | None:
    """As `settings_file`."""
    from pathlib import Path

    file = settings_file()
    return None if file is None else Path(file)


def stray_env_files() -> list[str]:
    """Return the files of the working directory that look like settings and are not `settings_file()`, in full."""
    settings = settings_file()
    return [
        os.path.abspath(file)
        for file in (".env", os.path.join(home_folder(), ".env"))
        if os.path.isfile(file)
        and not (settings is not None and os.path.exists(settings) and os.path.samefile(file, settings))
    ]


def stray_words(file: str) -> str:
    """What is said of a file that is not read."""
    return f"{file} is not read: name the file of your settings with `webrag --env-file FILE` or {ENV_FILE}"


def announce_new(home: Path) -> None:
    """Say that a corpus is about to be created in `home`, if `corpus_home` chose it: other folders are of programs that
    know what they make, as evaluations."""
    if home == corpus_home() and not (home / "postgres" / "PG_VERSION").exists():
        import logging

        elsewhere = "" if os.environ.get("WEBRAG_HOME") else " (set WEBRAG_HOME to have it elsewhere)"
        logging.getLogger(__name__).warning("new corpus at %s%s", home.absolute(), elsewhere)
