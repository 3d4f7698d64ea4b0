"""Blocks of code, passages and tables stay text in the UI; the rest is in tests/test_markdown_text.py."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.test_markdown_text import HOSTILE, flat, hostile_text, parser
from webrag_core.page_text import visible
from webrag_core.showing.passage import plain_lines
from webrag_dagster.markdown import FOLD, block, passage_markdown, quote, rows_markdown


@given(hostile_text)
def test_a_quoted_block_is_one_code_block_and_nothing_else(text: str) -> None:
    text = visible(text)
    tokens = parser.parse(quote(block(text)))
    assert [token.type for token in tokens] == ["blockquote_open", "fence", "blockquote_close"]
    unfolded = tokens[1].content.replace("\n" + FOLD, "")
    assert [line.rstrip() for line in unfolded.split("\n")[:-1]] == [line.rstrip() for line in text.split("\n")]


@given(hostile_text)
def test_a_passage_holds_no_markup_of_the_page(text: str) -> None:
    tokens = flat(quote(passage_markdown(plain_lines(text, (0, len(text) // 2)))))
    assert not {token.type for token in tokens} & {"link_open", "image", "html_inline", "html_block", "heading_open"}


@pytest.mark.parametrize("cell", HOSTILE)
def test_a_table_keeps_its_shape(cell: str) -> None:
    tokens = parser.parse("\n".join(rows_markdown([{"a": cell, "b": 1}, {"a": "x", "b": cell}])))
    assert [token.type for token in tokens].count("td_open") == 4
    assert tokens[0].type == "table_open"
    assert tokens[-1].type == "table_close"
