"""Golden queries: seed page, query, gold pages and gold quotes."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, model_validator

from evals.jsonl import load_jsonl
from webrag_core.acquisition.urls import page_key

EVALS = Path(__file__).parents[1]
DEFAULT_GOLDEN = EVALS / "golden" / "sitewalk-python-3.11.jsonl"
DEFAULT_SITE = EVALS / "sites" / "python-3.11.warc.gz"

CLUSTER = "seed page"
"""Cluster of the confidence intervals: items with one seed page share their first evidence and links."""

Kind = Literal["on_seed", "one_hop", "two_hop", "multi_page", "unanswerable"]
Style = Literal["keywords", "how_to", "paraphrase", "navigational", "multi_part", "yes_no", "numeric"]
Origin = Literal["written", "generated"]


class GoldenQuery(BaseModel):
    """One item. `gold_pages` lists alternatives per need, `gold_quotes` runs parallel to it; both are empty for an
    unanswerable query. `oracle_pages` is the least number of pages that answers it, seed included. `style` is how the
    question is put, `origin` whether a writer or a script (`evals.sites.generation`) put it; a file that states neither
    holds written paraphrases."""

    id: str
    site: str
    seed_url: str
    query: str
    style: Style = "paraphrase"
    origin: Origin = "written"
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
    return load_jsonl(path, GoldenQuery.model_validate, "a golden query", lambda golden: golden.id)
