"""Plans by rules. The first special rule that fires says which agent knows more than a search does, the first ground
rule where passages come from. Both are ordered; `evals/golden/routes.jsonl` holds what must and must not fire each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from webrag_core.indexing.graph.model import EdgeKind
from webrag_core.routing import plan
from webrag_core.routing.features import Read

MOSTLY_STORED = 0.65
"""Share of a page's links within its site that are stored, from which the site counts as stored."""
WALK_UNLESS = 0.3
"""Probability that the passages of a stored site are complete, from which no page is read."""
PARTLY_UNLESS = 0.8
"""As `WALK_UNLESS`, of a site of which much is not stored. All three were chosen on the fitting sites."""
_PAST_UNLESS = 0.05  # a passage of then, however weak, keeps those of now out
_SECONDS = {"corpus": 15.0, "graph": 10.0, "history": 30.0, "tables": 15.0, "api": 30.0, "pages": 55.0}
_MOST_TARGETS = 8
_LATELY = re.compile(r"\b(?:recent(?:ly)?|late(?:ly|st)|last|newest|this (?:page|site)|these pages)\b", re.IGNORECASE)

Fires = Callable[[Read], bool]
Tasks = Callable[[Read], list[plan.Task]]


@dataclass(frozen=True, slots=True)
class Rule:
    """`why` is said to people. A rule that is `alone` makes the whole plan."""

    id: str
    why: str
    fires: Fires
    tasks: Tasks
    alone: bool = False


def plan_by_rules(
    read: Read, budget: plan.Budget, iteration: plan.Iteration, agents: Sequence[str]
) -> plan.ExecutionPlan:
    """The plan of the first rules that fire, of those whose agents are there. Some ground rule always does."""
    special = next((rule for rule in SPECIAL if rule.fires(read) and _can(rule.tasks(read), agents)), None)
    rules = [special] if special is not None else []
    tasks = special.tasks(read) if special is not None else []
    if special is None or not special.alone:
        ground = next(rule for rule in GROUND if rule.fires(read))
        rules.append(ground)
        tasks = [*tasks, *ground.tasks(read)]
    return plan_of(
        read,
        tasks,
        budget,
        iteration,
        made_by=f"rules: {', '.join(rule.id for rule in rules)}",
        rationale="; ".join(rule.why for rule in rules),
    )


def default_plan(read: Read, budget: plan.Budget, iteration: plan.Iteration) -> plan.ExecutionPlan:
    """What is done when no other plan holds: search what is stored, and read what was given, side by side."""
    tasks = [search_task(read)] if read.features.any_stored or not read.urls else []
    if read.urls:
        tasks.append(walk_task(read))
    return plan_of(
        read, tasks, budget, iteration, made_by="default", rationale="what is stored and what was given, side by side"
    )


def plan_of(
    read: Read,
    tasks: Sequence[plan.Task],
    budget: plan.Budget,
    iteration: plan.Iteration,
    *,
    made_by: str,
    rationale: str,
) -> plan.ExecutionPlan:
    """A plan of these tasks, as many as it may have, none longer than the whole answer."""
    return plan.ExecutionPlan(
        question=read.question.text,
        parts=list(read.parts)[:4],
        kind=read.kind,
        tasks=[plan.within(task, budget) for task in tasks[: plan.MAX_TASKS]],
        iteration=iteration,
        budget=budget,
        made_by=made_by,
        rationale=rationale,
    )


def task_of(id: str, params: plan.Params, **options: object) -> plan.Task:
    """A task with the usual deadline of its agent."""
    deadline = _SECONDS[params.kind.partition(".")[0]]
    return plan.Task.model_validate({"id": id, "params": params, "deadline": deadline, **options})


def _can(tasks: Sequence[plan.Task], agents: Sequence[str]) -> bool:
    return all(task.agent in agents for task in tasks)


def search_task(read: Read, **options: object) -> plan.Task:
    """Search the stored pages that the question is restricted to."""
    coverage = read.features.stored_links if read.urls else None
    return task_of("search", _search(read, read.question.text).model_copy(update={"coverage": coverage}), **options)


def _search(read: Read, query: str) -> plan.CorpusSearch:
    question = read.question
    return plan.CorpusSearch(
        query=query,
        sources=list(question.sources),
        below=[] if question.sources else read.roots,
        since=question.since,
        until=question.until,
        years=list(question.years),
        intent=question.intent,
        constraints=list(question.constraints),
    )


