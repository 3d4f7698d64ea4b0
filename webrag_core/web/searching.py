"""The search of what is stored: quotes with the words of the query, filters in the address, no script."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args
from urllib.parse import urlencode

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webrag_core.application.inputs import MOST_RESULTS
from webrag_core.application.operations import Search
from webrag_core.application.reach import Reach
from webrag_core.application.refusals import Refusal
from webrag_core.application.services import Services
from webrag_core.corpus.source_pages import corpus_contents
from webrag_core.errors import FetchError, InvalidInputError
from webrag_core.history.models import TimeAxis
from webrag_core.page_text import visible
from webrag_core.retrieval.citations import relevant
from webrag_core.retrieval.models import RELEVANCE_FLOOR, CitationSpan
from webrag_core.retrieval.search import CorpusSearch
from webrag_core.web.phrases import FLAGS, TYPES
from webrag_core.web.query import field, page_number
from webrag_core.web.rendering import page
from webrag_core.web.results import Result, load_results

SEARCH = "/search"
NUMBERS = (5, 10, 20, 50)
"""How many results a page may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchForm:
    """What the form holds, as the address has it. `number` results a page, `every` also those of low relevance."""

    words: str = ""
    sources: tuple[str, ...] = ()
    below: str = ""
    languages: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    at: str = ""
    time: TimeAxis = "seen"
    number: int = 10
    every: bool = False
    page: int = 1

    @classmethod
    def read(cls, query: QueryParams) -> SearchForm:
        """The form that the query of an address fills in. Numbers that it cannot have become the usual ones."""

        def several(name: str) -> tuple[str, ...]:
            return tuple(dict.fromkeys(word for value in query.getlist(name) for word in visible(value).split()))

        def value_of(name: str) -> str:
            return field(query, name)

        return cls(
            words=value_of("q") or value_of("question"),  # as programs name it
            sources=several("source"),
            below=value_of("below"),
            languages=several("language"),
            types=several("type"),
            flags=several("flag"),
            since=value_of("since"),
            until=value_of("until"),
            at=value_of("at"),
            time="valid" if value_of("time") in get_args(TimeAxis)[1:] else "seen",
            number=next((number for number in NUMBERS if value_of("n") == str(number)), 10),
            every=value_of("every") == "1",
            page=page_number(query),
        )

    @property
    def filters(self) -> int:
        """How many filters are set."""
        return sum(map(bool, (self.sources, self.below, self.languages, self.types, self.flags, self.at))) + (
            1 if self.since or self.until else 0
        )

    @property
    def path(self) -> str:
        """The address of this search."""
        pairs = [("q", self.words), *(("source", source) for source in self.sources), ("below", self.below)]
        pairs += [("language", language) for language in self.languages]
        pairs += [("type", kind) for kind in self.types]
        pairs += [("flag", flag) for flag in self.flags]
        pairs += [("since", self.since), ("until", self.until), ("at", self.at)]
        pairs += [("time", self.time if self.time != "seen" else ""), ("n", str(self.number))]
        pairs += [("every", "1" if self.every else ""), ("page", str(self.page) if self.page > 1 else "")]
        return f"{SEARCH}?{urlencode([pair for pair in pairs if pair[1]])}"

    def other(self, **changes: object) -> str:
        """The address of this search with other fields, from its first page on unless `changes` name one."""
        return replace(self, **{"page": 1, **changes}).path  # type: ignore[arg-type]

    def without_filters(self) -> str:
        """The address of a search for the same words in all that is stored."""
        return SearchForm(words=self.words, number=self.number).path

    def search(self) -> Search:
        """The operation that the form means. Raises InvalidInputError."""
        return Search.of(
            question=self.words,
            sources=self.sources or None,
            urls=[self.below] if self.below else None,
            since=self.since or None,
            until=self.until or None,
            languages=self.languages or None,
            types=self.types or None,
            flags=self.flags or None,
            top_k=MOST_RESULTS,
            at=self.at or None,
            time=self.time if self.at else "seen",
        )


@dataclass(frozen=True, slots=True)
class ResultPage:
    """One page of the results of a search: some of `total` quotes, from number `first` on. `weak` ones, of low
    relevance, come on request only; `is_sure` is False where even the best one is weak."""

    search: CorpusSearch
    quotes: list[Result]
    total: int
    first: int
    weak: int
    is_sure: bool

    @property
    def last(self) -> int:
        """The number of the last quote."""
        return self.first + len(self.quotes) - 1


async def show_search(request: Request) -> Response:
    """The form, and the results where it has words."""
    services: Services = await request.app.state.services()
    form, reach = SearchForm.read(request.query_params), Reach.of(request.scope)
    async with services.corpus.database.connection() as connection:
        contents = await corpus_contents(connection, await reach.keys(connection))
    results, refusal = None, None
    try:
        results = await _result_page(services, form, reach) if form.words else None
    except (InvalidInputError, FetchError) as error:
        refusal = Refusal.of(error)
    return page(
        request,
        "search",
        refusal,
        form=form,
        contents=contents,
        results=results,
        problem="" if refusal is None else refusal.message,
        types=TYPES,
        flags=FLAGS,
        numbers=NUMBERS,
    )


async def _result_page(services: Services, form: SearchForm, reach: Reach) -> ResultPage:
    results = await (await form.search().within(reach, services.corpus.database)).run(services)
    strong = relevant(results.citations)
    listed: list[CitationSpan] = results.citations if form.every else strong
    first = form.number * (form.page - 1)
    async with services.corpus.database.connection() as connection:
        quotes = await load_results(connection, results, listed[first : first + form.number])
    return ResultPage(
        search=results,
        quotes=quotes,
        total=len(listed),
        first=first + 1,
        weak=len(results.citations) - len(strong),
        is_sure=results.top_score >= RELEVANCE_FLOOR,
    )


ROUTES = [Route(SEARCH, show_search, methods=["GET"])]
