"""Each operation once, whatever the face: its parameters keep their name, their default and their bounds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, get_type_hints

import pytest
import typer
from pydantic_core import PydanticUndefined

from webrag_core.application import (
    attaching,
    closing_gaps,
    operations,
    reading,
    sharing,
    site_preview,
    upkeep,
    watching,
)
from webrag_core.application.attaching import (
    AttachSite,
    ReadPages,
    ReadSource,
    SourceName,
    SourceProgress,
    StopReading,
)
from webrag_core.application.closing_gaps import GoldenGap
from webrag_core.application.inputs import Operation
from webrag_core.application.operations import Ask, GatherEvidence, RecordFeedback, Search
from webrag_core.application.reading import (
    ChangedAnswers,
    Changes,
    Citations,
    Compare,
    History,
    LatestChanges,
    ListAnswers,
    ListConversations,
    ListGaps,
    ListSources,
    OpenAnswer,
    OpenConversation,
    Reading,
    Status,
    Verify,
)
from webrag_core.application.sharing import ListShares, RevokeShare, ShareAnswer
from webrag_core.application.site_preview import PreviewSite
from webrag_core.application.upkeep import (
    AddSource,
    Forget,
    Ingest,
    PauseSources,
    Prune,
    Refresh,
    RemoveSource,
    Scrub,
    Upkeep,
)
from webrag_core.application.watching import AddWatch, CheckWatches, ListWatches, RemoveWatch
from webrag_core.cli.answer import answer
from webrag_core.cli.ask import ask, plan
from webrag_core.cli.corpus import ingest, refresh
from webrag_core.cli.feedback import record_command
from webrag_core.cli.history import list_command
from webrag_core.cli.main import app
from webrag_core.cli.search import search
from webrag_core.cli.sources import add
from webrag_core.mcp_server import tools
from webrag_core.sync import WebRAG
from webrag_core.web.api.app import OPERATIONS
from webrag_core.web.searching import SearchForm
from webrag_dagster.defs.answer import AnswerConfig
from webrag_dagster.defs.ask import AskConfig
from webrag_dagster.defs.attach import AttachConfig
from webrag_dagster.defs.feedback import FeedbackConfig
from webrag_dagster.defs.forget import ForgetConfig

Defaults = Mapping[str, object]


def names(text: str) -> frozenset[str]:
    """The names in a text."""
    return frozenset(text.split())


REQUIRED = object()
UNSET: tuple[object, ...] = (None, "", (), [], REQUIRED)
SHOWN = names("as_json html markdown show_all stream proof fail_unless_answered quotes")
"""Options of commands that say how a result is shown."""
REPEATED = MappingProxyType(
    {"url": "urls", "source": "sources", "year": "years", "language": "languages", "kind": "types", "flag": "flags",
     "formulation": "formulations", "budget": "expansion_budget", "constraint": "constraints", "exclude": "excluded"}
)  # fmt: skip
"""Options of commands that are named once for each value, or shorter; and the parameters that they are."""


@dataclass(frozen=True)
class Carried:
    """What a face has of an operation. `names` are those of parameters that it calls something else. `beside` are
    parameters of the face alone, `without` those of the operation that it lacks, and `defaults` those that it sets
    otherwise, each for a reason."""

    found: Callable[[], Defaults]
    names: Mapping[str, str] = field(default_factory=dict)
    beside: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    defaults: frozenset[str] = frozenset()


def command(*path: str) -> Callable[[], Defaults]:
    """The options of a command but those that say how its result is shown."""

    def found() -> Defaults:
        group: Any = _commands()
        for name in path:
            group = group.commands[name]
        options = {option.name: REQUIRED if option.required else option.default for option in group.params}
        return {name: default for name, default in options.items() if name not in SHOWN}

    return found


@cache
def _commands() -> Any:
    return typer.main.get_command(app)


def method(name: str, options: str = "options") -> Callable[[], Defaults]:
    """The parameters of a method of the library; its keywords have the defaults of the operation."""

    def found() -> Defaults:
        parameters: dict[str, object] = {}
        for key, parameter in inspect.signature(getattr(WebRAG, name), eval_str=True).parameters.items():
            if key == options:
                [keywords] = parameter.annotation.__args__
                parameters |= dict.fromkeys(keywords.__annotations__)
            elif key != "self":
                parameters[key] = REQUIRED if parameter.default is parameter.empty else parameter.default
        return parameters

    return found


def tool(name: str) -> Callable[[], Defaults]:
    """The arguments of a tool for models."""

    def found() -> Defaults:
        parameters = inspect.signature(getattr(tools, name)).parameters.values()
        return {
            one.name: REQUIRED if one.default is one.empty else one.default for one in parameters if one.name != "ctx"
        }

    return found


def launchpad(config: Any) -> Callable[[], Defaults]:
    """The fields of a job. Those of the demo are filled in for who launches it the first time."""
    return lambda: {name: REQUIRED if one.is_required() else one.default for name, one in config.model_fields.items()}


def form() -> Defaults:
    """The fields of the page that searches."""
    return {name: one.default for name, one in SearchForm.__dataclass_fields__.items()}


WHERE = names("urls question")
REST = {endpoint.takes for endpoint in OPERATIONS}
FACES: Mapping[type[Operation], Mapping[str, Carried]] = {
    Ask: {
        "command": Carried(command("ask"), REPEATED),
        "command plan": Carried(command("plan"), REPEATED),
        "library": Carried(method("ask")),
        "library, events": Carried(method("events")),
        "library, plan": Carried(method("plan")),
        "job": Carried(launchpad(AskConfig), defaults=names("question urls")),
    },
    GatherEvidence: {
        "command": Carried(
            command("answer"),
            REPEATED,
            beside=names("also at time"),  # more start pages; a search of the past
            without=names("seconds"),
        ),
        "library": Carried(method("answer")),
        "tool": Carried(
            tool("answer"),
            {"url": "urls", "retrieval_mode": "mode"},
            # `sources` are a `scope`; the last two are of answers in prose
            beside=names("research_mode sources at time style output follows carry"),
            without=names("excluded seconds"),
        ),
        "job": Carried(launchpad(AnswerConfig), defaults=names("urls question")),
    },
    Search: {
        "command": Carried(command("search"), REPEATED),
        "library": Carried(method("search")),
        "library, awaited": Carried(method("asearch")),
        "tool": Carried(
            tool("search"),
            {"source_urls": "urls", "retrieval_mode": "mode"},
            beside=names("output"),
            # how, not where; what a model seldom needs costs it attention
            without=names("pattern formulations years fusion alpha context_budget"),
        ),
        "page": Carried(
            form,
            {"words": "question", "below": "urls", "number": "top_k"},
            beside=names("every page"),
            without=names("intent pattern formulations years fusion alpha mode context_budget"),
            defaults=names("top_k"),  # results of one page
        ),
    },
    RecordFeedback: {
        "command": Carried(command("feedback", "record"), beside=names("version span actor")),
        "tool": Carried(tool("feedback")),
        "job": Carried(launchpad(FeedbackConfig), beside=names("actor"), defaults=names("kind")),
    },
    ListAnswers: {"command": Carried(command("answers", "list"))},
    OpenAnswer: {
        "command": Carried(command("answers", "show")),
        "command references": Carried(command("answers", "references"), beside=names("form file")),
    },
    ListConversations: {"command": Carried(command("answers", "conversations"))},
    ListGaps: {"command": Carried(command("answers", "gaps"), beside=names("pages ingest yes"))},
    GoldenGap: {"command": Carried(command("feedback", "gap"))},
    ReadPages: {},
    ShareAnswer: {"command": Carried(command("answers", "share"))},
    ListShares: {"command": Carried(command("answers", "shares"))},
    RevokeShare: {"command": Carried(command("answers", "unshare"))},
    OpenConversation: {"command": Carried(command("answers", "conversation"))},
    Citations: {
        "command": Carried(command("citations"), {"answer": "answers"}),
        "library": Carried(method("citations"), without=names("changed")),
    },
    History: {
        "library": Carried(method("page_at"), without=names("limit")),
        "tool": Carried(tool("history"), beside=names("since until answer conversation"), without=names("limit")),
    },
    Compare: {"library": Carried(method("compare"))},
    Changes: {},
    LatestChanges: {},
    ChangedAnswers: {},
    ListSources: {"command": Carried(command("source", "list"), without=names("limit offset"))},
    Status: {"command": Carried(command("status"))},
    Verify: {"command": Carried(command("verify"))},
    Ingest: {
        "command": Carried(
            command("ingest"),
            beside=names("warc git base_url dates revision archived"),
            without=names("again"),  # who types an address wants the page
        ),
        "library": Carried(method("ingest_all")),
        "library, one": Carried(method("ingest"), {"url": "urls"}),
        "tool": Carried(
            tool("ingest"), {"url": "urls"}, without=names("all_text again")
        ),  # a model does not undo what a person removed
    },
    Refresh: {"command": Carried(command("refresh")), "library": Carried(method("refresh"))},
    AddSource: {
        "command": Carried(command("source", "add"), {"owner": "owners"}),
        "library": Carried(method("add_source")),
        "job": Carried(launchpad(AttachConfig), defaults=names("url")),
    },
    AttachSite: {
        "tool": Carried(tool("attach"), beside=names("look"), without=names("prefix acquirer all_text name owners")),
    },
    PreviewSite: {},
    ReadSource: {},
    SourceProgress: {},
    StopReading: {},
    PauseSources: {
        "command": Carried(command("source", "pause"), without=names("paused")),
        "command resume": Carried(command("source", "resume"), without=names("paused")),
    },
    RemoveSource: {
        "command": Carried(command("source", "remove"), beside=names("yes"), without=names("by")),
        "library": Carried(method("remove_source")),
    },
    Scrub: {
        "command": Carried(command("forget"), beside=names("yes dry_run to_scrub"), without=names("by beside_others")),
        "job": Carried(launchpad(ForgetConfig), beside=names("scrub"), without=names("by beside_others")),
    },
    AddWatch: {
        "command": Carried(
            command("watch", "add"), {"source": "sources"}, beside=names("daily"), without=names("pace")
        ),
    },
    ListWatches: {"command": Carried(command("watch", "list"), without=names("limit offset"))},
    RemoveWatch: {"command": Carried(command("watch", "remove"))},
    CheckWatches: {"command": Carried(command("watch", "check"), without=names("only"))},
    Forget: {
        "command": Carried(command("forget"), beside=names("yes to_scrub"), without=names("by")),
        "library": Carried(method("forget")),
        "job": Carried(launchpad(ForgetConfig), beside=names("scrub"), without=names("by dry_run")),
    },
    Prune: {"command": Carried(command("prune"))},
}
"""Which face carries which operation. REST takes the operations themselves; the others stand here."""


def test_each_operation_is_listed_and_has_a_face() -> None:
    modules = (attaching, closing_gaps, operations, reading, sharing, site_preview, upkeep, watching)
    defined = {
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type)
        and issubclass(one, Operation)
        and one.__module__ == module.__name__
        and "[" not in one.__name__
    }
    assert defined - {Reading, SourceName, Upkeep} == FACES.keys()
    assert {operation for operation, faces in FACES.items() if not faces} <= REST
    assert FACES.keys() >= REST


@pytest.mark.parametrize(
    ("operation", "face", "carried"),
    [(operation, face, carried) for operation, faces in FACES.items() for face, carried in faces.items()],
    ids=lambda value: getattr(value, "__name__", value if isinstance(value, str) else ""),
)
def test_a_face_has_the_parameters_of_its_operation(operation: type[Operation], face: str, carried: Carried) -> None:
    """A new parameter of an operation fails here until each face has it, or says why not."""
    given = {carried.names.get(name, name): default for name, default in carried.found().items()}
    assert carried.beside <= given.keys()
    assert given.keys() - carried.beside == operation.model_fields.keys() - carried.without
    for name, parameter in operation.model_fields.items():
        if name not in given or name in carried.defaults or given[name] in UNSET:
            continue
        default = parameter.default
        assert default is not PydanticUndefined, f"{name} has a default in the {face} and none in the operation"
        assert str(given[name]) in (str(default), str(getattr(default, "short", default))), name


def test_every_door_of_the_search_filters_alike() -> None:
    """`since` and `until` say a year, too."""
    filters = names("sources urls since until years languages types flags")
    assert filters <= Search.model_fields.keys()
    lacking = {face: filters & carried.without for face, carried in FACES[Search].items()}
    assert {face: left for face, left in lacking.items() if left} == {"tool": {"years"}, "page": {"years"}}


def test_no_option_has_bounds_of_its_own() -> None:
    """Bounds stand in the operation; those of an option beside it would drift."""
    bounded = {
        (command.__name__, name)
        for command in (ask, plan, answer, search, refresh, ingest, add, list_command, record_command)
        for name, hint in get_type_hints(command, include_extras=True).items()
        for option in getattr(hint, "__metadata__", ())
        if name not in SHOWN and (option.min, option.max) != (None, None)
    }
    assert bounded == set()
