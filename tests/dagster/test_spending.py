"""What a run cost: what of it has a price, and in words what has none."""

from __future__ import annotations

import pytest

from webrag_core.providers.prices import ProviderSpending
from webrag_dagster.metadata import spending_metadata

PRICED = ProviderSpending(provider="chat", requests=2, input_tokens=900, cost=0.25, currency="EUR")
UNPRICED = ProviderSpending(provider="rerank", requests=1)
UNTOLD = ProviderSpending(provider="mail", requests=3, untold=1, cost=0.5, currency="EUR")


@pytest.mark.parametrize(
    ("spent", "cost", "note"),
    [
        ([], None, "nothing was asked of an endpoint that may charge for it"),
        ([PRICED], 0.25, "of all that was asked of endpoints"),
        ([UNPRICED], None, "no price is set for rerank (PRICES_FILE)"),
        ([PRICED, UNPRICED], 0.25, "no price is set for rerank (PRICES_FILE)"),
        ([PRICED, UNTOLD], 0.75, "tokens of some requests were not told: it is at least this"),
    ],
)
def test_what_has_no_price_is_never_counted_as_free(
    spent: list[ProviderSpending], cost: float | None, note: str
) -> None:
    metadata = spending_metadata(spent)
    assert metadata["cost_note"].value == note
    assert ("cost" in metadata, "asked_of_endpoints" in metadata) == (cost is not None, bool(spent))
    assert cost is None or metadata["cost"].value == cost
