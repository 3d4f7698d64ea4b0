"""What every face takes: names of modes, limits of texts and lists, how what breaks them is explained; and what an
operation is."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from webrag_core.errors import InvalidInputError
from webrag_core.foreign_values import LARGEST_NUMBER
from webrag_core.history.models import TimeAxis
from webrag_core.retrieval.models import Contract
from webrag_core.retrieval.request import check_text

if TYPE_CHECKING:  # to read what is stored takes no more than the database
    from webrag_core.application.reach import Reach
    from webrag_core.application.services import Services
    from webrag_core.store.database import Database

RetrievalMode = Literal["chunk", "full_context", "auto"]
Intent = Literal["factual", "comparison", "how_to", "exploratory"]

LONGEST = {"question": 10_000, "known_context": 50_000, "url": 8_192, "constraint": 2_000, "policy": 50, "date": 50}
"""Maximum characters of an argument."""
MOST_CONSTRAINTS = 20
MOST_RESULTS = 50
MOST_PLACES = 100
_MOST_PROBLEMS = 5

Url = Annotated[str, Field(max_length=LONGEST["url"], description="With its scheme, as https://example.org/docs/")]
Place = Annotated[str, Field(max_length=LONGEST["url"], description="A URL or a host, as example.org/docs/")]
Name = Annotated[str, Field(min_length=1, max_length=1_000)]
Date = Annotated[str, Field(max_length=LONGEST["date"])]
At = Annotated[Date | None, Field(description="What the pages said then: 2024, 2024-05-17, a time (UTC) or now")]
Time = Annotated[
    TimeAxis, Field(description="`at` means when a text was seen, or (valid) when it holds by its own words")
]
Number = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]


class Operation(Contract):
    """The parameters of an operation. Unknown ones are refused."""

    @classmethod
    def of(cls, **given: Any) -> Self:
        """The operation with these parameters. Raises InvalidInputError for unknown ones and for values out of their
        bounds."""
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise InvalidInputError(explained(error, list(cls.model_fields))) from None

    def check(self) -> None:
        """Refuse what cannot be meant before anything waits for it. Raises InvalidInputError, FetchError."""

    async def within(self, reach: Reach, database: Database) -> Self:
        """This operation on what is within reach. Raises OutOfReachError, FetchError(INVALID_URL)."""
        return self if reach.is_everything else await self._narrowed(reach, database)

    async def _narrowed(self, reach: Reach, database: Database) -> Self:
        """This operation within a reach that is not everything: refused, where a subclass does not narrow it."""
        raise reach.error

    async def run(self, services: Services) -> BaseModel:
        """Do it. Raises a WebragError."""
        raise NotImplementedError


def check_length(name: str, text: str) -> None:
    """Raise InvalidInputError for a text that is blank, invalid or too long."""
    if len(text) > LONGEST[name]:
        raise InvalidInputError(f"the {name} has {len(text):,} characters; {LONGEST[name]:,} at most")
    check_text(text, name)


def check_date(at: str | None, time: TimeAxis) -> None:
    """Raise InvalidInputError for a date that is too long, and for valid time without any."""
    if at is not None:
        check_length("date", at)
    elif time == "valid":
        raise InvalidInputError("time needs at")


def check_list(name: str, texts: Sequence[str], most: int) -> None:
    """Check each of at most `most` texts called `name` with `check_length`."""
    if len(texts) > most:
        raise InvalidInputError(f"{len(texts):,} {name}s; {most} at most")
    for text in texts:
        check_length(name, text)


def meant(name: str, known: Sequence[str]) -> str:
    """The parameter that an unknown name may mean, as the end of a message; "" where none is near."""
    near = get_close_matches(name[:100], known, 1, 0.4)
    return f"; did you mean {near[0]}?" if near else ""


def explained(error: ValidationError, known: Sequence[str] = ()) -> str:
    """Describe validation errors by argument, without the values. `known` are the parameters that there are."""
    problems: dict[str, None] = {}
    for problem in error.errors(include_url=False, include_input=False, include_context=True):
        # of a union the branch of the type is on the path
        place = [part for part in problem["loc"] if not (isinstance(part, str) and "[" in part)]
        name = ".".join(shown(str(part)) for part in place if part not in ("str", "int"))
        problems[f"{name}: {_words(problem, known)}"] = None
    lines = list(problems)
    more = f"; and {len(lines) - _MOST_PROBLEMS} more" if len(lines) > _MOST_PROBLEMS else ""
    return "; ".join(lines[:_MOST_PROBLEMS]) + more


def _words(problem: ErrorDetails, known: Sequence[str]) -> str:
    """What is wrong with a value, without its name."""
    limits = problem.get("ctx", {})
    match problem["type"]:
        case "string_too_long":
            return f"too many characters; {limits['max_length']:,} at most"
        case "too_long":
            return f"too many; {limits['max_length']:,} at most"
        case "too_short":
            return f"none given; {limits['min_length']:,} at least"
        case "greater_than_equal" if limits["ge"] == 0:
            return "cannot be negative"
        case "greater_than_equal":
            return f"{limits['ge']:,.10g} at least"
        case "less_than_equal":
            return f"{limits['le']:,.10g} at most"
        case "extra_forbidden":
            return f"there is no such parameter{meant(str(problem['loc'][-1]), known)}"
        case _:
            return problem["msg"]


def shown(text: str) -> str:
    """The beginning of a text that somebody gave."""
    return text if len(text) <= 60 else text[:59] + "…"
