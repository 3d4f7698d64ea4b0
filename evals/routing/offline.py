"""Routers judged on recorded arms (`evals.routing.arms`): what each way would have brought and cost."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import Any

from evals.walks.scoring import EVIDENCE_CHARS
from webrag_core.routing.expected import stored_complete
from webrag_core.routing.features import CorpusState, Read, RouteFeatures, read_with
from webrag_core.routing.question import Question
from webrag_core.routing.router_rules import GROUND

Row = Mapping[str, Any]
Passages = Sequence[Mapping[str, Any]]
COST_PER_PAGE = 0.02
COST_PER_SECOND = 0.01
"""What a page fetched (previews included) and a second count against a full answer, which counts 1."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether the first 32,000 characters of evidence hold every quote (0 or 1; 0 for an unanswerable question), the
    pages fetched and the seconds taken."""

    found: float
    pages: float = 0.0
    seconds: float = 0.0

    @property
    def cost(self) -> float:
        """Pages and seconds, in answers."""
        return COST_PER_PAGE * self.pages + COST_PER_SECOND * self.seconds

    @property
    def utility(self) -> float:
        """What was found less what it cost."""
        return self.found - self.cost


def search_only(row: Row) -> Judged:
    """The agent `corpus` alone."""
    arm = row.get("corpus")
    return Judged(0.0) if arm is None else Judged(_found_share(row, arm["passages"]), 0.0, arm["seconds"])


def walk_only(row: Row) -> Judged:
    """The agent `pages` alone."""
    arm = row["pages"]
    return Judged(_found_share(row, arm["passages"]), arm["pages"], arm["seconds"])


def both(row: Row, *, in_turn: bool = False) -> Judged:
    """Both at once (the longer one counts), or in turn, their passages merged by score."""
    if row.get("corpus") is None:
        return walk_only(row)
    search, walk = search_only(row), walk_only(row)
    seconds = search.seconds + walk.seconds if in_turn else max(search.seconds, walk.seconds)
    return Judged(_found_share(row, _merged(row["corpus"]["passages"], row["pages"]["passages"])), walk.pages, seconds)


def by_rules(row: Row) -> Judged:
    """What the ground rules plan, with their condition on the walk."""
    read = _read(row)
    tasks = next(rule for rule in GROUND if rule.fires(read)).tasks(read)
    walk = next((task for task in tasks if task.params.kind == "pages.walk"), None)
    if walk is None:
        return search_only(row)
    if len(tasks) == 1:
        return walk_only(row)
    if walk.unless is None:
        return both(row)
    coverage = row["features"]["stored_links"]
    if "corpus" in row and stored_complete(row["corpus"]["complete"], coverage) >= walk.unless:
        return search_only(row)
    return both(row, in_turn=True)


def at_random(row: Row) -> Judged:
    """One agent or both, drawn by the item's name: the same each time."""
    return random.Random(f"{row['id']} {row['state']}").choice([search_only, walk_only, both])(row)


def best_agent(row: Row) -> Judged:
    """The agent that finds more, in hindsight; of equal ones the cheaper."""
    return max(search_only(row), walk_only(row), key=lambda item: (item.found, -item.cost))


def most_useful(row: Row) -> Judged:
    """The agent of greater utility, in hindsight."""
    return max(search_only(row), walk_only(row), key=lambda item: item.utility)


ROUTERS: Mapping[str, Callable[[Row], Judged]] = {
    "rules": by_rules,
    "always corpus": search_only,
    "always pages": walk_only,
    "all at once": both,
    "random": at_random,
    "best agent in hindsight": best_agent,
    "most useful agent in hindsight": most_useful,
}


def features_of(row: Row) -> RouteFeatures:
    """Those of the features that were recorded that plans are made from."""
    known = {field.name for field in fields(RouteFeatures)}
    return RouteFeatures(**{name: value for name, value in row["features"].items() if name in known})


def _read(row: Row) -> Read:
    """The question as it was read, as far as the ground rules need it."""
    read = read_with(Question("?", ("https://site.example/",)), CorpusState(), date.min)
    features = features_of(row)
    return replace(read, features=features, parts=("?",) * features.parts)


def _found_share(row: Row, passages: Passages) -> float:
    room, needs = EVIDENCE_CHARS, set()
    for passage in passages:
        room -= passage["chars"]
        if room < 0:  # a passage that is cut off counts as not read
            break
        needs |= set(passage["holds"])
    return float(row["needs"] > 0 and len(needs) == row["needs"])


def _merged(*lists: Passages) -> Passages:
    best: dict[str, Mapping[str, Any]] = {}
    for passages in lists:
        for passage in passages:
            if passage["key"] not in best or best[passage["key"]]["score"] < passage["score"]:
                best[passage["key"]] = passage
    return sorted(best.values(), key=lambda item: -item["score"])
