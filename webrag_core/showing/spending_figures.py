"""What endpoints were asked for, and what that cost, day by day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from math import fsum

from webrag_core.drawing.columns import Column, columns
from webrag_core.drawing.figure import DataTable, Figure
from webrag_core.providers.prices import ProviderSpending, total_cost

Days = Mapping[date, Sequence[ProviderSpending]]
"""Each day in order, those on which nothing was asked too."""


def spending_figures(days: Days) -> dict[str, Figure]:
    """`cost_per_day`, where anything has a price, and `requests_per_day`. Empty where nothing was asked."""
    if not any(days.values()):
        return {}
    priced = any(item.cost is not None for spent in days.values() for item in spent)
    return {**({"cost_per_day": _costs(days)} if priced else {}), "requests_per_day": _requests(days)}


def _costs(days: Days) -> Figure:
    currency = next(item.currency for spent in days.values() for item in spent if item.cost is not None)
    costs = {day: total_cost(spent) for day, spent in days.items()}
    least = {day for day, spent in days.items() if any(item.cost is None or item.untold for item in spent)}
    texts = {
        day: f"{'at least ' if day in least else ''}{cost:,.4g} {currency}".rstrip() for day, cost in costs.items()
    }
    rows = [
        Column(f"{day:%m-%d}", cost, texts[day], "hollow" if day in least else "full") for day, cost in costs.items()
    ]
    table = DataTable(
        ("Day (UTC)", "Cost"), tuple((day.isoformat(), texts[day]) for day, spent in days.items() if spent)
    )
    notes = [f"{fsum(costs.values()):,.4g} {currency}".rstrip() + f" in {len(days)} days."]
    if least:
        unpriced = sorted({item.provider for spent in days.values() for item in spent if item.cost is None})
        why = f"no price is set for {', '.join(unpriced)}" if unpriced else "tokens of some requests were not told"
        notes.append(f"An empty column is at least so much: {why}.")
    return columns(
        "Cost per day",
        rows,
        table,
        x_name="day (UTC)",
        y_name=currency or "cost",
        most=f"{max(costs.values()):,.3g}",
        note=" ".join(notes),
    )


def _requests(days: Days) -> Figure:
    counts = {day: sum(item.requests for item in spent) for day, spent in days.items()}
    rows = [Column(f"{day:%m-%d}", count, f"{count:,} requests") for day, count in counts.items()]
    table = tuple(
        (
            day.isoformat(),
            item.provider,
            f"{item.requests:,}",
            f"{item.input_tokens + item.output_tokens:,}" + (f", of {item.untold} not told" if item.untold else ""),
            f"{item.pages:,}",
            "no price set" if item.cost is None else f"{item.cost:,.4g} {item.currency}".rstrip(),
        )
        for day, spent in days.items()
        for item in spent
    )
    return columns(
        "Requests to endpoints per day",
        rows,
        DataTable(("Day (UTC)", "Endpoint", "Requests", "Tokens", "Pages", "Cost"), table),
        x_name="day (UTC)",
        y_name="requests",
        most=f"{max(counts.values()):,}",
    )
