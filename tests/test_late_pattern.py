"""A pattern that is compiled by its first use."""

from __future__ import annotations

import re

import pytest

from webrag_core.late_pattern import late_pattern


def test_a_late_pattern_does_what_the_pattern_does() -> None:
    late = late_pattern(r"(?P<word>b+)", re.IGNORECASE)
    for _ in range(2):
        assert late.sub("-", "aBBc") == "a-c"
        assert [match["word"] for match in late.finditer("b BB")] == ["b", "BB"]
    assert late.pattern == r"(?P<word>b+)"
    assert late.flags == re.compile(late.pattern, re.IGNORECASE).flags
    assert late.groupindex == {"word": 1}


def test_a_wrong_pattern_fails_when_it_is_used() -> None:
    late = late_pattern("(")
    with pytest.raises(re.error):
        late.search("")
