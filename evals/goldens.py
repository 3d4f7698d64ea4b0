"""Golden queries of site walks: what is asked where, and which pages and quotes answer it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ValidationError, model_validator

from webrag_core.errors import InvalidInputError

HERE = Path(__file__).parent
DEFAULT_GOLDEN = HERE / "golden" / "sitewalk-python-3.11.jsonl"
DEFAULT_SITE = HERE / "sites" / "python-3.11.warc.gz"

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
