"""What a person says about an answer on its page: right, wrong, one sentence, a better passage."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from webrag_core.application.services import Services
from webrag_core.errors import WebragError
from webrag_core.feedback.store import record
from webrag_core.web.answers import FEEDBACK, answer_page
from webrag_core.web.feedback_draft import FeedbackDraft

ACTOR = "web page"
"""Who says it: everybody who may use the pages."""


async def give(request: Request) -> Response:
    """Note what was said, and lead back to the answer."""
    number = request.path_params["number"]
    draft = FeedbackDraft.of(await request.form())
    services: Services = await request.app.state.services()
    try:
        new = draft.wanted(number).as_feedback(ACTOR, "person")
        stored = await record(services.corpus.database, new)
    except WebragError as error:
        return await answer_page(request, services, feedback=draft, error=error)
    return RedirectResponse(f"/answers/{number}?noted={stored.id}#{FEEDBACK}", 303)


ROUTES = [Route("/answers/{number:int}/feedback", give, methods=["POST"])]
