from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.foreign_values import address_parts, finite_number, json_value, scheme_of, whole_number

ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers()), st.just(10**400)
)


@given(ANYTHING)
def test_numbers_of_others_are_within_their_range_or_none(value: object) -> None:
    number = whole_number(value, 0, 1_000)
    assert number is None or (type(number) is int and 0 <= number <= 1_000)
    real = finite_number(value)
    assert real is None or math.isfinite(real)


@pytest.mark.parametrize(("value", "number"), [("12", 12), (" -3 ", -3), (7, 7), (7.0, 7)])
def test_whole_numbers(value: object, number: int) -> None:
    assert whole_number(value, -10, 100) == number


@pytest.mark.parametrize("value", [7.5, True, "٣", "1" * 5_000, math.inf, math.nan, "", "-", "1e3", 10**30, "10" * 20])
def test_what_is_no_whole_number(value: object) -> None:
    assert whole_number(value, -10, 100) is None


@given(st.text())
def test_no_address_is_an_error(text: str) -> None:
    for address in (text, f"http://{text}", f"http://[{text}"):
        address_parts(address)
        scheme_of(address)


def test_the_scheme_of_an_address() -> None:
    assert scheme_of("HTTPS://tea.example") == "https"
    assert scheme_of("http://user@[::g]/") == ""


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000, "[1" + "0" * 5_000 + "]", "nonsense", b"\xff", ""])
def test_json_of_any_depth_is_a_value_or_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (whatever of it)
        json_value(text)


def test_json_has_a_most_length() -> None:
    assert json_value("[1, 2]") == [1, 2]
    with pytest.raises(ValueError, match="more than"):
        json_value("[1, 2]", most=3)
