"""Suites of answer keys and the frozen sites that they are about. `golden/answer-suites.json` lists them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from evals.answers.keys import AnswerKey, load_keys
from evals.jsonl import reason
from evals.walks.goldens import EVALS
from evals.walks.suites import Split
from webrag_core.errors import InvalidInputError

logger = logging.getLogger(__name__)


class AnswerSuite(BaseModel, frozen=True, extra="forbid"):
    """One line of the list: what kind of site it is, in a word, what its figures are for, the licence of its pages, and
    their language (BCP 47)."""

    kind: str
    split: Split
    licence: str
    language: str


@dataclass(frozen=True, slots=True)
class KeySet:
    """Answer keys of one site, the snapshot of it, which may be absent, and the line of the list, None for keys that
    are on no list."""

    name: str
    keys: Sequence[AnswerKey]
    warc: Path
    listed: AnswerSuite | None = None


_LIST = TypeAdapter(dict[Annotated[str, Field(min_length=1)], AnswerSuite])


def own_answer_suites() -> dict[str, AnswerSuite]:
    """The suites of this package by name. Raises InvalidInputError where the list is not as it should be."""
    path = EVALS / "golden" / "answer-suites.json"
    try:
        return _LIST.validate_json(path.read_bytes())
    except ValidationError as error:
        raise InvalidInputError(f"{path}: {reason(error)}") from error


def keys_file(name: str) -> Path:
    """The answer keys of a suite of this package."""
    return EVALS / "golden" / f"answers-{name}.jsonl"


def key_set(path: Path, warc: Path | None = None, listed: AnswerSuite | None = None) -> KeySet:
    """The keys of a file, about `warc`, else the frozen site of the name that the keys give.

    Raises InvalidInputError for a file that cannot be used, and for keys of several sites.
    """
    keys = load_keys(path)
    sites = sorted({key.site for key in keys})
    if len(sites) > 1:
        raise InvalidInputError(f"{path} is about several sites: {', '.join(sites)}; a file has the keys of one")
    name = path.stem.removeprefix("answers-")
    return KeySet(name, keys, warc or EVALS / "sites" / f"{sites[0]}.warc.gz", listed)


def own_key_sets(split: Split | None = None, names: Sequence[str] = ()) -> list[KeySet]:
    """The keys of this package's suites: of one split, or all; of these `names`, or all.

    Raises InvalidInputError for a name that is not on the list, and when nothing is left.
    """
    suites = own_answer_suites()
    unknown = [name for name in names if name not in suites]
    if unknown:
        raise InvalidInputError(f"no suite of answer keys is called {', '.join(unknown)}, but {', '.join(suites)} are")
    chosen = [
        key_set(keys_file(name), listed=suite)
        for name, suite in suites.items()
        if split in (None, suite.split) and (not names or name in names)
    ]
    if not chosen:
        raise InvalidInputError(f"no suite of the split {split}{' is so called' if names else ''}")
    return chosen


def present(chosen: Sequence[KeySet]) -> list[KeySet]:
    """Those whose snapshot is there; the others are logged. Raises InvalidInputError when none is."""
    absent = [choice for choice in chosen if not choice.warc.is_file()]
    if len(absent) == len(chosen):
        raise InvalidInputError(
            f"no frozen site to ask is present, such as {absent[0].warc}: they come with a clone alone"
        )
    for choice in absent:
        logger.warning("%s is left out: there is no snapshot %s", choice.name, choice.warc)
    return [choice for choice in chosen if choice not in absent]
