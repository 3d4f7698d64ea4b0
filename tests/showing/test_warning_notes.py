"""Warnings that are alike are said once, and nothing else is left out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webrag_core.result_warnings import Caution
from webrag_core.showing.warning_notes import warning_notes

LEFT_OUT = "the text below “{}” was left out"


def left_out(pages: int) -> list[Caution]:
    return [Caution.on(f"https://a.example/{page}", LEFT_OUT.format(f"Part {page}")) for page in range(pages)]


def test_the_same_about_many_pages_is_one_note() -> None:
    other = Caution("The source does not answer")
    texts = [note.text for note in warning_notes([*left_out(11), other])]
    assert texts == [
        "Warning: https://a.example/0: the text below “Part 0” was left out (likewise on 10 other pages)",
        "Warning: The source does not answer",
    ]


@given(
    st.lists(st.sampled_from([*left_out(2), Caution("one"), Caution("two"), Caution.on("https://b.example/", "x 1")]))
)
def test_warnings_about_few_pages_all_stand(warnings: list[Caution]) -> None:
    assert sorted(note.text for note in warning_notes(warnings)) == sorted(f"Warning: {text}" for text in warnings)
