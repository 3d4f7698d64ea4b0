"""Ends of sentences, in texts that were written for this: abbreviations, numbers, names and marks of many languages."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from webrag_core.language.sentence_ends import Language, sentence_ends

_LINES = (Path(__file__).parent / "sentence_cases.txt").read_text(encoding="utf-8").splitlines()
CASES = [tuple(line.split(" ", 1)) for line in _LINES if not line.startswith("#")]


def sentences(text: str, language: Language = None) -> list[str]:
    bounds = [0, *(end for end in sentence_ends(text, language) if end < len(text)), len(text)]
    return [text[start:end].strip() for start, end in pairwise(bounds)]


@pytest.mark.parametrize("language", sorted({language for language, _ in CASES}))
def test_sentences_end_where_they_end(language: str) -> None:
    for code, marked in CASES:
        if code == language:
            expected = [sentence.strip() for sentence in marked.split("‖")]
            assert sentences(marked.replace("‖", ""), language) == expected


def test_a_language_is_looked_for_only_where_it_matters() -> None:
    wanted: list[str] = []

    def language() -> str:
        wanted.append("de")
        return "de"

    text = "It is the house. Nobody was here. They left at noon. Then it rained."
    assert len(sentences(text, language)) == 4
    assert wanted == []
    assert len(sentences("Das kostet 5 Mio. Euro. Es bleibt.", language)) == 2
    assert wanted == ["de"]


@pytest.mark.parametrize(
    "abbreviation", ["Dr. Lopez", "Mrs. Ito", "No. 7", "Fig. 3", "Oct. 5", "e.g. Bash", "J. R. Tolkien"]
)
@pytest.mark.parametrize("before", ["", "We wait. ", "Why? ", "(", "He left (", "- ", "*", "One! Two. "])
def test_an_abbreviation_is_one_in_every_position(abbreviation: str, before: str) -> None:
    text = f"{before}{abbreviation} is here. It stays."
    assert any(f"{abbreviation} is here." in sentence for sentence in sentences(text, "en"))
    assert sentences(text, "en")[-1] == "It stays."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It ended.[4] Then it began.", ["It ended.[4]", "Then it began."]),
        ("See [this.](https://x.example/a.b) Go on.", ["See [this.](https://x.example/a.b)", "Go on."]),
        ("Run `a.b()`. `c` follows.", ["Run `a.b()`.", "`c` follows."]),
        ("They left. « Viens », dit-il. Fin.", ["They left.", "« Viens », dit-il.", "Fin."]),
        ("so it goes. and on it goes. e.g. here.", ["so it goes.", "and on it goes.", "e.g. here."]),
        ("Use config. files or approx. five.", ["Use config. files or approx. five."]),
        ("Yahoo! and others.", ["Yahoo! and others."]),
        ("**Table 28.15. `a_b` View** It shows.", ["**Table 28.15. `a_b` View** It shows."]),
        ("It stands in Table 28.12. In some cases not.", ["It stands in Table 28.12.", "In some cases not."]),
        ("28.2.9. `a`, 28.2.10. Seen Here, 3.1. Others", ["28.2.9. `a`, 28.2.10. Seen Here, 3.1. Others"]),
        ("It must be a str. Works by name.", ["It must be a str.", "Works by name."]),
        ("Use `cc -I. -Ix` and `a ? b : c` here.", ["Use `cc -I. -Ix` and `a ? b : c` here."]),
        ("What?! No...", ["What?!", "No..."]),
        ("Es kostet 5. Danach nichts.", ["Es kostet 5.", "Danach nichts."]),
        ("1. First. 2. Second.", ["1. First.", "2. Second."]),
        ("… . ! ?", ["… . ! ?"]),
        ("", [""]),
    ],
)
def test_marks_belong_to_the_sentence_before(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_the_language_is_asked_for_only_where_it_matters() -> None:
    def language() -> str:
        raise AssertionError("not needed")

    assert sentences("He came! She left? 好。再见。", language) == ["He came!", "She left?", "好。", "再见。"]
