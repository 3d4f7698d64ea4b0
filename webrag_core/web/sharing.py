"""The part of the page of an answer where links to it are made and revoked."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from webrag_core.application.services import Services
from webrag_core.application.sharing import RevokeShare, ShareAnswer
from webrag_core.errors import WebragError
from webrag_core.foreign_values import LARGEST_NUMBER, whole_number
from webrag_core.web.answers import answer_page


async def share(request: Request) -> Response:
    """Make a link, and show it on the page of the answer: it is not shown again."""
    number = request.path_params["number"]
    days = whole_number(str((await request.form()).get("days", "")), 1, 366)
    services: Services = await request.app.state.services()
    wanted = ShareAnswer.of(answer=number, **({} if days is None else {"days": days}))
    try:
        shared = await wanted.run(services)
    except WebragError as error:
        return await answer_page(request, services, share_error=error)
    link = str(request.base_url).rstrip("/") + shared.path
    return await answer_page(request, services, shared_link=link)


async def unshare(request: Request) -> Response:
    """Revoke a link."""
    number = request.path_params["number"]
    share_number = whole_number(str((await request.form()).get("share", "")), 1, LARGEST_NUMBER) or LARGEST_NUMBER
    services: Services = await request.app.state.services()
    await RevokeShare.of(number=share_number).run(services)
    return RedirectResponse(f"/answers/{number}#share", 303)


ROUTES = [
    Route("/answers/{number:int}/share", share, methods=["POST"]),
    Route("/answers/{number:int}/unshare", unshare, methods=["POST"]),
]