def walk_task(read: Read, **options: object) -> plan.Task:
    """Read the pages that the question names."""
    params = plan.PagesWalk(
        query=read.question.text,
        urls=list(read.urls),
        sources=list(read.question.sources),
        expansion_budget=read.question.expansion_budget,
        max_age=read.question.max_age,
        intent=read.question.intent,
        constraints=list(read.question.constraints),
    )
    return task_of("walk", params, **options)


def _by_part(read: Read) -> list[plan.Task]:
    by_part = [
        task_of(f"search_{number + 1}", _search(read, part), sub_question=number)
        for number, part in enumerate(read.parts[:4])
    ]
    return [search_task(read, required=True), *by_part]


def past_task(read: Read) -> plan.Task:
    """Search what the pages said at the date that the caller or the question names."""
    params = plan.HistorySearch(
        query=read.question.text,
        at=read.at or "now",
        time=read.question.time,
        sources=list(read.question.sources),
        below=read.roots,
    )
    return task_of("past", params, required=True)


def _then_or_now(read: Read, *tasks: plan.Task) -> list[plan.Task]:
    """Tasks about a past date, the last of which searches then; today is searched only if it finds nothing."""
    return [*tasks, search_task(read, after=[tasks[-1].id], unless=_PAST_UNLESS)]


def _page_then(read: Read) -> list[plan.Task]:
    page, at = read.pages[0], read.at or "now"
    text = plan.HistoryPage(url=page, at=at, time=read.question.time)
    search = plan.HistorySearch(
        query=read.question.text, at=at, time=read.question.time, sources=list(read.question.sources), below=[page]
    )
    return _then_or_now(read, task_of("page", text, required=True), task_of("past", search))


def _said_then(read: Read) -> list[plan.Task]:
    params = plan.GraphAt(keys=list(read.keys[:1]), at=read.at or "now")
    return _then_or_now(read, task_of("said", params), past_task(read))


def graph_task(read: Read, what: Literal["linked", "contains", "holds", "related"], *kinds: EdgeKind) -> plan.Task:
    """Ask the graph about the thing that the question names."""
    keys = list(read.keys[:1])
    params: plan.Params
    match what:
        case "linked":
            params = plan.GraphLinked(keys=keys, kinds=list(kinds), sources=list(read.question.sources))
        case "contains":
            params = plan.GraphHierarchy(keys=keys)
        case "holds":
            params = plan.GraphHierarchy(keys=keys, direction="up")
        case "related":
            params = plan.GraphRelated(keys=list(read.keys[:2]))
    return task_of("graph", params)


def changes_task(read: Read) -> plan.Task:
    """Compare the texts that the pages had: of those that the question names, else of the given pages, else of the
    given sources, else of all."""
    stored = list(read.urls) if read.features.stored_urls == len(read.urls) else []
    targets = list(read.pages) or stored or list(read.question.sources) or sorted(read.known_sources)
    params = plan.HistoryChanges(targets=targets[:_MOST_TARGETS], since=read.since, until=read.until)
    return task_of("changes", params, required=True)


def table_task(read: Read) -> plan.Task:
    """Look for the value in tables."""
    sources = list(read.question.sources)
    params = plan.TablesLookup(query=read.question.text, sources=sources, below=[] if sources else read.roots)
    return task_of("table", params)


def _asks(read: Read, *kinds: str) -> bool:
    return read.intent is not None and read.intent.kind in kinds


def _number(read: Read) -> int:
    return int(read.intent.thing) if read.intent is not None and read.intent.thing else 0


def document_task(read: Read) -> plan.Task:
    """Get the documents that the question names by their identifiers."""
    return task_of("document", plan.ApiFetch(identifiers=list(read.identifiers[:8]), at=read.question.at))


