"""What changed between two texts, block by block."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.history.diff import PageDiff, diff_texts, unified, word_changes
from webrag_core.history.facts import facts_changed
from webrag_core.indexing.markdown import parse_blocks

BLOCKS = [
    "# Title",
    "The first paragraph says one thing about queues.",
    "The second paragraph says another thing about locks.",
    "```\ncode()\n```",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "The third paragraph has a [link](https://a.example/x) in it.",
    "- one item of a list",
    "Text that says nothing else of importance at all.",
]


def joined(blocks: list[str]) -> str:
    return "\n\n".join(blocks)


def check_spans(before: str, after: str, diff: PageDiff) -> None:
    """Every block of both sides stands in the diff once."""
    for text, side in ((before, "before"), (after, "after")):
        spans = [getattr(change, side) for change in diff.blocks if getattr(change, side) is not None]
        expected = [(block.start, block.end) for block in parse_blocks(text)]
        assert sorted((span.start, span.end) for span in spans) == expected
    afters = [change.after.start for change in diff.blocks if change.after is not None]
    assert afters == sorted(afters)


def test_nothing_changed() -> None:
    assert diff_texts(joined(BLOCKS), joined(BLOCKS)).changes == []
    assert diff_texts("", "").blocks == []


def test_markup_changes_nothing() -> None:
    diff = diff_texts(joined(BLOCKS), joined(BLOCKS).replace("https://a.example/x", "https://b.example/y"))
    assert diff.counts() == {"same": 8}


def test_moved_edited_added_and_removed() -> None:
    blocks = BLOCKS.copy()
    moved = blocks.pop(1)
    blocks.insert(5, moved)
    blocks[1] = blocks[1].replace("another thing", "quite another thing")
    blocks.remove("- one item of a list")
    blocks.append("A wholly new ending, written today.")
    before, after = joined(BLOCKS), joined(blocks)
    diff = diff_texts(before, after)
    check_spans(before, after, diff)
    assert Counter(change.kind for change in diff.changes) == {"moved": 1, "edited": 1, "added": 1, "removed": 1}
    (edited,) = (change for change in diff.changes if change.kind == "edited")
    assert [word.text.strip() for word in edited.words if word.op == "added"] == ["quite"]
    text = unified(before, after, diff)
    assert "~ The first paragraph" in text
    assert "+ A wholly new ending" in text
    assert "- - one item" in text


@given(
    st.lists(st.sampled_from([*BLOCKS, "Twice.", "Twice."]), max_size=12),
    st.lists(st.sampled_from([*BLOCKS, "Twice.", "A new one."]), max_size=12),
)
def test_the_spans_of_both_sides_add_up(before: list[str], after: list[str]) -> None:
    one, other = joined(before), joined(after)
    check_spans(one, other, diff_texts(one, other))


def test_a_planted_move_is_called_a_move() -> None:
    rng = random.Random(3)
    for _ in range(50):
        blocks = [
            f"Paragraph {number} is about {rng.choice(['tea', 'milk', 'rice'])}, and ends." for number in range(30)
        ]
        place, target = rng.sample(range(30), 2)
        other = blocks.copy()
        other.insert(target, other.pop(place))
        diff = diff_texts(joined(blocks), joined(other))
        assert {change.kind for change in diff.changes} == {"moved"}


@given(st.text(alphabet="ab .\n", max_size=60), st.text(alphabet="abc .\n", max_size=60))
def test_words_rebuild_the_new_text(before: str, after: str) -> None:
    words = word_changes(before, after)
    assert "".join(word.text for word in words if word.op != "removed") == after
    assert "".join(word.text for word in words if word.op == "removed").strip("ab .\n") == ""


@pytest.mark.parametrize(
    ("before", "after", "facts"),
    [
        ("It takes 80 degrees.", "It takes 75 degrees.", ["number"]),
        ("It takes two minutes.", "It takes three minutes.", ["number"]),
        ("New in version 3.8.", "New in version 3.9.", ["version"]),
        ("It works with Python 3.11 or later.", "It works with Python 3.12 or later.", ["version"]),
        ("It may be brewed twice.", "It may not be brewed twice.", ["negation"]),
        ("It isn't safe.", "It is safe.", ["negation"]),
        ("You can’t call it.", "You can call it.", ["negation"]),
        ("Use it.", "It is deprecated: use another.", ["deprecation"]),
        ("It works.", "It no longer works.", ["deprecation", "negation"]),
        ("It is not here.", "It isn’t here.", []),
        ("See *this* [page](https://a.example/1).", "See this [page](https://a.example/2).", []),
        ("It costs 10% of the price.", "It costs 20% of the price.", ["number"]),
    ],
)
def test_facts(before: str, after: str, facts: list[str]) -> None:
    assert [fact for fact in facts_changed(before, after) if fact in facts or facts == []] == facts


@pytest.mark.slow
def test_many_equal_blocks_end_soon() -> None:
    one = joined(["a", "b"] * 3_000)
    other = joined(["b", "a", "c"] * 2_000)
    check_spans(one, other, diff_texts(one, other))
