"""The language of questions and pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.language.detection import _model, detected, detected_beyond_doubt, detected_page
from webrag_core.language.names import language_name

GERMAN = "Die Warteschlange nimmt nur so viele Elemente auf, wie beim Erzeugen angegeben wurde."
ENGLISH = "The queue holds only as many items as were given when it was made."


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (GERMAN, "de"),
        (ENGLISH, "en"),
        ("नोवाक जोकोविच का जन्म कहाँ हुआ था?", "hi"),
        ("มีพรรคการเมืองกี่พรรคในรัฐสภา", "th"),
        ("كم عدد الأحزاب في البرلمان؟", "ar"),
        ("Πόσα κόμματα υπάρχουν στη βουλή;", "el"),
        ("Parlamentoda kaç parti var ve kim yönetiyor?", "tr"),
        ("How do you create a new instance with `die.casting.und.so`?", "en"),
        ("キューには何個の要素がありますか。", "ja"),
        ("队列里有多少个元素？", "zh"),
        ("", None),
        ("?! 404 -- 12", None),
        ("`for item in queue`", None),
    ],
)
def test_language_of_a_question(text: str, language: str | None) -> None:
    assert detected(text) == language


def test_names_alone_leave_a_doubt() -> None:
    assert detected_beyond_doubt("die in perl") is None
    assert detected_beyond_doubt("Welche Elemente hält die Warteschlange?") == "de"


def test_code_addresses_and_a_foreign_menu_do_not_hide_what_a_page_is_in() -> None:
    code = "```python\nfor item in the_queue: print('what is this and where is that')\n```\n" * 30
    menu = "[Home](https://example.test/the/start/of/it) [About us](https://example.test/who/we/are)\n\n"
    assert detected_page(menu + f"{GERMAN}\n\n{code}" * 5) == "de"


@pytest.mark.parametrize("flood", ["\u200b", "\u200d", "\ufeff", "\u202e", "\u00ad"])
def test_invisible_characters_say_nothing(flood: str) -> None:
    assert detected_page(flood.join(GERMAN) + flood * 100_000) == "de"


def test_of_mixed_scripts_the_most_counts() -> None:
    assert detected_page(f"{ENGLISH} Очередь. 队列。 คิว " + ENGLISH * 3) == "en"
    assert detected_page("Очередь содержит только столько элементов, сколько задано (queue.maxsize, FIFO).") == "ru"


@given(st.text())
def test_any_text_has_an_answer(text: str) -> None:
    for answer in (detected(text), detected_beyond_doubt(text), detected_page(text)):
        assert answer is None or 2 <= len(answer) <= 3


def test_every_language_that_is_detected_has_a_name() -> None:
    labels, _ = _model().predict("text", k=-1, threshold=-1.0)
    names = {language_name(label.removeprefix("__label__")) for label in labels}
    assert len(names) == len(labels) == 176
    assert not [name for name in names if name.startswith("the language")]
    assert language_name("cy") == "Welsh"
