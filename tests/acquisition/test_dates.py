"""Dates of pages, sitemaps, feeds and headers: the same moment in every time zone, and only plausible ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.conftest import in_time_zone
from webrag_core.acquisition.dates import parse_date


@in_time_zone
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024", datetime(2024, 1, 1)),
        ("2024-02", datetime(2024, 2, 1)),
        (" 2024-02-03\n", datetime(2024, 2, 3)),
        ("20240203", datetime(2024, 2, 3)),
        ("2024-02-03T04:05Z", datetime(2024, 2, 3, 4, 5)),
        ("2024-02-03T04:05:06", datetime(2024, 2, 3, 4, 5, 6)),
        ("2024-02-03 04:05:06", datetime(2024, 2, 3, 4, 5, 6)),
        ("2024-02-03T04:05:06+02:00", datetime(2024, 2, 3, 2, 5, 6)),
        ("2024-02-03T04:05:06+02", datetime(2024, 2, 3, 2, 5, 6)),
        ("2024-02-03T04:05:06.1234567-0530", datetime(2024, 2, 3, 9, 35, 6, 123_456)),
        ("Wed, 02 Oct 2002 13:00:00 GMT", datetime(2002, 10, 2, 13)),
        ("Wed, 02 Oct 2002 13:00:00 -0000", datetime(2002, 10, 2, 13)),
        ("Wed, 02 Oct 2002 13:00:00", datetime(2002, 10, 2, 13)),
        ("2 Oct 02 13:00 EST", datetime(2002, 10, 2, 18)),
        ("D:20240102030405+02'00'", datetime(2024, 1, 2, 1, 4, 5)),
        ("D:20240102030405Z00'00'", datetime(2024, 1, 2, 3, 4, 5)),
        ("D:2024", datetime(2024, 1, 1)),
    ],
)
def test_a_date_is_one_moment_in_utc(text: str, expected: datetime) -> None:
    assert parse_date(text) == expected.replace(tzinfo=UTC)


@in_time_zone
@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "2024-13",
            "2024-02-30",
            "2024-W05",
            "0000",
            "٢٠٢٤",
            "yesterday",
            "12:00",
            "202402",
            "soon",
            "1700000000",
        ),
        *("2024-02-03T04:05:06+99:00", "Wed, 99 Oct 2002 99:00:00 GMT", "x" * 100_000, "D:20241399"),
        *("0001-01-01T00:00:00", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+05:00", "0001-01-01T00:00:00-05:00"),
        *("9999-12-31", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-05:00", "D:99991231235959-23'59'"),
        *("Mon, 01 Jan 0001 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 -0500", "1970-01-01", "1989-12-31T23:59:59Z"),
    ],
)
def test_anything_else_and_what_is_not_plausible_is_no_date(text: str) -> None:
    assert parse_date(text) is None


@in_time_zone
def test_a_date_may_be_a_day_ahead_and_no_more() -> None:
    now = datetime.now(UTC)
    assert parse_date((now + timedelta(hours=23)).isoformat()) is not None
    assert parse_date((now + timedelta(hours=25)).isoformat()) is None
    assert parse_date("1990-01-01T00:00:00Z") is not None
