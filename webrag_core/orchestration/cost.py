"""What a run has cost so far, in the prices of the user, and whether a limit of it is reached."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from webrag_core.config.costs import CostSettings
from webrag_core.providers.prices import Prices, ProviderSpending, load_prices, priced, total_cost
from webrag_core.store.database import Database
from webrag_core.store.spending import Amounts, Meter, spent_since


class Cost:
    """The cost of a run, of the answer that it is a part of, and of the day."""

    def __init__(self, settings: CostSettings, database: Database, meter: Meter) -> None:
        """`meter` counts what the run spends. Raises InvalidInputError for prices that cannot be used."""
        self._settings = settings
        self._database = database
        self._meter = meter
        self._prices: Prices = load_prices(settings)

    def spent(self) -> list[ProviderSpending]:
        """What the run has asked of each provider."""
        return priced(self._meter.amounts, self._prices)

    async def reached(self) -> str | None:
        """Which limit of cost is reached, in words; None below all of them."""
        settings = self._settings
        if settings.max_cost_per_answer is not None:
            amounts = self._meter.outermost.amounts
            if (limit := self._over(amounts, settings.max_cost_per_answer)) is not None:
                return f"the answer has cost {limit} (MAX_COST_PER_ANSWER)"
        if settings.max_cost_per_day is not None:
            await self._database.spending.flush(self._database.transaction)
            today = datetime.now(UTC).date()
            async with self._database.connection() as connection:
                days = await spent_since(connection, today)
            if (limit := self._over(days.get(today, {}), settings.max_cost_per_day)) is not None:
                return f"this day has cost {limit} (MAX_COST_PER_DAY)"
        return None

    def unpriced(self) -> str | None:
        """What a limit of cost cannot count, for people; None where no limit is set or all has a price."""
        if self._settings.max_cost_per_answer is None and self._settings.max_cost_per_day is None:
            return None
        names = [spending.provider for spending in self.spent() if spending.cost is None]
        return f"no price is set for {', '.join(names)}: limits of cost do not count it" if names else None

    def _over(self, amounts: Mapping[str, Amounts], most: float) -> str | None:
        cost = total_cost(priced(amounts, self._prices))
        unit = f" {self._prices.currency}" if self._prices.currency else ""
        return f"{cost:.4g} of {most:.4g}{unit}" if cost >= most else None
