"""Untrusted text in Markdown stays text."""

from __future__ import annotations

import re

from hypothesis import example, given

from tests.dagster.test_markdown import flat, hostile_text
from webrag_core.markdown_text import fenced, prose
from webrag_core.page_text import one_line, visible

_LIVE = re.compile(r"\$|\\|://|www\.|@\w|mailto:|javascript:", re.IGNORECASE)


@given(hostile_text)
@example("See https://evil.example/a_b?x=1, (www.evil.example). Mail me@evil.example! $5, \\(x\\), @name and `$a`")
@example("1. First")
@example("12) - # item")
@example("- [ ] task")
@example("===")
@example("&lt;script&gt;<b>&#36;</b>")
@example("C:\\temp\\`x` \\")
def test_running_text_is_one_paragraph_of_text_and_code(text: str) -> None:
    tokens = flat(prose(text))
    line = one_line(text)
    assert [token.type for token in tokens if token.type not in ("inline", "text", "text_special", "code_inline")] == (
        ["paragraph_open", "paragraph_close"] if line else []
    )
    shown = "".join(token.content for token in tokens if token.type in ("text", "code_inline"))
    assert shown == line
    assert not _LIVE.search("".join(token.content for token in tokens if token.type == "text"))


@given(hostile_text)
def test_a_fence_holds_all_of_the_text(text: str) -> None:
    [block] = flat(fenced(text))
    assert block.type == "fence"
    assert block.content.rstrip() == visible(text).rstrip()
