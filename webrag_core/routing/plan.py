"""A plan: which agents are asked for what, in which order, within which limits. Data: printed, stored, replayed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from webrag_core.acquisition.legal_identifiers import parse_legal_identifier
from webrag_core.errors import InvalidInputError
from webrag_core.history.models import TimeAxis
from webrag_core.indexing.graph.model import EdgeKind
from webrag_core.orchestration.models import QueryType
from webrag_core.retrieval.models import Contract
from webrag_core.retrieval.request import ScopeFilter

Agent = Literal["corpus", "pages", "graph", "history", "tables", "api"]
MAX_TASKS = 8
_WALK_SHARE = 11 / 12  # of the time of an answer; the rest is for composing
Names = Annotated[list[str], Field(min_length=1, max_length=8)]


class _Scoped(Contract):
    """Restricted to some stored pages: of named sources, or below addresses. Empty = all of them."""

    sources: list[str] = Field(default_factory=list)
    below: list[str] = Field(default_factory=list)

    def filters(self) -> ScopeFilter:
        """As a search takes it."""
        return ScopeFilter(sources=self.sources or None, url_prefixes=self.below or None)


class _Wanted(Contract):
    """What a reranker is told of the evidence that is wanted; see `AnswerRequest`."""

    intent: QueryType | None = None
    constraints: list[str] = Field(default_factory=list)


class CorpusSearch(_Wanted, _Scoped):
    """Search what is stored, with `since`, `until` and `years` as of `Question`. `coverage` is the share of the site
    that is stored, as far as the plan knows."""

    kind: Literal["corpus.search"] = "corpus.search"
    query: str
    coverage: float | None = Field(default=None, ge=0, le=1)
    k: int | None = Field(default=None, ge=1, le=100)
    since: str | None = None
    until: str | None = None
    years: list[int] = Field(default_factory=list)


class PagesWalk(_Wanted):
    """Read pages and follow their links to the evidence. Stored pages of their source (or of `sources`) count too.
    `max_age` as of `AnswerRequest`."""

    kind: Literal["pages.walk"] = "pages.walk"
    query: str
    urls: Names
    sources: list[str] = Field(default_factory=list)
    expansion_budget: int | None = Field(default=None, ge=0)
    max_age: float | None = Field(default=None, ge=0)


class GraphLinked(Contract):
    """What mentions, links to, documents, deprecates or replaces things (`in`), or what they do so themselves."""

    kind: Literal["graph.linked_items"] = "graph.linked_items"
    keys: Names
    kinds: list[EdgeKind] = Field(default_factory=list)
    direction: Literal["in", "out"] = "in"
    sources: list[str] = Field(default_factory=list)
    k: int = Field(default=20, ge=1, le=100)


class GraphRelated(Contract):
    """Pages, symbols and terms near things."""

    kind: Literal["graph.expand_related"] = "graph.expand_related"
    keys: Names
    depth: int = Field(default=2, ge=1, le=2)
    k: int = Field(default=10, ge=1, le=50)


class GraphHierarchy(Contract):
    """What a page, section or class contains (`down`), or what contains it (`up`)."""

    kind: Literal["graph.hierarchy"] = "graph.hierarchy"
    keys: Names
    direction: Literal["down", "up"] = "down"
    depth: int = Field(default=2, ge=1, le=6)


class GraphAt(Contract):
    """What pages said about things at a date."""

    kind: Literal["graph.version_at"] = "graph.version_at"
    keys: Names
    at: str


class HistorySearch(_Scoped):
    """Search what the pages said at a date, or with `time` valid the texts that hold then."""

    kind: Literal["history.search_at"] = "history.search_at"
    query: str
    at: str
    time: TimeAxis = "seen"


class HistoryPage(Contract):
    """What one page said at a date."""

    kind: Literal["history.page_at"] = "history.page_at"
    url: str
    at: str
    time: TimeAxis = "seen"


class HistoryVersions(Contract):
    """The texts that a page has had, and when."""

    kind: Literal["history.versions"] = "history.versions"
    url: str


class HistoryChanges(Contract):
    """What changed on pages or in whole sources, first seen within [since, until); None leaves that side open."""

    kind: Literal["history.changes"] = "history.changes"
    targets: Names
    since: str | None = None
    until: str | None = None


class HistoryCitations(Contract):
    """Whether the quotes of an answer still stand on their pages."""

    kind: Literal["history.citations"] = "history.citations"
    answer: int


class TablesLookup(_Scoped):
    """The cells of tables in a row and a column that the question names."""

    kind: Literal["tables.lookup"] = "tables.lookup"
    query: str
    k: int = Field(default=5, ge=1, le=50)


class ApiFetch(Contract):
    """Documents by identifier (URN, ELI) or from a web archive, at a date; what comes is stored."""

    kind: Literal["api.fetch"] = "api.fetch"
    identifiers: Names
    at: str | None = None


Params = Annotated[
    CorpusSearch
    | PagesWalk
    | GraphLinked
    | GraphRelated
    | GraphHierarchy
    | GraphAt
    | HistorySearch
    | HistoryPage
    | HistoryVersions
    | HistoryChanges
    | HistoryCitations
    | TablesLookup
    | ApiFetch,
    Field(discriminator="kind"),
]


class Task(Contract):
    """One thing asked of one agent.

    It begins when the tasks in `after` have ended. With `unless`, a probability in [0, 1], it is skipped when those
    already hold evidence that is complete with at least this probability. `deadline` in seconds from its beginning.
    Without the result of a `required` task the answer is partial at best. `sub_question` is the part of the question
    that it serves.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")
    params: Params
    sub_question: int = Field(default=0, ge=0)
    after: list[str] = Field(default_factory=list)
    unless: float | None = Field(default=None, ge=0, le=1)
    deadline: float = Field(default=10.0, gt=0)
    required: bool = False

    @property
    def agent(self) -> str:
        """Who is asked."""
        return self.params.kind.partition(".")[0]


