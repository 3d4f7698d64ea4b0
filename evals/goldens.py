"""Golden queries of site walks: what is asked where, and which pages and quotes answer it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

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


def load_goldens(path: Path) -> list[GoldenQuery]:
    """Read a JSONL file. Raises InvalidInputError naming the first line that is no golden query."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}") from error
    goldens = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            goldens.append(GoldenQuery.model_validate(json.loads(line)))
        except (json.JSONDecodeError, ValidationError) as error:
            raise InvalidInputError(f"{path}:{number} is not a golden query") from error
    if not goldens:
        raise InvalidInputError(f"{path} holds no golden query")
    return goldens
