"""The file of prices: what it means, and what is said where it has none."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.providers.prices import Prices, load_prices, priced, spent_line, total_cost
from webrag_core.store.spending import Amounts, Spending, metering, total

AMOUNTS = st.builds(Amounts, *[st.integers(0, 10**9)] * 5)


def configured(folder: Path, text: str | None, **more: object) -> Settings:
    if text is not None:
        (folder / "prices.toml").write_text(text, encoding="utf-8")
    return Settings.model_validate({"webrag_home": folder, **more})


def test_nothing_has_a_price_without_a_file(tmp_path: Path) -> None:
    prices = load_prices(configured(tmp_path, None))
    [one] = priced({"chat m": Amounts(requests=2, untold=1, input_tokens=1500)}, prices)
    assert one.cost is None
    assert one.text == "chat m: 2 requests, 1,500 tokens, tokens of 1 not told, no price set"
    assert total_cost([one]) == 0


def test_requests_pages_and_tokens_have_their_prices(tmp_path: Path) -> None:
    text = """
    currency = "EUR"
    [providers.firecrawl]
    page = 0.5
    [providers."chat m"]
    request = 1
    million_input_tokens = 2
    million_output_tokens = 10
    """
    spent = priced(
        {
            "firecrawl": Amounts(requests=3, pages=3),
            "chat m": Amounts(requests=2, input_tokens=500_000, output_tokens=100_000, untold=1),
        },
        load_prices(configured(tmp_path, text)),
    )
    assert {one.provider: one.cost for one in spent} == {"firecrawl": 1.5, "chat m": 4.0}
    assert total_cost(spent) == 5.5
    assert "at least 4 EUR" in spent_line(spent)


@pytest.mark.parametrize(
    "text",
    [
        "currency = ",
        "[providers.x]\npage = -1",
        "[providers.x]\npge = 1",
        "[providers.x]\npage = inf",
        "providers = 1",
        "\0",
    ],
)
def test_a_file_that_is_none_is_an_error_that_names_it(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"prices\.toml"):
        load_prices(configured(tmp_path, text))


def test_a_named_file_must_be_there_and_is_read_anew_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    with pytest.raises(InvalidInputError, match="PRICES_FILE"):
        load_prices(configured(tmp_path, None, prices_file=file))
    file.write_text('currency = "EUR"')
    assert load_prices(configured(tmp_path, None, prices_file=file)).currency == "EUR"
    file.write_text('currency = "CHF" # now')
    assert load_prices(configured(tmp_path, None, prices_file=file)).currency == "CHF"


def test_the_file_of_the_documentation_sets_no_price_and_shows_every_kind() -> None:
    text = (Path(__file__).parents[2] / "docs" / "instances" / "prices.toml").read_text(encoding="utf-8")
    assert Prices.model_validate(tomllib.loads(text)) == Prices()
    kept = ("# [", "# currency", "# page", "# request", "# million")
    examples = "\n".join(line[2:] for line in text.splitlines() if line.startswith(kept))
    shown = Prices.model_validate(tomllib.loads(examples))
    assert len(shown.providers) == 5
    assert "EXAMPLES" in text


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), AMOUNTS, st.booleans()), max_size=12))
def test_work_inside_of_work_counts_for_both(steps: list[tuple[str, Amounts, bool]]) -> None:
    spending = Spending()
    with metering() as outer:
        for provider, amounts, _ in (step for step in steps if not step[2]):
            spending.add(provider, amounts)
        with metering() as inner:
            assert inner.outermost is outer
            for provider, amounts, _ in (step for step in steps if step[2]):
                spending.add(provider, amounts)
    assert total([outer.amounts]) == total({name: one} for name, one, _ in steps)
    assert total([inner.amounts]) == total({name: one} for name, one, inside in steps if inside)
