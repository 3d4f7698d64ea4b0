"""The Dagster instance of this project ($DAGSTER_HOME, or that of dagster.yaml), and the lock of `webrag up` on it."""

from __future__ import annotations

import fcntl
import json
import os
import re
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from webrag_core.config import load_settings
from webrag_core.corpus_home import FOLDER, env_file
from webrag_core.errors import InvalidInputError
from webrag_core.store.private_folders import open_home, server_account

HOST = "127.0.0.1"
"""Where the UI listens."""
LOCK = "up.lock"


def use_instance() -> Path:
    """Settle DAGSTER_HOME for this process and its children, and return it.

    Unset, it becomes the first folder with a dagster.yaml: the working directory, the corpus's; where there is none,
    `dagster` of the corpus, with this package's file. Relative storage paths lie under the working directory. Raises
    InvalidInputError for a folder that is not there, or cannot be written.
    """
    home_setting = os.environ.get("DAGSTER_HOME")
    if home_setting:
        home = Path(home_setting).expanduser()
        if not home.is_dir():
            raise InvalidInputError(f"DAGSTER_HOME is {home_setting}, which is not a folder")
    else:
        folders = (Path.cwd(), corpus := load_settings().webrag_home)
        folder_of_project = next((folder for folder in folders if (folder / "dagster.yaml").is_file()), None)
        home = folder_of_project or _instance_of(corpus)
        if home == Path.cwd() and Path(FOLDER).resolve() in storage_folder(home).parents:
            Path(FOLDER).mkdir(mode=0o700, exist_ok=True)  # a folder with a history of its own has a corpus of its own
    os.environ["DAGSTER_HOME"] = str(home.resolve())
    return home.resolve()


def _instance_of(corpus: Path) -> Path:
    """The folder of this package's dagster.yaml, with `corpus`/dagster as the place of its storage.

    Written again at each start: the next version may bring another file. An instance of earlier versions, in
    `.webrag/dagster` of the working directory, goes on.
    """
    package = Path(__file__).resolve().parent
    earlier = Path(FOLDER) / "dagster"
    if earlier.is_dir() and not (earlier / "dagster.yaml").exists():
        return package
    folder = corpus.absolute() / "dagster"
    content = (package / "dagster.yaml").read_text(encoding="utf-8")
    place = json.dumps(str(folder))[1:-1]  # as YAML quotes it, too
    content = re.sub(r"base_dir: \.webrag/dagster(\S*)", lambda match: f'base_dir: "{place}{match[1]}"', content)
    try:
        open_home(corpus, server_account())
        folder.mkdir(mode=0o700, exist_ok=True)
        fresh = folder / f"dagster.yaml.{os.getpid()}"
        fresh.write_text(content, encoding="utf-8")
        fresh.replace(folder / "dagster.yaml")
    except OSError as error:
        raise InvalidInputError(
            f"{folder} cannot be written: {error.strerror}; set WEBRAG_HOME to another place"
        ) from error
    return folder


def storage_folder(home: Path) -> Path:
    """Where the instance in `home` keeps what it has on this machine; `home` itself where its file names no folder.

    A relative folder lies under the working directory, as Dagster has it: two such instances may share a file. Raises
    InvalidInputError for a dagster.yaml that cannot be read.
    """
    file = home / "dagster.yaml"
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidInputError(f"{file} cannot be read: {error}") from error
    for path in (("storage", "sqlite", "base_dir"), ("local_artifact_storage", "config", "base_dir")):
        named = _value(content, path)
        if named is not None:
            return Path(named).resolve()
    return home


def hold(folder: Path, port: int) -> int:
    """Lock the instance whose storage is `folder`. The kernel frees the descriptor with the last process that has it.

    Raises InvalidInputError when another `webrag up` holds it, or the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner = (folder / LOCK).read_text().strip()
        raise InvalidInputError(f"`webrag up` already runs on this instance ({folder}): {owner}") from error
    except OSError as error:
        raise InvalidInputError(f"{folder / LOCK} cannot be written: {error.strerror}") from error
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"process {os.getpid()}, http://{HOST}:{port}\n".encode())
    return descriptor


def refuse_stray_env_file() -> None:
    """Raise InvalidInputError when `.env` of the working directory is not the file of settings.

    Dagster's own processes load it, over the environment.
    """
    file, named = Path(".env").absolute(), env_file()
    if file.exists() and not (named is not None and named.exists() and file.samefile(named)):
        raise InvalidInputError(
            f"Dagster's processes would load {file}: start in another folder, or, if it holds your settings, with"
            " `webrag --env-file .env up`"
        )


def _value(content: Any, path: tuple[str, ...]) -> str | None:
    """The text under these keys, read from the environment where it is `env: NAME`; None when it is not there."""
    for key in path:
        content = content.get(key) if isinstance(content, dict) else None
    if isinstance(content, dict):
        return os.environ.get(str(content.get("env")))
    return content if isinstance(content, str) else None
