"""Questions that follow another one: what they leave open is completed, what is complete stays."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.dialogue.pairs import load_follow_ups
from webrag_core.language.dialogue.resolution import LONGEST, resolve

ABBREVIATION = "How do I make an abbreviation in fish?"


@pytest.mark.parametrize(
    ("earlier", "question", "read"),
    [
        (ABBREVIATION, "and how do I erase it again?", "how do I erase an abbreviation in fish again?"),
        (ABBREVIATION, "Does it survive a reboot?", "Does an abbreviation in fish survive a reboot?"),
        ("How do I set a variable?", "how do I do that on Windows?", "how do I set a variable on Windows?"),
        ("How do I install Postfix on Debian?", "what about Windows?", "How do I install Postfix on Windows?"),
        ("How do I set up version 1 of it?", "and in version 2?", "How do I set up version 2 of it?"),
        ("How much is a licence for adults?", "for children?", "How much is a licence for children?"),
        ("What is the default port of rndc?", "and the maximum?", "What is the maximum of rndc?"),
        ("What is the population of Iceland?", "and Malta?", "What is the population of Malta?"),
        ("What is the population of Iceland?", "what is its capital?", "what is Iceland’s capital?"),
        ("Can I leave my rods alone?", "why not?", "Why can I not leave my rods alone?"),
        ("What is a permit?", "how much does that cost?", "how much does a permit cost?"),
        ("Who is the warden of Skye?", "what do people speak there?", "what do people speak in Skye?"),
        ("What is the difference between Tor and I2P?", "is the second one faster?", "is I2P faster?"),
        ("What is the fee for adults?", "who can apply?", "who can apply (the fee for adults)?"),
        ("How do I add an abbreviation?", "and remove it?", "How do I remove an abbreviation?"),
        ("How do I create a new account?", "and closing it?", "How do I go about closing an account?"),
        ("How do I make another bed?", "what about moving it to a wall?", "How do I go about moving a bed to a wall?"),
        ("How do I add a new user?", "can it be hidden?", "can a user be hidden?"),
        ("Does HAProxy support HTTP/3?", "and HTTP/2?", "Does HAProxy support HTTP/2?"),
        ("Does HAProxy support HTTP/3?", "since which version?", "Since which version does HAProxy support HTTP/3?"),
        ("Which port does rndc use?", "how do I change this?", "how do I change the port of rndc?"),
        ("Where are drawings stored?", "and can I change it?", "can I change where drawings are stored?"),
        ("How long does a session last?", "how do I extend it?", "how do I extend how long a session lasts?"),
        ("How often does Postfix retry?", "can I change that?", "can I change how often Postfix retries?"),
        ("How many pictures are drawn at once?", "can it be changed?",
         "can it be changed (how many pictures are drawn at once)?"),
        ("When do backups run?", "can I change it?", "can I change when backups run?"),
        ("How much does the ticket cost?", "can I change it?", "can I change the ticket?"),
        ("Where is the configuration file?", "and can I change it?", "can I change the configuration file?"),
        ("What are the opening hours of the museum?", "how do I get there?", "how do I get to the museum?"),
        ("How do I make borscht?", "for six people?", "How do I make borscht for six people?"),
        ("What is a universal variable?", "tell me more", "tell me more (a universal variable)?"),
        ("Combien coûte un passeport ?", "et pour un enfant ?", "Combien coûte un passeport, pour un enfant ?"),
        ("Was kostet ein Visum?", "Wo kann ich das beantragen?", "Wo kann ich das beantragen (ein Visum)?"),
        ("Who won the 2018 world cup?", "and in 2022?", "Who won the 2022 world cup?"),
        ("Is asyncio.Queue thread safe?", "and queue.Queue?", "Is queue.Queue thread safe?"),
        ("how do i install postfix on debian", "and on windows?", "how do i install postfix on windows?"),
        ("Was kostet ein Reisepass?", "Wie lange ist er gültig?", "Wie lange ist er gültig (ein Reisepass)?"),
        ("¿Cuánto cuesta un pasaporte?", "¿y para niños?", "Cuánto cuesta un pasaporte, para niños?"),
    ],
)  # fmt: skip
def test_what_a_question_leaves_open_is_completed(earlier: str, question: str, read: str) -> None:
    resolved = resolve(earlier, question)
    assert resolved.text == read
    assert resolved.carried


@pytest.mark.parametrize(
    "question",
    [
        "Is it possible to vote by mail?",
        "How long does it take to get a passport?",
        "If I lose my passport, how do I replace it?",
        "How do I stop named when it hangs?",
        "Which settings are there on this page?",
        "Where is the file that named writes?",
        "Is there a bus to the harbour?",
        "In which year did Sweden vote?",
        "At what age can Indians vote?",
        "What does Iceland export to its neighbours?",
        "Faut-il assurer un chat ?",
        "Wie lange ist ein Reisepass gültig?",
        "Comment un locataire peut-il transmettre son congé ?",
        "iceland population",
    ],
)
def test_a_complete_question_stays_as_it_is(question: str) -> None:
    resolved = resolve("What is the capital of Belize?", question)
    assert (resolved.text, resolved.carried) == (question, ())


def test_full_questions_of_the_pairs_stay_as_they_are() -> None:
    pairs = load_follow_ups()
    changed = [pair.full for pair in pairs if resolve(pair.first, pair.full).carried]
    assert len(changed) <= 0.05 * len(pairs), changed


def test_a_longer_text_says_what_it_is_about() -> None:
    assert resolve(ABBREVIATION, "how do I erase it " + "again " * LONGEST).carried == ()


_WORDS = st.lists(
    st.sampled_from(
        re.findall(
            r"\S+",
            """how do I it erase and what about the Windows in version 2 that there one of Malta why , ? for children et
            pour un enfant le und er est-il ( ) ’s they is does its this which""",
        )
    ),
    max_size=14,
).map(" ".join)


@given(_WORDS | st.text(max_size=80), _WORDS | st.text(max_size=80))
def test_only_words_of_the_earlier_question_are_carried(earlier: str, question: str) -> None:
    resolved = resolve(earlier, question)
    there = set(re.findall(r"\w+", f"{earlier} {question}".casefold()))
    assert {part for word in resolved.carried for part in re.findall(r"\w+", word.casefold())} <= there
    if not resolved.carried:
        assert resolved.text == question


def test_a_reason_for_an_answer_takes_no_clause_of_an_open_question() -> None:
    for earlier in ("Which recipes are vegan?", "How long do I bake the apple pie?", "Who may fish in the lake?"):
        assert re.fullmatch(r"why \([\w ]+\)\?", resolve(earlier, "why?").text), earlier
    assert resolve("Do I need to rinse rice?", "why?").text == "Why do I need to rinse rice?"
