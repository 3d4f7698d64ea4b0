"""What requests, tokens and pages cost, by the user's own file of prices; nothing is assumed without it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from webrag_core.config.costs import CostSettings
from webrag_core.errors import InvalidInputError
from webrag_core.readable import counted
from webrag_core.store.spending import Amounts

_MILLION = 1_000_000


class Price(BaseModel):
    """What a provider asks for one request, one page, and a million tokens each way."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    request: float = Field(default=0.0, ge=0)
    page: float = Field(default=0.0, ge=0)
    million_input_tokens: float = Field(default=0.0, ge=0)
    million_output_tokens: float = Field(default=0.0, ge=0)

    def cost_of(self, amounts: Amounts) -> float:
        """The cost of these amounts; tokens that were not told count nothing."""
        return math.fsum(
            [
                self.request * amounts.requests,
                self.page * amounts.pages,
                self.million_input_tokens * amounts.input_tokens / _MILLION,
                self.million_output_tokens * amounts.output_tokens / _MILLION,
            ]
        )


class Prices(BaseModel):
    """The file: a currency, and prices by the name of a provider, as results give it."""

    model_config = ConfigDict(extra="forbid")

    currency: str = Field(default="", max_length=8)
    providers: dict[str, Price] = Field(default_factory=dict)


class ProviderSpending(BaseModel):
    """What was asked of one provider. `untold` requests did not tell their tokens; `cost` in the currency of the file
    of prices, None where it has no price for this provider."""

    model_config = ConfigDict(extra="forbid")

    provider: str
    requests: int = 0
    untold: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    pages: int = 0
    cost: float | None = None
    currency: str = ""

    @property
    def text(self) -> str:
        """One line for people."""
        parts = [counted(self.requests, "request")]
        parts += [counted(self.pages, "page")] if self.pages else []
        tokens = self.input_tokens + self.output_tokens
        parts += [f"{tokens:,} tokens"] if tokens else []
        parts += [f"tokens of {self.untold} not told"] if self.untold else []
        least = "at least " if self.untold else ""
        parts += [f"{least}{self.cost:.4g} {self.currency}".rstrip()] if self.cost is not None else ["no price set"]
        return f"{self.provider}: {', '.join(parts)}"


def load_prices(settings: CostSettings) -> Prices:
    """The prices of PRICES_FILE, else of `prices.toml` in WEBRAG_HOME; none where there is no file.

    Raises InvalidInputError for a named file that cannot be read, and for one that is not as `Prices` says.
    """
    named = settings.prices_file
    file = named or settings.webrag_home / "prices.toml"
    try:
        changed = file.stat().st_mtime_ns
    except OSError as error:
        if named is None:
            return Prices()
        raise InvalidInputError(f"PRICES_FILE {named} cannot be read: {error.strerror}") from error
    return _read(file, changed)


@lru_cache(maxsize=4)
def _read(file: Path, changed: int) -> Prices:
    import tomllib  # most have no such file

    try:
        return Prices.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        problem = (
            "; ".join(_problem(error) for error in error.errors()) if isinstance(error, ValidationError) else error
        )
        raise InvalidInputError(f"the prices in {file} cannot be used: {problem}") from None


def _problem(error: Mapping[str, object]) -> str:
    place = error["loc"] if isinstance(error["loc"], tuple) else ()
    return f"{'.'.join(map(str, place))}: {error['msg']}"


def priced(amounts: Mapping[str, Amounts], prices: Prices) -> list[ProviderSpending]:
    """The amounts with their cost, by the name of the provider."""
    return [
        ProviderSpending(
            provider=name,
            requests=amount.requests,
            untold=amount.untold,
            input_tokens=amount.input_tokens,
            output_tokens=amount.output_tokens,
            pages=amount.pages,
            cost=prices.providers[name].cost_of(amount) if name in prices.providers else None,
            currency=prices.currency if name in prices.providers else "",
        )
        for name, amount in sorted(amounts.items())
    ]


def spent_line(spent: Sequence[ProviderSpending]) -> str:
    """What was asked of every endpoint in one line for people; empty for nothing."""
    return "; ".join(spending.text for spending in spent)


def total_cost(spent: Sequence[ProviderSpending]) -> float:
    """The sum of the costs that are known."""
    return math.fsum(spending.cost for spending in spent if spending.cost is not None)
