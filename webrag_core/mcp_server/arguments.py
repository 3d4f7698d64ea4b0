"""What callers may pass: limits beyond the schema, and errors that name the argument and the right values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from webrag_core.errors import InvalidInputError
from webrag_core.retrieval.query_text import check_text

_MOST_PROBLEMS = 5
LONGEST = {"query": 10_000, "known_context": 50_000, "url": 8_192, "constraint": 2_000}
"""Characters of an argument."""
MOST_CONSTRAINTS = 20
MOST_RESULTS = 50
MOST_PLACES = 100


def check_length(name: str, text: str) -> None:
    """Raise InvalidInputError for a blank text, one that is no text, and one that is too long."""
    if len(text) > LONGEST[name]:
        raise InvalidInputError(f"the {name} has {len(text):,} characters; {LONGEST[name]:,} at most")
    check_text(text, name)


def check_list(name: str, texts: Sequence[str], most: int) -> None:
    """`check_length` of each of at most `most` texts called `name`."""
    if len(texts) > most:
        raise InvalidInputError(f"{len(texts):,} {name}s are given; {most} at most")
    for text in texts:
        check_length(name, text)


def without_nulls(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Null means unset, for every argument."""
    return {name: value for name, value in arguments.items() if value is not None}


def check_names(given: Iterable[str], known: Sequence[str]) -> None:
    """Raise InvalidInputError for an argument that no tool reads: a typo must not pass for a default."""
    for name in given:
        if name not in known:
            near = get_close_matches(name[:100], known, 1, 0.4)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise InvalidInputError(f"there is no argument {_shown(name)}{hint} There are: {', '.join(known)}")


def explained(error: ValidationError) -> str:
    """What is wrong with which argument, without what was passed."""
    told: dict[str, None] = {}
    for problem in error.errors(include_url=False, include_input=False, include_context=True):
        # of a union the branch of the type is on the path
        place = [part for part in problem["loc"] if not (isinstance(part, str) and "[" in part)]
        name = ".".join(_shown(str(part), quoted=False) for part in place if part not in ("str", "int"))
        told[f"{name}: {problem['msg']}"] = None
    lines = list(told)
    more = f"; and {len(lines) - _MOST_PROBLEMS} more" if len(lines) > _MOST_PROBLEMS else ""
    return "; ".join(lines[:_MOST_PROBLEMS]) + more


def _shown(text: str, *, quoted: bool = True) -> str:
    cut = text if len(text) <= 60 else text[:59] + "…"
    return repr(cut) if quoted else cut
