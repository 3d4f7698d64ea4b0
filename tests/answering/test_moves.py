"""What counts as a proof of a sentence: only what the moves make of a quote, letter by letter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.answering.proof.moves import cells_sentence, is_only_header, row_sentence, trimmed, under
from webrag_core.answering.proof.prove import Quoted, prove
from webrag_core.indexing.unit_text import unit_text

PLAIN = "However, the queue (see `asyncio.Queue`) must not hold more than 5 items."


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("However, it is fast.", "It is fast."),
        ("And it is small.", "It is small."),
        ("And/or it is small.", "And/or it is small."),
        ("Note that the order matters.", "The order matters."),
        ("It is fast (see the appendix).", "It is fast."),
        ("It is fast.[3] It is small.[12]", "It is fast. It is small."),
        ("Use queue[0] for the head.", "Use queue[0] for the head."),
        ("It stops (unless told otherwise).", "It stops (unless told otherwise)."),
        ("It stops (see section 3, not 4).", "It stops (see section 3, not 4)."),
        ("However small it is, it counts.", "However small it is, it counts."),
    ],
)
def test_only_references_and_connectives_are_left_out(quote: str, expected: str) -> None:
    assert trimmed(quote) == expected


@pytest.mark.parametrize(
    ("sentence", "proof"),
    [
        ("However, the queue (see asyncio.Queue) must not hold more than 5 items.", "verbatim"),
        ("The queue must not hold more than 5 items.", "trimmed"),
        ("[Limits] The queue must not hold more than 5 items.", "trimmed"),
        ("[Elsewhere] The queue must not hold more than 5 items.", None),
        ("The queue must hold more than 5 items.", None),
        ("The queue must not hold more than 6 items.", None),
        ("The queue should not hold more than 5 items.", None),
        ("The queue must not hold more than 5 items", None),
        ("", None),
    ],
)
def test_a_sentence_is_proved_by_its_quote_alone(sentence: str, proof: str | None) -> None:
    assert prove(sentence, [Quoted(PLAIN, "paragraph", ("Limits",))]) == proof


@given(st.integers(min_value=0, max_value=60), st.sampled_from("abc019 .-"))
def test_no_other_letter_passes(place: int, letter: str) -> None:
    sentence = "The queue must not hold more than 5 items."
    place = min(place, len(sentence) - 1)
    changed = sentence[:place] + letter + sentence[place + 1 :]
    proof = prove(changed, [Quoted(PLAIN, "paragraph")])
    assert (proof is None) == (changed != sentence)


def test_a_row_says_its_columns() -> None:
    header, row = "| Option | Default |", "| `timeout` | 30 s |"
    assert row_sentence(header, row) == "Option: timeout; Default: 30 s"
    quotes = [Quoted(header, "table"), Quoted(row, "table", ("Settings",))]
    assert prove("Option: timeout; Default: 30 s", quotes) == "assembled"
    assert prove(under("Settings", "Option: timeout; Default: 30 s"), quotes) == "assembled"
    assert prove("Option: timeout; Default: 60 s", quotes) is None
    assert prove("Default: timeout; Option: 30 s", quotes) is None


@pytest.mark.parametrize(
    ("row", "only"),
    [
        ("| Single sign-on |  |  |", True),
        ("| Single sign-on | | No |", False),
        ("| | | No |", False),
        ("| Single sign-on |", False),
        ("| All prices are for one user and one month, and hold until the end of the year. | | |", False),
        ("| API | ![No](https://gizmo.example/no.svg) |", False),
    ],
)
def test_a_row_of_which_only_the_name_is_left_is_known(row: str, only: bool) -> None:
    assert is_only_header(row) == only


def test_a_first_row_of_code_is_no_header() -> None:
    assert row_sentence("| `run()` | Run it |", "| `stop()` | Stop it |") is None
    assert cells_sentence("| `stop()` | Stop it | |") == "stop() – Stop it"
    assert prove("stop() – Stop it", [Quoted("| `stop()` | Stop it | |", "table")]) == "assembled"


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("less than 1.5*$message_size_limit (Postfix)", "less than 1.5*$message_size_limit (Postfix)"),
        ("1.5*$a and 2*$b, then 3*4 and 5*6", "1.5*$a and 2*$b, then 3*4 and 5*6"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("pass *args, **kwargs on", "pass *args, **kwargs on"),
        ("of type *`one`* which matches *`other`*.", "of type one which matches other."),
        ("***TIP* Add your user**", "TIP Add your user"),
        ("run **gpg --import *`newkey.asc`***.", "run gpg --import newkey.asc."),
        ("a lone ` stays", "a lone ` stays"),
        ("**Never** use *this* or ***that***.", "Never use this or that."),
        ("**a *b* c**, (*d*): \\*e\\* and `f*g`", "a b c, (d): *e* and f*g"),
        ("see [the *new* page](https://a.example/*x*)", "see the new page"),
    ],
)
def test_an_asterisk_that_is_no_emphasis_stays(markdown: str, text: str) -> None:
    assert unit_text(markdown, "paragraph") == text
    assert prove(text, [Quoted(markdown, "paragraph")]) == "verbatim"


def test_a_formula_that_lost_its_sign_is_not_proved() -> None:
    quote = Quoted("less than 1.5*$message_size_limit", "paragraph")
    assert prove("less than 1.5$message_size_limit", [quote]) is None
