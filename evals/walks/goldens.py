"""Golden queries of site walks: what is asked where, and which pages and quotes answer it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ValidationError, model_validator

from webrag_core.acquisition.urls import page_key
from webrag_core.errors import InvalidInputError

EVALS = Path(__file__).parents[1]
DEFAULT_GOLDEN = EVALS / "golden" / "sitewalk-python-3.11.jsonl"
DEFAULT_SITE = EVALS / "sites" / "python-3.11.warc.gz"

CLUSTER = "seed page"
"""What the intervals of walks are clustered by: items that start there see the same first evidence and links."""

Kind = Literal["on_seed", "one_hop", "two_hop", "multi_page", "unanswerable"]


class GoldenQuery(BaseModel):
    """One item. `gold_pages` lists alternatives per need, `gold_quotes` runs parallel to it; both are empty for an
    unanswerable query. `oracle_pages` is the least number of pages that answers it, seed included."""

    id: str
    site: str
    seed_url: str
    query: str
    kind: Kind
    gold_pages: list[list[str]]
    gold_quotes: list[list[str]]
    oracle_pages: int

    @model_validator(mode="after")
    def _gold_fits_kind(self) -> Self:
        if len(self.gold_pages) != len(self.gold_quotes):
            raise ValueError("gold_pages and gold_quotes do not run parallel")
        if (self.kind == "unanswerable") == bool(self.gold_pages):
            raise ValueError("only an unanswerable query has no gold pages")
        return self


def cluster_of(golden: GoldenQuery) -> str:
    """The name of an item's cluster."""
    return page_key(golden.seed_url)


def load_goldens(path: Path) -> list[GoldenQuery]:
    """Read a JSONL file. Raises InvalidInputError naming the first line that is no golden query or repeats an id."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path} is not UTF-8 text") from error
    goldens: dict[str, GoldenQuery] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            golden = GoldenQuery.model_validate(json.loads(line))
        except (json.JSONDecodeError, ValidationError) as error:
            raise InvalidInputError(f"{path}:{number} is not a golden query") from error
        if golden.id in goldens:
            raise InvalidInputError(f"{path}:{number} repeats the id {golden.id}")
        goldens[golden.id] = golden
    if not goldens:
        raise InvalidInputError(f"{path} holds no golden query")
    return list(goldens.values())
