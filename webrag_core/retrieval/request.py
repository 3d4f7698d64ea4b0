"""The search request: query, retrieval pattern, filters; validated when it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, get_args

from webrag_core.errors import InvalidInputError

if TYPE_CHECKING:
    from psycopg.types.range import Range

Mode = Literal["auto", "chunk", "full_context"]
Fusion = Literal["weighted", "rrf"]
DocumentType = Literal["html", "pdf", "text", "office"]

ALPHA = 0.7
MAX_FORMULATIONS = 8
MAX_QUERY_CHARS = 10_000


def check_text(text: str, name: str) -> None:
    """Raise InvalidInputError, naming the argument, unless `text` is a non-blank string without NUL characters and
    lone surrogates, as required by the database and every tokenizer."""
    if not isinstance(text, str):
        raise InvalidInputError(f"the {name} must be a string, not {type(text).__name__}")
    if not text.strip():
        raise InvalidInputError(f"the {name} is empty")
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidInputError(f"the {name} contains a NUL character or invalid Unicode")


def searchable_line(text: str) -> str:
    """A text that a model wrote to be searched for, on one line. Raises ValueError for what `check_text` refuses."""
    line = " ".join(text.split())
    try:
        check_text(line, "text")
    except InvalidInputError as error:
        raise ValueError(error.message) from None
    return line


def check_query(query: str, name: str = "query") -> None:
    """`check_text`, and a limit of `MAX_QUERY_CHARS` characters."""
    check_text(query, name)
    if len(query) > MAX_QUERY_CHARS:
        raise InvalidInputError(f"the {name} has {len(query):,} characters; at most {MAX_QUERY_CHARS:,}")


def check_years(years: Sequence[int]) -> None:
    """Raise InvalidInputError for a year that no date has."""
    for year in years:
        if not MINYEAR <= year < MAXYEAR:
            raise InvalidInputError(f"year must be between {MINYEAR} and {MAXYEAR - 1}, got {year}")


@dataclass(frozen=True, slots=True)
class DateRange:
    """start <= moment < end; None leaves that side open. Both need a time zone."""

    start: datetime | None = None
    end: datetime | None = None

    def __post_init__(self) -> None:
        for moment in (self.start, self.end):
            if moment is not None and moment.tzinfo is None:
                raise InvalidInputError(f"the date {moment.isoformat()} has no time zone")
        if self.start is not None and self.end is not None and self.end < self.start:
            raise InvalidInputError(
                f"the date range ends before it begins: {self.start.isoformat()} to {self.end.isoformat()}"
            )

    @property
    def sql(self) -> Range[datetime]:
        """As a PostgreSQL range."""
        from psycopg.types.range import Range

        return Range(self.start, self.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeFilter:
    """Restrict a search to some documents. None does not restrict; the values of one field are alternatives (an empty
    list matches nothing); all fields must match.

    `documents` are ids, `sources` source keys (a host's key means all of its sections), `url_prefixes` addresses as
    people type them: they and all pages below them (`corpus.places.Places.typed`), `languages` BCP 47 tags (`en`
    matches `en-GB`, not the reverse). A page without a date or language matches no filter on it. `flags` restrict the
    chunks, not only the pages.
    """

    documents: Sequence[int] | None = None
    sources: Sequence[str] | None = None
    url_prefixes: Sequence[str] | None = None
    published: DateRange | None = None
    modified: DateRange | None = None
    fetched: DateRange | None = None
    languages: Sequence[str] | None = None
    types: Sequence[DocumentType] | None = None
    flags: Sequence[str] | None = None


EVERYTHING = ScopeFilter()


class Pattern(StrEnum):
    """How candidates are found and ordered; names and numbers of specification 004, section 7.2.

    P1 ranks by cosine alone, P2 fuses it with BM25, P4 rescores the candidates of both and is the default, P5 does so
    for several formulations of one question. P3 is P4 with a mandatory filter; every pattern takes filters. P6 is P4
    with candidates and a bounded bonus from the graph.
    """

    SEMANTIC = "semantic_search"
    HYBRID = "hybrid_search"
    FILTERED = "filtered_retrieval"
    RERANKED = "reranked_retrieval"
    MULTI_QUERY = "multi_query_retrieval"
    GRAPH = "cross_modal_retrieval"

    @classmethod
    def named(cls, name: str) -> Pattern:
        """Look a pattern up by its name, its short name (`hybrid`) or its number (`P2`), in any case.

        Raises InvalidInputError that lists the patterns.
        """
        normalized = name.strip().lower().replace("-", "_")
        for number, pattern in enumerate(cls, start=1):
            if normalized in (pattern.value, pattern.short, f"p{number}"):
                return pattern
        known = ", ".join(f"{pattern.short} (P{number})" for number, pattern in enumerate(cls, start=1))
        raise InvalidInputError(f"no such retrieval pattern: {name.strip()!r}; there are {known}")

    @property
    def short(self) -> str:
        """The name's first part: `semantic`, `multi_query`."""
        return self.value.rpartition("_")[0]

    @property
    def reranks(self) -> bool:
        """Whether its candidates are rescored, by the configured reranker too."""
        return self not in (Pattern.SEMANTIC, Pattern.HYBRID)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search. Raises InvalidInputError for invalid options; `search` reports unknown source names.

    `formulations` rephrase the whole question (P5 only, 1 to `MAX_FORMULATIONS`). `fusion` of cosine and BM25 (P2
    only) is by score, `alpha` in [0, 1] being the cosine's weight (None = 0.7), or by rank. `top_k` limits the results
    of chunk mode (None = RERANKER_TOP_N), `context_budget` their tokens (None = RETRIEVAL_CONTEXT_BUDGET).

    `dated` and `requested_years` filter by the date that a page states: its last modification, else its publication, in
    UTC. A page without a date matches neither, and the result says how many were excluded for that.
    """

    query: str
    pattern: Pattern = Pattern.RERANKED
    formulations: Sequence[str] = ()
    filters: ScopeFilter = EVERYTHING
    dated: DateRange | None = None
    requested_years: Sequence[int] = ()
    fusion: Fusion = "weighted"
    alpha: float | None = None
    mode: Mode = "chunk"
    top_k: int | None = None
    context_budget: int | None = None

    def __post_init__(self) -> None:
        check_query(self.query)
        for formulation in self.formulations:
            check_query(formulation, "formulation")
        for name, value, allowed in (("mode", self.mode, Mode), ("fusion", self.fusion, Fusion)):
            if value not in get_args(allowed):
                raise InvalidInputError(f"{name} must be one of {', '.join(get_args(allowed))}, got {value!r}")
        self._check_pattern()
        for name, number in (("top_k", self.top_k), ("context_budget", self.context_budget)):
            if number is not None and number < 1:
                raise InvalidInputError(f"{name} must be at least 1, got {number}")
        check_years(self.requested_years)

    def _check_pattern(self) -> None:
        if not isinstance(self.pattern, Pattern):
            raise InvalidInputError(f"pattern must be a Pattern, got {self.pattern!r}")
        if self.pattern is Pattern.MULTI_QUERY and len(self.queries) < 2:
            raise InvalidInputError(f"{self.pattern} needs the question in at least one other formulation")
        if self.formulations and self.pattern is not Pattern.MULTI_QUERY:
            raise InvalidInputError(f"only {Pattern.MULTI_QUERY.value} takes formulations, not {self.pattern}")
        if len(self.formulations) > MAX_FORMULATIONS:
            raise InvalidInputError(f"{len(self.formulations)} formulations; at most {MAX_FORMULATIONS}")
        if (self.alpha is not None or self.fusion != "weighted") and self.pattern is not Pattern.HYBRID:
            raise InvalidInputError(f"only {Pattern.HYBRID.value} takes fusion and alpha, not {self.pattern}")
        if self.alpha is not None and self.fusion == "rrf":
            raise InvalidInputError("alpha weighs scores; fusion by rank has no use for it")
        if self.alpha is not None and not 0 <= self.alpha <= 1:
            raise InvalidInputError(f"alpha must be between 0 and 1, got {self.alpha:g}")
        if self.pattern is Pattern.FILTERED and self.filters == EVERYTHING and not self.date_ranges:
            raise InvalidInputError(f"{self.pattern} needs a filter: source, URL, date, year, language, type or flag")

    @property
    def cosine_weight(self) -> float | None:
        """The cosine's weight in a weighted fusion; None = fusion by rank."""
        return None if self.fusion == "rrf" else ALPHA if self.alpha is None else self.alpha

    @property
    def queries(self) -> list[str]:
        """The query, then its other formulations, without duplicates."""
        return list(dict.fromkeys([self.query, *self.formulations]))

    @property
    def date_ranges(self) -> list[list[DateRange]]:
        """A page's date must lie in one range of each list."""
        ranges = [] if self.dated is None else [[self.dated]]
        if self.requested_years:
            ranges.append([_year(year) for year in sorted(set(self.requested_years))])
        return ranges


def _year(year: int) -> DateRange:
    return DateRange(datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC))
