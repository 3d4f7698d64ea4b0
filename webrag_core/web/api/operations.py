"""An endpoint as data: what it takes, runs and answers. Routes and the OpenAPI description are both made of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webrag_core.application import inputs
from webrag_core.application.reach import Reach
from webrag_core.application.refusals import Refusal, RefusedError
from webrag_core.application.services import Services, run_apart
from webrag_core.config import Settings
from webrag_core.errors import BusyError, InvalidInputError
from webrag_core.trace import traced
from webrag_core.web.running import Open, RunningAnswers, TimeLimitError

Result = TypeVar("Result")

_MOST_READERS = 64  # at work and waiting
_JSON = "application/json"
STREAM = "text/event-stream"


class Api:
    """What the endpoints of one server work with."""

    def __init__(self, settings: Settings, services: Open, running: RunningAnswers) -> None:
        self.settings = settings
        self.running = running
        self.services = services
        self._readers = 0

    async def read(self, work: Callable[[Services], Coroutine[Any, Any, Result]]) -> Result:
        """Run work that fetches nothing, in its turn. Raises BusyError when too many are waiting, TimeLimitError."""
        if self._readers >= _MOST_READERS:
            raise BusyError(f"{_MOST_READERS} requests are at work or waiting; try again in a moment")
        self._readers += 1
        seconds = self.settings.mcp_tool_timeout
        try:
            services = await self.services()
            async with services.searches, asyncio.timeout(seconds):
                return await run_apart(work(services))
        except TimeoutError:
            raise TimeLimitError(f"not done within {seconds:g} s") from None
        finally:
            self._readers -= 1


def wants_events(request: Request) -> bool:
    """Whether the client asks for events instead of one response."""
    ranges = ",".join(request.headers.getlist("accept")).split(",")
    return STREAM in {item.partition(";")[0].strip().lower() for item in ranges}


async def read(api: Api, request: Request, wanted: inputs.Operation) -> BaseModel:
    """Run an operation that fetches nothing, in its turn."""
    wanted.check()
    return await api.read(wanted.run)


@dataclass(frozen=True, slots=True)
class Operation:
    """One endpoint below `/api`. `takes` is its body (POST), else its parameters, of the path and the query.

    `run` gets an instance of it and returns a `gives`, or a response of its own. `events`: with
    `Accept: text/event-stream` it tells these events instead. `refusals` are statuses beside those of every endpoint.
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    name: str
    summary: str
    takes: type[inputs.Operation]
    gives: type[BaseModel]
    run: Callable[[Api, Request, Any], Awaitable[BaseModel | Response]] = read
    status: int = 200
    events: Any = None
    refusals: tuple[int, ...] = ()

    def route(self, api: Api) -> Route:
        """The route that runs it."""

        async def endpoint(request: Request) -> Response:
            taken = await _body(self.takes, request) if self.method == "POST" else _parameters(self.takes, request)
            with traced(request.headers.get("traceparent")):
                reply = await self.run(api, request, await _within(Reach.of(request.scope), api, taken))
            if isinstance(reply, Response):
                return reply
            # by the declared model: it leaves out what a subclass adds
            return Response(reply.model_dump_json(), self.status, media_type=_JSON)

        return Route(self.path, endpoint, methods=[self.method], name=self.name)


def routes(operations: Sequence[Operation], api: Api) -> list[Route]:
    """The routes of all."""
    return [operation.route(api) for operation in operations]


async def _within(reach: Reach, api: Api, taken: inputs.Operation) -> inputs.Operation:
    return taken if reach.is_everything else await taken.within(reach, (await api.services()).corpus.database)


def _parameters(model: type[inputs.Operation], request: Request) -> inputs.Operation:
    """The parameters of path and query. Raises InvalidInputError for unknown, repeated and malformed ones."""
    given: dict[str, Any] = dict(request.path_params)
    for name, value in request.query_params.multi_items():
        if name in given:
            raise InvalidInputError(f"{name[:60]!r} is given twice")
        given[name] = value
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise InvalidInputError(inputs.explained(error, list(model.model_fields))) from None


async def _body(model: type[inputs.Operation], request: Request) -> inputs.Operation:
    """The JSON body. Raises InvalidInputError, RefusedError(415) for what is not said to be JSON."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        raise RefusedError(Refusal(415, "unsupported_media_type", f"the body must be {_JSON}"))
    try:
        return model.model_validate_json(await request.body(), strict=True)
    except ValidationError as error:
        raise InvalidInputError(inputs.explained(error, list(model.model_fields)).removeprefix(": ")) from None
