"""Blocks with offsets and heading paths; Markdown as plain words."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from webrag_core.indexing.markdown import _parser, parse_blocks, plain_text


def paths(text: str) -> dict[str, tuple[str, ...]]:
    """Text of each block with its heading path."""
    return {text[block.start : block.end].strip(): block.heading_path for block in parse_blocks(text)}


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("*em* **strong** _em_ `code`", "em strong em code"),
        ("[`gather()`](https://x.test/Foo_(bar)#y) ![alt](x.png)", "gather() alt"),
        ("[a [b]](u) [1] [open](x", "a [b] [1] [open](x"),
        ("`object.__init__(*args, **kw)` and __init__, self._x, snake_case_", None),
        ("\\# not a heading \\*x\\* a\\_b C:\\dir", "# not a heading *x* a_b C:\\dir"),
        ("``a`b`` ` c `", "a`b c"),
        ("two\n  lines\t here ", "two lines here"),
        ("", ""),
        ("` unclosed", "unclosed"),
    ],
)
def test_plain_text(markdown: str, plain: str | None) -> None:
    assert plain_text(markdown) == (markdown.replace("`", "") if plain is None else plain)


@pytest.mark.parametrize("unit", ["`", "[", "`a", "[a](", "_a", "*", "\\", "[[a] "])
def test_plain_text_of_hostile_text_ends(unit: str) -> None:
    plain_text(unit * 20_000)


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("# C#", "C#"),
        ("## A ##", "A"),
        ("# `a|b` *c*", "a|b c"),
        ("Title\n=====", "Title"),
        ("Two\nlines\n---", "Two lines"),
        ("Title\r=====", "Title"),
        ("Title\r\n=====", "Title"),
        ("# [link](https://x.test/a_(b))", "link"),
        ("# 1\\. First", "1. First"),
    ],
)
def test_headings_are_plain_text(heading: str, name: str) -> None:
    assert paths(f"{heading}\n\ntext")["text"] == (name,)


def test_paths_follow_levels_and_skip_empty_headings() -> None:
    found = paths("intro\n\n# A\n\na\n\n### B\n\nb\n\n## C\n\nc\n\n#\n\nd\n\n# E\n\ne")
    assert [found[text] for text in ("intro", "a", "b", "c", "d", "e")] == [
        (),
        ("A",),
        ("A", "B"),
        ("A", "C"),
        (),
        ("E",),
    ]


@pytest.mark.parametrize("inner", ["> ## In\n>\n> in", "- ## In\n\n  in", "t\n:   ## In\n\n    in"])
def test_a_heading_inside_something_says_nothing_about_what_follows(inner: str) -> None:
    assert paths(f"# A\n\n{inner}\n\nafter")["after"] == ("A",)


def test_a_hash_in_code_is_no_heading() -> None:
    text = "# A\n\n```\n## no\n```\n\n    ## no\n\nafter"
    assert [block.kind for block in parse_blocks(text)] == ["heading", "code", "code", "paragraph"]
    assert paths(text)["after"] == ("A",)


def test_terms_are_on_the_path() -> None:
    found = paths("# A\n\n`outer()`\n:   text\n\n    inner\n    :   deep\n\n    back\n\nafter")
    assert found[":   text"] == ("A", "outer()")
    assert found[":   deep"] == ("A", "outer()", "inner")
    assert found["back"] == ("A", "outer()")
    assert found["after"] == ("A",)


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("```\nx\n```", "code"),
        ("| a |\n| - |\n| b |", "table"),
        ("1. a\n2. b", "steps"),
        ("t\n:   d", "definition_list"),
        ("so $a_b$ holds", "math"),
        ("![a](b.png)", "image"),
        ("**Note:** careful", "admonition"),
    ],
)
def test_flags(text: str, flag: str) -> None:
    assert all(flag in block.flags for block in parse_blocks(text))
    assert not any(flag in block.flags for block in parse_blocks("plain words, 5$ and 6$, noteworthy `x`"))


def test_other_line_ends_of_unicode_end_no_line() -> None:
    text = "a\x0bb\x0cc\u2028d\x85e\n\n# H\n\nf"
    assert list(paths(text)) == ["a\x0bb\x0cc\u2028d\x85e", "# H", "f"]


def test_lines_that_are_no_tokens_are_blocks_too() -> None:
    text = "a\n\n[ref]: https://x.test\n\nb\n\n[end]: https://x.test"
    assert " ".join(text[block.start : block.end] for block in parse_blocks(text)).split() == text.split()


def test_a_table_costs_no_token_for_each_of_its_cells() -> None:
    head = "|a" * 2_000 + "|\n" + "|-" * 2_000 + "|\n"
    tokens = _parser().parse(head + "|x\n" * 2_000 + "\nafter")
    assert len(tokens) < 10
    [table, after] = parse_blocks(head + "|x\n" * 2_000 + "\nafter")
    assert (table.kind, after.kind) == ("table", "paragraph")


@pytest.mark.parametrize(
    "text",
    [
        "|a|b|\n|-|-|\n|1|2|\nlast\n\nafter",
        "|a|b|\n|-|-|\n> quoted",
        "|a|b|\n|-|-|\n# heading",
        "|a|b|\n|-|-|\n    code",
        "- |a|b|\n  |-|-|\n  |1|2|\nout",
        "text\n|a|b|\n|-|-|\n|1|2|",
        "|a|b|\n|-|-|",
        "|a|b|\n|-|\n|1|2|",
        "> |a|\n> |-|\n> |b|\n|c|",
    ],
)
def test_tables_begin_and_end_where_the_library_lets_them(text: str) -> None:
    whole = MarkdownIt("commonmark").enable("table").parse(text)
    assert [token.map for token in _parser().parse(text) if token.type == "table_open"] == [
        token.map for token in whole if token.type == "table_open"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "![" * 1_000_000,
        "x $\n" + "\u00a0x\n" * 30_000,
        "# " + "".join("`" * n + "a" for n in range(2_000)),
        "x" + "*-" * 2_000_000,
    ],
    ids=["images", "blanks", "ticks", "marks"],
)
def test_marks_that_are_never_closed_take_no_longer_than_text(text: str) -> None:
    assert len(parse_blocks(text)) == 1
