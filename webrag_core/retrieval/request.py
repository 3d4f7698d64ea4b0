"""What a search of the stored corpus is asked for: one request for all retrieval patterns of specification 004."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from enum import StrEnum
from typing import Literal

from webrag_core.errors import InvalidInputError
from webrag_core.retrieval.query_text import check_query, check_text
from webrag_core.retrieval.scope import DateRange, ScopeFilter

Mode = Literal["auto", "chunk", "full_context"]
Fusion = Literal["weighted", "rrf"]

ALPHA = 0.7
RECENT_YEARS = 5
MOST_FORMULATIONS = 8
EVERYTHING = ScopeFilter()


class Pattern(StrEnum):
    """How candidates are found and put in order; names and numbers of specification 004, section 7.2.

    P1 takes the cosine alone, P2 fuses it with BM25, P4 scores the candidates of both anew and is the default, P5 does
    so for several formulations of one question. P3 is P4 among fewer pages: every pattern takes filters, P3 must have
    one. P6 needs a graph of what pages mean to each other, which is not there.
    """

    SEMANTIC = "semantic_search"
    HYBRID = "hybrid_search"
    FILTERED = "filtered_retrieval"
    RERANKED = "reranked_retrieval"
    MULTI_QUERY = "multi_query_retrieval"

    @classmethod
    def named(cls, name: str) -> Pattern:
        """By its name, that name's beginning (`hybrid`), or its number (`P2`), in any case.

        Raises InvalidInputError that lists what there is.
        """
        wanted = name.strip().lower().replace("-", "_")
        for number, pattern in enumerate(cls, start=1):
            if wanted in (pattern.value, pattern.short, f"p{number}"):
                return pattern
        known = ", ".join(f"{pattern.short} (P{number})" for number, pattern in enumerate(cls, start=1))
        raise InvalidInputError(f"no such retrieval pattern: {name.strip()!r}; there are {known}")

    @property
    def short(self) -> str:
        """The name without what kind of thing it is: `semantic`, `multi_query`."""
        return self.value.rpartition("_")[0]

    @property
    def reranks(self) -> bool:
        """Whether its candidates are scored anew, and by the configured reranker too."""
        return self not in (Pattern.SEMANTIC, Pattern.HYBRID)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search. Raises InvalidInputError for what cannot be meant; names that no source bears are found out later.

    `formulations` are the same question in other words (P5 only, 1 to `MOST_FORMULATIONS`); the parts of a question
    are not: the loop has quotas for those. `fusion` of cosine and BM25 (P2 only) is by score, `alpha` in [0, 1] being
    the cosine's weight (None = 0.7), or by rank. `top_k` = results at most (None = RERANKER_TOP_N).

    `dated` and `requested_years` are hard filters on the date that a page states: its last modification, or else its
    publication, in UTC. A page that states none matches neither, and the result says how many were left out for that.
    `recency_boost` in [0, 1] (None = AGENT_RERANK_RECENCY_BOOST, 0 = off) and `recent_year_window` (years) are
    explained in `retrieval.recency`.
    """

    query: str
    pattern: Pattern = Pattern.RERANKED
    formulations: Sequence[str] = ()
    filters: ScopeFilter = EVERYTHING
    dated: DateRange | None = None
    requested_years: Sequence[int] = ()
    fusion: Fusion = "weighted"
    alpha: float | None = None
    recency_boost: float | None = None
    recent_year_window: int = RECENT_YEARS
    mode: Mode = "chunk"
    top_k: int | None = None

    def __post_init__(self) -> None:
        check_query(self.query)
        for formulation in self.formulations:
            check_text(formulation, "formulation")
        if self.pattern is Pattern.MULTI_QUERY and len(self.queries) < 2:
            raise InvalidInputError(f"{self.pattern} needs the question in at least one other formulation")
        if self.formulations and self.pattern is not Pattern.MULTI_QUERY:
            raise InvalidInputError(f"several formulations are {Pattern.MULTI_QUERY.value}'s, not {self.pattern}'s")
        if len(self.formulations) > MOST_FORMULATIONS:
            raise InvalidInputError(f"{len(self.formulations)} formulations; {MOST_FORMULATIONS} at most")
        if (self.alpha is not None or self.fusion != "weighted") and self.pattern is not Pattern.HYBRID:
            raise InvalidInputError(f"fusion and alpha are {Pattern.HYBRID.value}'s, not {self.pattern}'s")
        if self.alpha is not None and self.fusion == "rrf":
            raise InvalidInputError("alpha weighs scores: it has no part in a fusion of ranks")
        for name, share in (("alpha", self.alpha), ("the recency boost", self.recency_boost)):
            if share is not None and not 0 <= share <= 1:
                raise InvalidInputError(f"{name} is {share:g}, not between 0 and 1")
        if self.recent_year_window < 1:
            raise InvalidInputError(f"a window of {self.recent_year_window} years")
        if self.top_k is not None and self.top_k < 1:
            raise InvalidInputError(f"{self.top_k} results")
        for year in self.requested_years:
            if not MINYEAR <= year < MAXYEAR:
                raise InvalidInputError(f"{year} is no year")
        if self.pattern is Pattern.FILTERED and self.filters == EVERYTHING and not self.date_ranges:
            raise InvalidInputError(f"{self.pattern} needs a filter: source, date, year, language, type or flag")

    @property
    def weight(self) -> float | None:
        """Of the cosine in a weighted fusion; None = by ranks."""
        return None if self.fusion == "rrf" else ALPHA if self.alpha is None else self.alpha

    @property
    def queries(self) -> list[str]:
        """The query, then its other formulations, each once."""
        return list(dict.fromkeys([self.query, *self.formulations]))

    @property
    def date_ranges(self) -> list[list[DateRange]]:
        """What a page's date must lie in: for each list, in one of its ranges."""
        wanted = [] if self.dated is None else [[self.dated]]
        if self.requested_years:
            wanted.append([_year(year) for year in sorted(set(self.requested_years))])
        return wanted


def _year(year: int) -> DateRange:
    return DateRange(datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC))