class Iteration(Contract):
    """How often a plan may be made for what is still open: at most `max_iterations` plans in all, while the confidence
    is below `min_confidence`."""

    max_iterations: int = Field(default=2, ge=1, le=3)
    min_confidence: float = Field(default=0.5, ge=0, le=1)


class Budget(Contract):
    """Limits of a whole answer: seconds, and exchanges with a chat model."""

    seconds: float = Field(gt=0)
    chat_calls: int = Field(ge=0)


class ExecutionPlan(Contract):
    """What is done to answer a question.

    `parts` are the sub-questions (the question itself without any). Evidence of several tasks is merged by its score,
    or by rank (`rrf`) where scores are of different scales. `made_by` names the rules or the chat model, `rationale`
    says why, for people.
    """

    version: Literal[1] = 1
    trace_id: str | None = None
    question: str
    parts: list[str] = Field(min_length=1, max_length=4)
    kind: QueryType = "factual"
    tasks: list[Task] = Field(min_length=1, max_length=MAX_TASKS)
    merge: Literal["score", "rrf"] = "score"
    iteration: Iteration = Iteration()
    budget: Budget
    made_by: str
    rationale: str
    warnings: list[str] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What plans may use: addresses and identifiers for plugins (`urls`) that the caller gave, keys of stored sources,
    agents with a backend. `within`: the sources that the caller restricts the question to; empty = all. `known`:
    whether an address is of a stored page."""

    urls: frozenset[str]
    sources: frozenset[str]
    agents: frozenset[str]
    within: frozenset[str] = frozenset()
    known: Callable[[str], bool] = lambda url: False


def within(task: Task, budget: Budget) -> Task:
    """The task, with a deadline that the budget allows. Pages may be read nearly as long as the answer may take."""
    walks = isinstance(task.params, PagesWalk)
    deadline = _WALK_SHARE * budget.seconds if walks else min(task.deadline, budget.seconds)
    return task.model_copy(update={"deadline": deadline})


def problems(plan: ExecutionPlan, capabilities: Capabilities) -> list[str]:
    """Everything that is wrong with a plan, for people; empty for a plan that can be run."""
    issues: list[str] = []
    ids = [task.id for task in plan.tasks]
    issues += [f"two tasks are called {number}" for number in dict.fromkeys(ids) if ids.count(number) > 1]
    for task in plan.tasks:
        issues += [f"{task.id}: {problem}" for problem in _task_problems(task, plan, capabilities)]
    if _circle(plan.tasks):
        issues.append(f"tasks wait for each other in a circle: {', '.join(_circle(plan.tasks))}")
    return issues


def _task_problems(task: Task, plan: ExecutionPlan, capabilities: Capabilities) -> list[str]:
    ids = {other.id for other in plan.tasks}
    issues = [f"waits for {name}, which is no task of this plan" for name in task.after if name not in ids]
    if task.unless is not None and not task.after:
        issues.append("is to be skipped because of other tasks, and waits for none")
    if task.required and task.unless is not None:
        issues.append("is required, and may be skipped")
    if task.agent not in capabilities.agents:
        issues.append(f"agent {task.agent} has nothing to work with here")
    if task.sub_question >= len(plan.parts):
        issues.append(f"serves part {task.sub_question + 1} of a question with {len(plan.parts)}")
    if task.deadline > plan.budget.seconds:
        issues.append(f"may take {task.deadline:g} s, and the whole answer {plan.budget.seconds:g} s")
    sources = set(getattr(task.params, "sources", ()))
    allowed = capabilities.within or capabilities.sources
    issues += [f"source {source} is not one that may be asked" for source in sorted(sources - allowed)]
    if capabilities.within and not sources and hasattr(task.params, "sources"):
        issues.append(f"asks beyond the sources {', '.join(sorted(capabilities.within))}")
    for url in _fetched(task):
        if url not in capabilities.urls:
            issues.append(f"would fetch {url}, which nobody gave")
    for target in _read(task):
        if "://" not in target:
            if target not in allowed:
                issues.append(f"source {target} is not one that may be asked")
        elif target not in capabilities.urls and not capabilities.known(target):
            issues.append(f"{target} is neither stored nor given")
    return issues


def _fetched(task: Task) -> Sequence[str]:
    """The addresses and identifiers that are asked for outside; those of laws are looked up among what is stored."""
    match task.params:
        case PagesWalk(urls=urls):
            return urls
        case ApiFetch(identifiers=identifiers):
            addresses = identifiers
        case _:
            return ()
    return [address for address in addresses if not _of_a_law(address)]


def _of_a_law(identifier: str) -> bool:
    try:
        return parse_legal_identifier(identifier) is not None
    except InvalidInputError:  # of a day that does not exist
        return True


def _read(task: Task) -> Sequence[str]:
    if isinstance(task.params, HistoryChanges):
        return task.params.targets
    return (task.params.url,) if isinstance(task.params, HistoryPage | HistoryVersions) else ()


def _circle(tasks: Sequence[Task]) -> list[str]:
    """Tasks that can never begin, because they wait for each other."""
    waiting = {task.id: {name for name in task.after if any(other.id == name for other in tasks)} for task in tasks}
    while ready := [item for item, after in waiting.items() if not after & waiting.keys()]:
        for item in ready:
            del waiting[item]
    return sorted(waiting)
