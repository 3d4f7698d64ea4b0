"""Options of commands that ask and search: the evidence that is wanted."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from webrag_core.cli.output import Intents
from webrag_core.errors import InvalidInputError

Intent = Annotated[Intents | None, typer.Option("--intent", help="Kind of question, if known.")]
Constraints = Annotated[
    list[str] | None, typer.Option("--constraint", help="A requirement the evidence must meet; repeatable.")
]
MaxAge = Annotated[
    str | None,
    typer.Option("--max-age", help="Fetch stored pages again above this age: seconds, or 30m, 12h, 1d."),
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        help="Only pages that say they are of then or later: 2024, 2024-05, 2024-05-17 or with a time.",
    ),
]
Until = Annotated[str | None, typer.Option("--until", help="Only pages dated then or earlier; that day is included.")]
Years = Annotated[list[int] | None, typer.Option("--year", help="Only pages dated in this year; repeatable.")]

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_AGE = re.compile(r"([0-9]{1,9})([smhdw]?)")


def seconds_of(age: str | None) -> float | None:
    """An age in seconds: "90", "90s", "15m", "12h", "1d" or "2w". Raises InvalidInputError."""
    if age is None:
        return None
    match = _AGE.fullmatch(age.strip().lower())
    if match is None:
        raise InvalidInputError(f"--max-age {age!r} is not an age such as 3600, 12h or 1d")
    return float(int(match[1]) * _UNITS[match[2]])
