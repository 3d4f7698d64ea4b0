"""Parents and children are exact slices that lose, repeat and overlap nothing, whatever the text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from webrag_core.indexing import chunker
from webrag_core.indexing.chunker import Chunk, chunk_markdown
from webrag_core.providers.static_model import count_tokens

NAMES = "word x asyncio.to_thread `code` *em* Ünïcödé 日本語 😀🎉 a\x0bb c\u2028d \x00 \ufffd e\u0301 end. &amp; <b>"
MARKS = "# - 1. > | $x$ [l](u) \\ : ` ** _ ~~~ <!-- $$"
WORDS = st.lists(st.sampled_from([*NAMES.split(" "), *MARKS.split(" ")]), min_size=1, max_size=12).map(" ".join)
BLOCKS = st.one_of(
    st.builds("{} {}".format, st.sampled_from(["#", "##", "###", "######"]), WORDS),
    st.builds("{}\n{}".format, WORDS, st.sampled_from(["===", "---"])),
    st.builds("{0}python\n{1}\n## no heading\n\n  {1}\n{0}".format, st.sampled_from(["```", "~~~", "````"]), WORDS),
    st.builds("```\n{}\nnever closed".format, WORDS),
    st.lists(WORDS, min_size=1, max_size=4).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.lists(WORDS, min_size=1, max_size=4).map(
        lambda items: "\n".join(f"{n}. {item}" for n, item in enumerate(items))
    ),
    st.builds("| {} | b |\n| --- | --- |\n| {} | d |".format, WORDS, WORDS),
    st.builds("{}\n:   {}\n\n    {}\n:   ```\n    code\n    ```".format, WORDS, WORDS, WORDS),
    st.builds("> {}\n>\n> t\n> :   {}".format, WORDS, WORDS),
    st.builds("- {}\n\n  t\n  :   {}\n\n      > {}".format, WORDS, WORDS, WORDS),
    st.builds("    {}".format, WORDS),
    st.builds("[ref]: https://x.test/{}".format, st.integers()),
    st.builds("<div>\n{}\n</div>".format, WORDS),
    st.builds(" ".join, st.lists(WORDS, min_size=10, max_size=40)),
    st.just("***"),
)
DOCUMENTS = st.builds(
    lambda blocks, gap, end, tail: gap.join(blocks).replace("\n", end) + tail,
    st.lists(BLOCKS, max_size=12),
    st.sampled_from(["\n\n", "\n", "\n\n\n \t\n"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["", "\n", "\r\n\r\n", " "]),
)
LIMITS = st.sampled_from([(1000, 256), (64, 64), (64, 16), (64, 256), (100, 40)])


def inked(text: str) -> str:
    return "".join(text.split())


def check(text: str, parents: list[Chunk], parent_max: int, child_target: int) -> None:
    """Every invariant of design section 6."""
    assert inked("".join(text[parent.char_start : parent.char_end] for parent in parents)) == inked(text)
    spans = [(parent.char_start, parent.char_end) for parent in parents]
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    for parent in parents:
        children = parent.children
        assert (children[0].char_start, children[-1].char_end) == (parent.char_start, parent.char_end)
        assert all(a.char_end <= b.char_start for a, b in pairwise(children))
        slices = [text[child.char_start : child.char_end] for child in children]
        assert all(inked(part) for part in slices)
        assert inked("".join(slices)) == inked(text[parent.char_start : parent.char_end])
        assert parent.token_count == sum(child.token_count for child in children) <= parent_max
        assert all(
            child.token_count <= child_target or len(part) == 1 for child, part in zip(children, slices, strict=True)
        )
        assert set(parent.flags) == {flag for child in children for flag in child.flags}
        for child in children:
            assert not child.children
            assert all(name == " ".join(name.split()) != "" for name in child.heading_path)


@settings(max_examples=100, deadline=None)
@given(DOCUMENTS, LIMITS)
@example("", (1000, 256))
@example(" \n\t\r\n", (1000, 256))
@example("\x0b\u2028\x0c", (1000, 256))
@example("no heading at all", (64, 16))
@example("x" * 30_000, (1000, 256))
@example("😀" * 5_000, (64, 16))
@example("# " + "h" * 5_000, (64, 16))
@example("word " * 6_000, (1000, 256))
@example("```\n" + "x = 1\n" * 3_000, (1000, 256))
@example("| a |\n| - |\n" + "| cell |\n" * 2_000, (1000, 256))
@example("# only a heading", (64, 64))
@example("- " * 200 + "deep", (64, 16))
@example(">" * 300 + " deep", (64, 16))
def test_nothing_is_lost_repeated_or_too_large(text: str, limits: tuple[int, int]) -> None:
    parent_max, child_target = limits
    check(text, chunk_markdown(text, parent_max=parent_max, child_target=child_target), *limits)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=400), LIMITS)
def test_any_text_at_all(text: str, limits: tuple[int, int]) -> None:
    check(text, chunk_markdown(text, parent_max=limits[0], child_target=limits[1]), *limits)


def chunks_of(text: str, parent_max: int = 1000, child_target: int = 256) -> list[Chunk]:
    parents = chunk_markdown(text, parent_max=parent_max, child_target=child_target)
    check(text, parents, parent_max, child_target)
    return parents


def test_neighbours_are_packed_and_sections_kept_apart() -> None:
    text = "# A\n\none\n\ntwo\n\n# B\n\nthree\n"
    [parent] = chunks_of(text)
    assert [text[child.char_start : child.char_end] for child in parent.children] == [text.strip()]
    sections = "".join(f"## Part {n}\n\n" + "some words of it. " * 30 + "\n\n" for n in range(12))
    parents = chunks_of(sections, parent_max=300)
    assert len(parents) > 1
    assert all(sections[parent.char_start :].startswith("## Part") for parent in parents)


def test_a_heading_goes_with_what_it_heads() -> None:
    text = "## One\n\n" + "word " * 50 + "\n\n## Two\n\n### Three\n\n" + "word " * 50
    parents = chunks_of(text, parent_max=64, child_target=64)
    assert [text[parent.char_start : parent.char_end].split("\n")[0] for parent in parents] == ["## One", "## Two"]
    assert parents[1].children[0].heading_path[0] == "Two"


def test_a_fence_is_not_cut_without_need() -> None:
    fence = "```python\n" + "\n\n".join(f"x{n} = {n}" for n in range(20)) + "\n```"
    text = f"# A\n\n{'word ' * 150}\n\n{fence}\n\n{'word ' * 150}\n"
    children = [child for parent in chunks_of(text) for child in parent.children]
    assert any(fence in text[child.char_start : child.char_end] for child in children)


def test_flags_and_paths_of_children() -> None:
    text = "# Top\n\n## Calls\n\n`gather(*aws)`\n:   Runs them.\n\n    ```python\n    await gather()\n    ```\n"
    [parent] = chunks_of(text)
    [child] = parent.children
    assert (child.heading_path, child.flags) == (("Top",), ("code", "definition_list"))
    deep = [c.heading_path for p in chunks_of(text, parent_max=64, child_target=16) for c in p.children]
    assert ("Top", "Calls", "gather(*aws)") in deep


def test_the_limit_holds_for_what_is_sent() -> None:
    """Token counts are sums over blocks; a slice, with the blank lines in between, is only a little longer."""
    text = "\n\n".join(f"## Part {n}\n\nA few words of part {n}." for n in range(200))
    parents = chunks_of(text)
    sent = count_tokens([text[parent.char_start : parent.char_end] for parent in parents])
    assert all(tokens <= 1.3 * parent.token_count for tokens, parent in zip(sent, parents, strict=True))


@pytest.mark.parametrize("text", ["", "\n \n", "\u2028\u2029\x85"])
def test_blank_text_has_no_chunks(text: str) -> None:
    assert chunks_of(text) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "x0y1" * 100_000,
        "word " * 100_000,
        "One sentence. " * 30_000,
        "line\n" * 80_000,
        "\U0001f469\u200d" * 60_000,
        "> " * 90_000,
    ],
    ids=["unbroken", "words", "sentences", "lines", "emoji", "quotes"],
)
def test_a_block_as_large_as_a_page_is_never_counted_at_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(texts: list[str]) -> list[int]:
        asked.append(sum(map(len, texts)))
        return count_tokens(texts)

    monkeypatch.setattr(chunker, "count_tokens", counted)
    parents = chunk_markdown(text, parent_max=1000, child_target=256)
    assert max(asked) <= 500_000
    assert sum(asked) <= 4 * len(text)
    sizes = [child.token_count for parent in parents for child in parent.children]
    assert max(sizes) <= 256
    assert sum(sizes) / len(sizes) > 128


def test_blanks_without_end_belong_to_nobody() -> None:
    text = "a" + " " * 300_000 + "b"
    parents = chunk_markdown(text, parent_max=1000, child_target=256)
    assert [text[parent.char_start : parent.char_end].strip() for parent in parents] == ["a", "b"]