SPECIAL: tuple[Rule, ...] = (
    Rule(
        "quotes_of_answer",
        "the quotes of an answer are looked up where they stood, and on the pages of today",
        lambda read: _asks(read, "quotes"),
        lambda read: [
            task_of(
                "quotes", plan.HistoryCitations(answer=int((read.intent and read.intent.thing) or 0)), required=True
            )
        ],
        alone=True,
    ),
    Rule(
        "dates_given",
        "only stored pages with the dates that were given are searched",
        lambda read: read.question.is_dated,
        lambda read: _by_part(read) if len(read.parts) > 1 else [search_task(read, required=True)],
        alone=True,
    ),
    Rule(
        "identifier",
        "the question names a document by its identifier",
        lambda read: bool(read.identifiers),
        lambda read: [document_task(read)],
    ),
    Rule(
        "past_given",
        "the pages are asked as they were at the date that was given",
        lambda read: read.question.at is not None,
        lambda read: [past_task(read)],
        alone=True,
    ),
    Rule(
        "last_change",
        "the last change of a page is known from the texts that it had",
        lambda read: _asks(read, "last_change") and bool(read.pages),
        lambda read: [task_of("last_change", plan.HistoryVersions(url=read.pages[0]), required=True)],
    ),
    Rule(
        "page_then",
        "the question names a page and a past date: the page is shown as it was then, and searched",
        lambda read: _asks(read, "page_then") and bool(read.pages and read.at and read.features.any_past),
        _page_then,
        alone=True,
    ),
    Rule(
        "said_then",
        "what pages said of a thing at a date is known from the graph, every place with its passage",
        lambda read: _asks(read, "said_then") and bool(read.keys and read.at and read.features.any_past),
        _said_then,
        alone=True,
    ),
    Rule(
        "changes",
        "what changed is known from the texts that the pages had",
        lambda read: (
            _asks(read, "changed")
            and bool(read.features.any_stored)
            and (
                read.since is not None
                or read.until is not None
                or bool(read.pages)
                or (
                    bool(read.features.stored_urls or read.question.sources)
                    and bool(_LATELY.search(read.question.text))
                )
            )
        ),
        lambda read: [changes_task(read)],
    ),
    Rule(
        "past_named",
        "the question names a past date: the pages are asked as of then, those of today only if there is nothing",
        lambda read: read.at is not None and bool(read.features.any_past) and not _asks(read, "changed"),
        lambda read: _then_or_now(read, past_task(read)),
        alone=True,
    ),
    Rule(
        "what_replaced",
        "what replaces or deprecates a thing is a relation that pages state",
        lambda read: _asks(read, "replaced") and bool(read.keys),
        lambda read: [graph_task(read, "linked", "replaces", "deprecates")],
    ),
    Rule(
        "who_uses",
        "who speaks of a thing is known from the graph, every place with its passage",
        lambda read: _asks(read, "uses") and bool(read.keys),
        lambda read: [graph_task(read, "linked")],
    ),
    Rule(
        "what_is_in",
        "what a thing contains is known from the graph",
        lambda read: _asks(read, "contains") and bool(read.keys),
        lambda read: [graph_task(read, "contains")],
    ),
    Rule(
        "what_holds",
        "what contains a thing is known from the graph",
        lambda read: _asks(read, "holds") and bool(read.keys),
        lambda read: [graph_task(read, "holds")],
    ),
    Rule(
        "what_is_related",
        "what is near a thing is known from the graph",
        lambda read: _asks(read, "related") and bool(read.keys),
        lambda read: [graph_task(read, "related")],
    ),
    Rule(
        "value_of",
        "a value of a thing may stand in a table",
        lambda read: _asks(read, "cell") and bool(read.features.any_stored),
        lambda read: [table_task(read)],
    ),
)

GROUND: tuple[Rule, ...] = (
    Rule(
        "unknown_site",
        "nothing of the site is stored: its pages are read",
        lambda read: bool(read.urls) and not read.features.site_pages,
        lambda read: [walk_task(read, required=True)],
    ),
    Rule(
        "stale_page",
        "the stored page is older than WEBRAG_MAX_AGE: it is read again, beside what is stored",
        lambda read: bool(read.features.stale_urls),
        lambda read: [walk_task(read, required=True), search_task(read)],
    ),
    Rule(
        "new_page",
        "the page is new, its site is not: what is stored is searched, and pages are read unless that is surely enough",
        lambda read: bool(read.urls) and read.features.stored_urls < len(read.urls),
        lambda read: [search_task(read), walk_task(read, after=["search"], unless=PARTLY_UNLESS)],
    ),
    Rule(
        "partly_stored",
        "much of the site is not stored: what is, is searched, and pages are read unless that is surely enough",
        lambda read: bool(read.urls) and read.features.stored_links < MOSTLY_STORED,
        lambda read: [search_task(read), walk_task(read, after=["search"], unless=PARTLY_UNLESS)],
    ),
    Rule(
        "stored_site",
        "the site is stored: it is searched, and pages are read only if that is not enough",
        lambda read: bool(read.urls),
        lambda read: [search_task(read, required=True), walk_task(read, after=["search"], unless=WALK_UNLESS)],
    ),
    Rule(
        "several_parts",
        "the question has several parts, and each is looked for among the stored pages",
        lambda read: len(read.parts) > 1,
        _by_part,
    ),
    Rule(
        "stored",
        "the stored pages are searched",
        lambda read: True,
        lambda read: [search_task(read, required=True)],
    ),
)
