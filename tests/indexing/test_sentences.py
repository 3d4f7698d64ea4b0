"""Sentence spans: small units that partition every block."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.indexing.markdown import parse_blocks
from webrag_core.indexing.sentences import sentences_of


def units(text: str) -> list[str]:
    return [text[slice(*one.stripped(text))] for one in sentences_of(text)]


def check_partition(text: str) -> None:
    spans = sentences_of(text)
    position = {block: block.start for block in parse_blocks(text)}
    for one in spans:
        assert one.start == position[one.block] < one.end
        position[one.block] = one.end
    assert all(end == block.end for block, end in position.items())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One sentence. Another one! A third?", ["One sentence.", "Another one!", "A third?"]),
        ("See e.g. Smith et al. in Fig. 3. It holds.", ["See e.g. Smith et al. in Fig. 3.", "It holds."]),
        ("Version 3.11 is out. 2.7 is not.", ["Version 3.11 is out.", "2.7 is not."]),
        ("He said “no.” Then he left.", ["He said “no.”", "Then he left."]),
        ("Use `a.b.` *Then* stop.", ["Use `a.b.`", "*Then* stop."]),
        ("It ends with etc. and goes on.", ["It ends with etc. and goes on."]),
        ("第一句。第二句。", ["第一句。", "第二句。"]),
        ("# A heading. With two\n\nText.", ["# A heading. With two", "Text."]),
        ("- one item. Short.\n- another", ["- one item. Short.", "- another"]),
        ("`get()`\n:   Return it. Or wait.", ["`get()`", ":   Return it.", "Or wait."]),
        ("```\na. b\nc. D\n```", ["```\na. b\nc. D\n```"]),
        ("| a | b |\n|---|---|\n| 1. X | 2 |", ["| a | b |\n|---|---|\n| 1. X | 2 |"]),
        ("", []),
        ("...", ["..."]),
    ],
)
def test_units(text: str, expected: list[str]) -> None:
    check_partition(text)
    assert units(text) == expected


def test_long_items_and_tables_are_cut() -> None:
    item = "- " + " ".join(f"This is sentence {number} of it." for number in range(20))
    assert len(units(item)) == 20
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {number} | value {number} |" for number in range(40))
    assert len(units(table)) == 42
    check_partition(table)


@given(st.text(alphabet=st.sampled_from("ab .!?\n-#|`*:1。“”[]()"), max_size=200))
def test_any_text_is_partitioned(text: str) -> None:
    check_partition(text)
