"""Where a quote stands in another text."""

from __future__ import annotations

import random

import pytest

from webrag_core.history.anchoring import Place, find_quote
from webrag_core.history.page_text import PageText

OLD = """# Queues

A queue is safe for tasks. It is not safe for threads. See the [list](https://a.example/1) of classes.

## get()

Remove and return an item. If the queue is empty, wait until an item is available. Raises nothing else.

## put()

Put an item into the queue. Added in version 3.4.
"""


def place(quote: str, new: str, old: str = OLD) -> Place | None:
    start = old.index(quote)
    return find_quote(PageText(old), start, start + len(quote), PageText(new))


@pytest.mark.parametrize(
    ("quote", "change", "state", "how"),
    [
        ("It is not safe for threads.", ("", ""), "valid", "same"),
        ("It is not safe for threads.", ("# Queues\n", "# Queues\n\nA new beginning.\n"), "valid", "same"),
        ("It is not safe for threads.", ("It is not safe", "It is safe"), "changed", "reworded"),
        ("It is not safe for threads.", ("It is not safe for threads. ", ""), "changed", "lost"),
        ("It is not safe for threads.", ("threads. ", "threads, unless you lock it. "), "changed", "reworded"),
        ("Remove and return an item.", ("## get()", "## async get()"), "valid", "same"),
        ("Put an item into the queue.", ("## put()", "## close()"), "moved", "text"),
        ("See the [list](https://a.example/1) of classes.", ("example/1", "example/2"), "moved", "markup"),
        ("A queue is safe for tasks.", ("A queue is", "A *queue* is"), "moved", "markup"),
    ],
)
def test_the_cascade(quote: str, change: tuple[str, str], state: str, how: str) -> None:
    new = OLD.replace(*change) if change[0] else OLD
    found = place(quote, new)
    assert found is not None
    assert (found.state, found.how) == (state, how)
    if state in ("valid", "moved"):
        assert found.start is not None
        assert found.end is not None
        if how != "markup":
            assert new[found.start : found.end] == quote


def test_a_long_sentence_in_another_section_has_moved() -> None:
    sentence = "If the queue is empty, wait until an item is available."
    new = OLD.replace(f" {sentence}", "").replace("## put()\n\n", f"## put()\n\n{sentence} It may be long until then. ")
    found = place(sentence, new)
    assert found is not None
    assert (found.state, found.how, found.context_changed) == ("moved", "text", True)


def test_of_two_places_the_one_with_the_same_surroundings_counts() -> None:
    old = "# A\n\nFirst. The same words here. Second.\n\n# B\n\nThird. The same words here. Fourth.\n"
    start = old.rindex("The same")
    new = "# A\n\nThird. The same words here. Fourth.\n\n# B\n\nFirst. The same words here. Second.\n"
    found = find_quote(PageText(old), start, start + len("The same words here."), PageText(new))
    assert found is not None
    assert found.state == "valid"  # the section counts first
    assert found.start == new.rindex("The same")


def test_facts_and_words_of_a_reworded_sentence() -> None:
    found = place("It is not safe for threads.", OLD.replace("not safe for threads", "safe for 2 threads"))
    assert found is not None
    assert found.state == "changed"
    assert set(found.facts_changed) == {"negation", "number"}
    assert 0.8 <= found.kept < 1


def test_a_passage_is_followed_sentence_by_sentence() -> None:
    passage = OLD[OLD.index("Remove and") : OLD.index("\n\n## put()")]
    inserted = place(passage, OLD.replace("available. Raises", "available. It may take long. Raises"))
    assert inserted is not None
    assert (inserted.state, inserted.how, inserted.sentences, inserted.standing) == ("moved", "text", 3, 3)
    edited = place(passage, OLD.replace("Raises nothing else.", "Raises an error in version 4."))
    assert edited is not None
    assert (edited.state, edited.sentences, edited.standing) == ("changed", 3, 2)
    assert edited.kept < 1


def test_a_changed_word_is_never_called_valid_or_moved() -> None:
    rng = random.Random(5)
    words = OLD.split(" ")
    for _ in range(200):
        number = rng.randrange(len(words))
        if not words[number].strip().isalpha():
            continue
        new = " ".join([*words[:number], words[number].replace(words[number].strip(), "other"), *words[number + 1 :]])
        for quote in ("A queue is safe for tasks.", "It is not safe for threads.", "Put an item into the queue."):
            found = place(quote, new)
            if quote not in new:
                assert found is None or found.state == "changed"


def test_a_word_is_never_cut() -> None:
    found = place(
        "Put an item into the queue.", OLD.replace("Put an item into the queue.", "Input an item into the queue.")
    )
    assert found is None or found.state == "changed"
