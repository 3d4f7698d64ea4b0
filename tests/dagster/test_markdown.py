"""Untrusted text in Markdown stays text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from webrag_core.page_text import visible
from webrag_core.showing.passage import plain_lines
from webrag_dagster.markdown import FOLD, block, code, link, passage_markdown, prose, quote, rows_markdown

HOSTILE = (
    "```\n![tracker](https://evil.example/pixel.png)\n```",
    "````\n</pre><script>alert(1)</script>",
    "~~~\n[click](https://evil.example)",
    "> > # heading\n\n<img src=x onerror=alert(1)>",
    "](https://evil.example) [x",
    "`` ` `` | a | b |",
    "\\",
    "",
    "text` ",
)

ADDRESSES = ("see https://evil.example/x_y now", "WWW.evil.example", "mail a@evil.example", "`x` http://evil.example`")

parser = MarkdownIt("commonmark", {"html": True}).enable("table")
hostile_text = st.one_of(
    st.sampled_from(HOSTILE), st.text(alphabet="`~[]()!<>\\|#*_-\n\t >ab:/.", max_size=300), st.text(max_size=200)
)


def flat(markdown: str) -> list[Token]:
    """All tokens, inline ones included."""
    return [inner for token in parser.parse(markdown) for inner in (token, *(token.children or ()))]


@given(hostile_text)
def test_a_quoted_block_is_one_code_block_and_nothing_else(text: str) -> None:
    text = visible(text)
    tokens = parser.parse(quote(block(text)))
    assert [token.type for token in tokens] == ["blockquote_open", "fence", "blockquote_close"]
    unfolded = tokens[1].content.replace("\n" + FOLD, "")
    assert [line.rstrip() for line in unfolded.split("\n")[:-1]] == [line.rstrip() for line in text.split("\n")]


@given(hostile_text)
def test_inline_code_is_code_and_nothing_else(text: str) -> None:
    tokens = flat(f"- {code(text)}")
    assert {token.type for token in tokens if token.nesting == 0} <= {"inline", "code_inline", "text"}
    assert sum(token.type == "code_inline" for token in tokens) == 1


@given(st.one_of(hostile_text, st.sampled_from(ADDRESSES)))
def test_running_text_is_text_and_addresses_in_it_are_code(text: str) -> None:
    tokens = flat(f"- {prose(text)}")
    assert {token.type for token in tokens if token.nesting == 0} <= {"inline", "code_inline", "text", "text_special"}
    assert not any(re.search(r"://|www\.|@\w", token.content) for token in tokens if token.type == "text")
    shown = "".join(token.content for token in tokens if token.type in ("code_inline", "text", "text_special"))
    assert "".join(shown.split()) == "".join(visible(text).split())


@given(hostile_text)
def test_a_passage_holds_no_markup_of_the_page(text: str) -> None:
    tokens = flat(quote(passage_markdown(plain_lines(text, (0, len(text) // 2)))))
    assert not {token.type for token in tokens} & {"link_open", "image", "html_inline", "html_block", "heading_open"}


@given(hostile_text)
def test_a_link_leads_only_where_we_say(text: str) -> None:
    target = "https://site.example/a_(b)?q=1&copy=2"
    tokens = flat(f"**1.** {link(text, target)} · score")
    [opened] = [token for token in tokens if token.type == "link_open"]
    assert opened.attrs == {"href": target}
    assert not {token.type for token in tokens} & {"image", "html_inline", "html_block", "fence", "code_inline"}


@pytest.mark.parametrize("cell", HOSTILE)
def test_a_table_keeps_its_shape(cell: str) -> None:
    tokens = parser.parse("\n".join(rows_markdown([{"a": cell, "b": 1}, {"a": "x", "b": cell}])))
    assert [token.type for token in tokens].count("td_open") == 4
    assert tokens[0].type == "table_open"
    assert tokens[-1].type == "table_close"
