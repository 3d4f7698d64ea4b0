"""Goldens of the router's rules: questions and states of the corpus that must and must not fire each.

python -m evals.routing.rules
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pydantic import BaseModel, Field

from evals.jsonl import load_jsonl
from evals.walks.goldens import EVALS
from webrag_core.routing.features import CorpusState, read_with
from webrag_core.routing.plan import Budget, Iteration
from webrag_core.routing.question import Question
from webrag_core.routing.router_rules import GROUND, SPECIAL, plan_by_rules

GOLDENS = EVALS / "golden" / "routes.jsonl"
AGENTS = ("api", "corpus", "graph", "history", "pages", "tables")
_TODAY = date(2026, 11, 25)


class RouteGolden(BaseModel):
    """A question about pages at `urls`, what the corpus holds (`CorpusState`), the `rules` that make the plan in their
    order, and rules that would be mistaken (`not`)."""

    id: str
    question: str
    urls: list[str] = []
    at: str | None = None
    since: str | None = None
    years: list[int] = []
    state: CorpusState
    rules: list[str]
    mistaken: list[str] = Field(alias="not")


@dataclass(frozen=True, slots=True)
class Checked:
    """A golden beside the rules that made the plan."""

    golden: RouteGolden
    rules: list[str]

    @property
    def right(self) -> bool:
        """Whether the plan is by the rules that were expected, and by no mistaken one."""
        return self.rules == self.golden.rules and not set(self.rules) & set(self.golden.mistaken)


def load_routes(path: Path = GOLDENS) -> list[RouteGolden]:
    """Read the goldens. Raises InvalidInputError naming the first line that is none or repeats an id."""
    return load_jsonl(path, RouteGolden.model_validate, "a golden route", lambda golden: golden.id)


def check(goldens: Sequence[RouteGolden]) -> list[Checked]:
    """Plan every golden by the rules."""
    return [Checked(golden, _rules(golden)) for golden in goldens]


def _rules(golden: RouteGolden) -> list[str]:
    question = Question(
        golden.question, tuple(golden.urls), at=golden.at, since=golden.since, years=tuple(golden.years)
    )
    read = read_with(question, golden.state, _TODAY)
    made = plan_by_rules(read, Budget(seconds=60, chat_calls=6), Iteration(), AGENTS)
    return made.made_by.removeprefix("rules: ").split(", ")


def main() -> None:
    """Command line entry."""
    checked = check(load_routes())
    wrong = [check for check in checked if not check.right]
    for case in wrong:
        print(f"{case.golden.id} {case.golden.question!r}: {case.rules}, expected {case.golden.rules}")
    print(f"{len(checked) - len(wrong)} of {len(checked)} goldens, {len(SPECIAL) + len(GROUND)} rules")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
