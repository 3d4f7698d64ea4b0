"""The parameters of questions. Light: Dagster's launchpads are made of them when a code location loads."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from webrag_core.application.inputs import (
    LONGEST,
    MOST_CONSTRAINTS,
    MOST_PLACES,
    At,
    Date,
    Intent,
    Name,
    Number,
    Operation,
    RetrievalMode,
    Time,
    Url,
)
from webrag_core.orchestration.run_scope import RunScope
from webrag_core.routing.question import MAX_QUESTION, Form

DEFAULT_PAGES = 500
LONGEST_NAME = 100
"""Characters of the name of a source."""
MOST_HOURS = 100_000.0
"""Hours between refreshes of a source."""
_OWNER = re.compile(r"team:[\w .-]+|[A-Za-z0-9][A-Za-z0-9_.%+-]*@[A-Za-z0-9][A-Za-z0-9.-]*\.[A-Za-z]{2,7}")


def _named(owner: str) -> str:
    if not _OWNER.fullmatch(owner):
        raise PydanticCustomError("owner", "an e-mail address, or team:name")
    return owner


Owner = Annotated[str, Field(max_length=200), AfterValidator(_named)]
"""Who looks after a source, as Dagster writes owners."""
AcquirerName = Literal["http", "firecrawl", "browser"]
_CENTURY = 3_155_760_000  # seconds; beyond, no date is left

Constraints = Annotated[
    tuple[str, ...], Field(max_length=MOST_CONSTRAINTS, description="Requirements that the evidence must meet")
]
KindOfQuestion = Annotated[Intent | None, Field(description="Kind of question; unset = as its words say")]
MaxAge = Annotated[
    float | None,
    Field(
        ge=0, le=_CENTURY, allow_inf_nan=False, description="Seconds; older stored pages are fetched again, for `urls`"
    ),
]
Years = Annotated[tuple[int, ...], Field(max_length=MOST_PLACES, description="Only pages that state a date in these")]


class AskParameters(Operation):
    """A question, and where to look: at `urls` and what they link to, else among the stored pages (of `sources`)."""

    question: Annotated[str, Field(json_schema_extra={"maxLength": MAX_QUESTION}, description="The question")]
    urls: Annotated[
        tuple[Url, ...], Field(description="Start pages; without `at` and other dates they are fetched")
    ] = ()
    sources: Annotated[tuple[Name, ...], Field(max_length=1_000, description="Only these stored sources, by key")] = ()
    at: At = None
    time: Time = "seen"
    since: Annotated[Date | None, Field(description="Only stored pages that state this date or a later date")] = None
    until: Annotated[Date | None, Field(description="Only stored pages that state this date or an earlier date")] = None
    years: Years = ()
    expansion_budget: Annotated[
        int | None, Field(ge=0, description="Most rounds that follow links; 0 = none, unset = as the question needs")
    ] = None
    form: Annotated[Form | None, Field(description="Of the answer; unset = as the question wants it")] = None
    intent: KindOfQuestion = None
    constraints: Constraints = ()
    max_age: MaxAge = None
    follows: Annotated[
        Number | None,
        Field(description="Number of the answer that the question goes on from; its question completes it"),
    ] = None
    carry: Annotated[bool, Field(description="False: nothing of the earlier question is carried over")] = True


class EvidenceParameters(Operation):
    """A question for evidence, looked for from `urls` on. All fields are those of `AnswerRequest` in the library, where
    the question is `query`."""

    urls: Annotated[tuple[Url, ...], Field(min_length=1, description="Start pages; they are kept with the answer")]
    question: Annotated[str, Field(max_length=LONGEST["question"], description="The question")]
    intent: KindOfQuestion = None
    known_context: Annotated[
        str | None,
        Field(max_length=LONGEST["known_context"], description="Known facts; passages that repeat them are skipped"),
    ] = None
    constraints: Constraints = ()
    expansion_budget: Annotated[
        int | None, Field(ge=0, description="Most rounds that follow links; 0 = none, unset = as the policy decides")
    ] = None
    mode: Annotated[RetrievalMode, Field(description="Passages, or whole pages where they fit")] = "auto"
    policy: Annotated[
        str | None, Field(max_length=LONGEST["policy"], description="Stop policy; unset = as the settings say")
    ] = None
    max_age: MaxAge = None
    scope: Annotated[
        RunScope | tuple[Name, ...] | None,
        Field(description="Stored pages that count: of the run, its sources, all, or keys"),
    ] = None
    excluded: Annotated[tuple[Url, ...], Field(max_length=MOST_PLACES, description="Pages that are not read")] = ()
    seconds: Annotated[float | None, Field(gt=0, allow_inf_nan=False, description="Time limit of this run")] = None


class SectionParameters(Operation):
    """A section of a site, and who fetches its pages."""

    url: Annotated[Url, Field(description="Start page. Its section: its folder, or the only name in its path")]
    pages: Annotated[int, Field(ge=0, description="Page limit")] = DEFAULT_PAGES
    prefix: Annotated[str | None, Field(max_length=LONGEST["url"], description="Path of the section, as /docs/")] = None
    acquirer: Annotated[AcquirerName | None, Field(description="Who fetches; unset = as the settings say")] = None


class SourceParameters(SectionParameters):
    """A section of a site that is kept. Attaching it again replaces what it was."""

    all_text: Annotated[bool, Field(description="Keep all that its pages show, navigation and footers included")] = (
        False
    )
    refresh_hours: Annotated[
        float | None,
        Field(gt=0, le=MOST_HOURS, allow_inf_nan=False, description="Hours between refreshes; unset = as settings say"),
    ] = None
    name: Annotated[
        Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)] | None,
        Field(description="What people call it; unset = as its start page is titled"),
    ] = None
    owners: Annotated[
        Annotated[tuple[Owner, ...], Field(max_length=20)] | None,
        Field(description="Whom alerts name: e-mail addresses, or team:name; unset = as it was"),
    ] = None
