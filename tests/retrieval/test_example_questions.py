"""Questions that are made of headings."""

from __future__ import annotations

import pytest

from webrag_core.retrieval.example_questions import question_of


@pytest.mark.parametrize(
    ("heading", "language", "question"),
    [
        ("How to set the temperature", "en", "How to set the temperature?"),
        ("Why does it not boil?", "en-GB", "Why does it not boil?"),
        ("3.2 Descaling the kettle", "en", "What does it say about descaling the kettle?"),
        ("Pflege der Kanne", "de", "Was steht dort über Pflege der Kanne?"),
        ("What the workshop makes", "fr", "Que dit le site sur What the workshop makes ?"),
        ("Introduction", "en", None),
        ("Faire bouillir", "xx", None),
        ("?!?!?!?!?!", "en", None),
        ("a" * 200, "en", None),
    ],
)
def test_a_heading_becomes_a_question_in_its_language(heading: str, language: str, question: str | None) -> None:
    made = question_of(heading, language)
    assert (None if made is None else made[1]) == question
