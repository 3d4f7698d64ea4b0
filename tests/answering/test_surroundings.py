"""What is shown around a quote: of its own block, and never half a mark."""

from __future__ import annotations

import pytest

from webrag_core.answering.surroundings import AROUND, REACH, surroundings

LINK = '[the reference of all queues and their many methods](../library/asyncio-queue.html#asyncio.Queue "Queues")'
CODE = "`asyncio.run(main(), debug=True, loop_factory=None)`"
WORDS = "many words that say little stand here, "


def around(page: str, quote: str) -> tuple[str, str]:
    start = page.index(quote)
    return surroundings(page[:start][-REACH:], quote, page[start + len(quote) :][:REACH])


def test_a_short_block_is_shown_whole_and_alone() -> None:
    page = "# Queues\n\nAnother paragraph.\n\nFirst of all. The quote. And *then* some.\n\n| a | b |\n"
    assert around(page, "The quote.") == ("First of all. ", " And *then* some.")


@pytest.mark.parametrize("mark", [LINK, CODE, "**strong words about what must never be forgotten by anybody**"])
@pytest.mark.parametrize("room", range(0, AROUND + 20, 7))
def test_no_mark_is_cut(mark: str, room: int) -> None:
    filler = (WORDS * 9)[:room].rstrip() + " "
    page = f"{WORDS * 8}{mark} {filler}The quote. {filler}{mark} {WORDS * 8}"
    before, after = around(page, "The quote.")
    assert max(len(before), len(after)) <= AROUND
    assert before in page
    assert after in page
    for side in (before, after):
        assert mark in side or not any(sign in side for sign in "[]`*()")


def test_tables_are_cut_at_rows() -> None:
    rows = [f"| option {number} | what it does, at some length {number} |" for number in range(20)]
    page = "\n".join(["| name | meaning |", "|---|---|", *rows])
    before, after = around(page, rows[10])
    assert before == "".join(f"{row}\n" for row in rows[7:10])
    assert after == "".join(f"\n{row}" for row in rows[11:14])


def test_a_block_that_begins_out_of_sight_is_cut_at_a_line_or_left_out() -> None:
    page = f"{WORDS * 100}\nThe last line. The quote."
    assert around(page, "The quote.")[0] == "The last line. "
    assert around(f"{WORDS * 100} The quote.", "The quote.")[0] == ""


def test_a_quote_over_two_blocks() -> None:
    page = "One. Two.\n\nThree. Four."
    assert around(page, "Two.\n\nThree.") == ("One. ", " Four.")
