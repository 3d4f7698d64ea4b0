"""Which Dagster instance this project uses: $DAGSTER_HOME, or the zero-environment one of dagster.yaml."""

from __future__ import annotations

import os
from pathlib import Path

from webrag_core.errors import InvalidInputError


def use_instance() -> Path:
    """Settle DAGSTER_HOME for this process and its children, and return it.

    Unset, it becomes the folder with dagster.yaml (the working directory, else this project's), whose relative
    storage paths lie under the working directory. Raises InvalidInputError for a folder that is not there.
    """
    given = os.environ.get("DAGSTER_HOME")
    if given:
        home = Path(given).expanduser()
        if not home.is_dir():
            raise InvalidInputError(f"DAGSTER_HOME is {given}, which is not a folder")
    else:
        folders = (Path.cwd(), Path(__file__).resolve().parent.parent)
        found = next((folder for folder in folders if (folder / "dagster.yaml").is_file()), None)
        if found is None:
            raise InvalidInputError("no dagster.yaml here; set DAGSTER_HOME to the folder of a Dagster instance")
        home = found
    os.environ["DAGSTER_HOME"] = str(home.resolve())
    return home.resolve()
