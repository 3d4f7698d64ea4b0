"""Read JSON lines: golden queries, run logs, questions and documents; open a file for such lines."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO, TypeVar

from pydantic import ValidationError

from webrag_core.errors import InvalidInputError

Row = TypeVar("Row")
_UNPACK: Mapping[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".xz": lzma.decompress}


def load_jsonl(path: Path, parse: Callable[[Any], Row], what: str, key: Callable[[Row], str]) -> list[Row]:
    """Rows of a file (plain, .gz, .xz) as `parse` makes them; lines end at \\n only, as texts may hold other line ends.

    Raises InvalidInputError for a file that cannot be read or holds no row, and naming the first line that is not
    `what` or repeats a `key`. `parse` may raise ValidationError or InvalidInputError.
    """
    try:
        raw = path.read_bytes()
        lines = _UNPACK.get(path.suffix, bytes)(raw).decode().split("\n")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path} is not UTF-8 text") from error
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise InvalidInputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    rows: dict[str, Row] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = parse(json.loads(line))
        except (json.JSONDecodeError, ValidationError, InvalidInputError) as error:
            raise InvalidInputError(f"{path}:{number} is not {what}: {reason(error)}") from error
        if key(row) in rows:
            raise InvalidInputError(f"{path}:{number} repeats the id {key(row)}")
        rows[key(row)] = row
    if not rows:
        raise InvalidInputError(f"{path} is empty: there is not {what} in it")
    return list(rows.values())


def new_file(path: Path) -> TextIO:
    """An empty file for lines, in a folder that is made where it is missing. Raises InvalidInputError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("w", encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}") from error


def reason(error: json.JSONDecodeError | ValidationError | InvalidInputError) -> str:
    """What is wrong with a line, in a few words."""
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    if isinstance(error, InvalidInputError):
        return error.message
    problem = error.errors()[0]
    place = ".".join(str(part) for part in problem["loc"])
    return f"{place}: {problem['msg']}" if place else problem["msg"]
