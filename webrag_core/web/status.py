"""What answers cost, day by day, and how sure they were against what people said of them."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webrag_core.application.services import Services
from webrag_core.corpus.status import spending_days
from webrag_core.feedback.judged_answers import judged_answers
from webrag_core.providers.prices import load_prices
from webrag_core.showing.confidence_figure import confidence_figure
from webrag_core.showing.spending_figures import spending_figures
from webrag_core.web.rendering import page


async def show_status(request: Request) -> Response:
    """Pictures of the last thirty days, and of all judgements."""
    services: Services = await request.app.state.services()
    prices = load_prices(services.settings)
    async with services.corpus.database.connection() as connection:
        days = await spending_days(connection, prices)
        curve = await judged_answers(connection)
    return page(request, "status", spending=list(spending_figures(days).values()), confidence=confidence_figure(curve))


ROUTES = [Route("/status", show_status, methods=["GET"])]
