"""Pictures of costs: what has no price is never drawn as free."""

from __future__ import annotations

from datetime import date, timedelta

from lxml import etree

from webrag_core.providers.prices import ProviderSpending
from webrag_core.showing.spending_figures import spending_figures

FIRST = date(2024, 2, 27)
DAYS: dict[date, list[ProviderSpending]] = {FIRST + timedelta(days=number): [] for number in range(30)}
PRICED = ProviderSpending(provider="chat", requests=2, input_tokens=900, cost=0.25, currency="EUR")
UNPRICED = ProviderSpending(provider="<rerank>", requests=1)


def test_costs_are_drawn_where_something_has_a_price() -> None:
    assert spending_figures(DAYS) == {}
    assert list(spending_figures({**DAYS, FIRST: [UNPRICED]})) == ["requests_per_day"]
    figures = spending_figures({**DAYS, FIRST: [PRICED], FIRST + timedelta(days=1): [PRICED, UNPRICED]})
    costs, requests = figures["cost_per_day"], figures["requests_per_day"]
    assert costs.table.rows == (("2024-02-27", "0.25 EUR"), ("2024-02-28", "at least 0.25 EUR"))
    assert costs.note == "0.5 EUR in 30 days. An empty column is at least so much: no price is set for <rerank>."
    boxes = etree.fromstring(costs.svg()).xpath("//rect[@height != '0']/@class")
    assert boxes == ["full", "hollow"]
    assert requests.table.rows[-1] == ("2024-02-28", "<rerank>", "1", "0", "0", "no price set")
    last = etree.fromstring(requests.svg()).xpath("//text/text()")
    assert "03-27" in last, "the latest day has its name"
