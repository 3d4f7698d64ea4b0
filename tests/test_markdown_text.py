"""Untrusted text in Markdown stays text."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from webrag_core.markdown_text import code, fenced, link, prose
from webrag_core.page_text import one_line, visible

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
_LIVE = re.compile(r"\$|\\|://|www\.|@\w|mailto:|javascript:", re.IGNORECASE)

parser = MarkdownIt("commonmark", {"html": True}).enable("table")
hostile_text = st.one_of(
    st.sampled_from(HOSTILE), st.text(alphabet="`~[]()!<>\\|#*_-\n\t >ab:/.", max_size=300), st.text(max_size=200)
)


def flat(markdown: str) -> list[Token]:
    """All tokens, inline ones included."""
    return [inner for token in parser.parse(markdown) for inner in (token, *(token.children or ()))]


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


@given(hostile_text)
def test_inline_code_is_code_and_nothing_else(text: str) -> None:
    tokens = flat(f"- {code(text)}")
    assert {token.type for token in tokens if token.nesting == 0} <= {"inline", "code_inline", "text"}
    assert sum(token.type == "code_inline" for token in tokens) == 1


@given(hostile_text)
def test_a_link_leads_only_where_we_say(text: str) -> None:
    target = "https://site.example/a_(b)?q=1&copy=2"
    tokens = flat(f"**1.** {link(text, target)} · score")
    [opened] = [token for token in tokens if token.type == "link_open"]
    assert opened.attrs == {"href": target}
    assert not {token.type for token in tokens} & {"image", "html_inline", "html_block", "fence", "code_inline"}
