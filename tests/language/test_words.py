"""Rules of words: which language's they are, and that nothing of another one is forced on a text."""

from __future__ import annotations

import pytest

from webrag_core.indexing.terms import query_terms, terms
from webrag_core.language.words import DEFAULT, UNSTEMMED, rules_of


@pytest.mark.parametrize(
    ("language", "rules"),
    [
        (None, DEFAULT),
        ("en-GB", DEFAULT),
        ("ru", DEFAULT),
        ("zh-Hant", DEFAULT),
        ("th", DEFAULT),
        ("de-AT", "de"),
        ("nb", "no"),
        ("fa", "fa"),
        ("uk", UNSTEMMED),
        ("vi", UNSTEMMED),
        ("ur", UNSTEMMED),
        ("english", UNSTEMMED),
    ],
)
def test_names_of_rules(language: str | None, rules: str) -> None:
    assert rules_of(language) == rules


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("de", "Die Häuser an der Straße", ["haus", "strass"]),
        ("es", "¿Cuántas canciones habían cantado?", ["cuant", "cancion", "cant"]),
        ("ru", "Сколько элементов в очередях", ["скольк", "элемент", "очеред"]),
        ("en", "Сколько tasks", ["скольк", "task"]),
        ("uk", "у чергах running", ["у", "чергах", "running"]),
        ("tr", "IŞIK İşlem", ["ışık", "işle"]),
        ("hi", "हिन्दी", ["हिन्द"]),
        ("ar", "كِتَابٌ كتـــاب", ["كتاب", "كتاب"]),
        ("th", "ภาษาไทย", ["ภาษ", "าษา", "ษาไ", "าไท", "ไทย"]),
        ("vi", "đường phố", ["đường", "phố"]),
        ("ja", "ｷｭｰ", ["キュ", "ュー"]),
        ("en", "ﬁle ｆｉｌｅ fi\u200ble fi\u00adle", ["file", "file", "file", "file"]),
        ("de", "asyncio.TaskGroup", ["asyncio.taskgroup", "asyncio", "taskgroup", "task", "group"]),
    ],
)
def test_terms_by_language(language: str, text: str, expected: list[str]) -> None:
    assert terms(text, language) == expected


def test_a_query_has_the_terms_of_every_language_of_the_corpus() -> None:
    german = "Welche Dienste starten die Container?"
    assert query_terms(german, ["de"], "de") == [("dien",), ("start",), ("contain",)]
    assert query_terms("running", ["de", "en"], None) == [("run", "running")]
    assert query_terms("services", ["en", "ru"], "de") == [("servic",)]
    assert query_terms("the end of it", ["en"], "en") == [("end",)]


def test_words_of_a_query_are_not_dropped_for_another_language() -> None:
    # `die`, `an` and `was` are stop words, each of one language only
    assert query_terms("was die", ["en"], None) == [("die",)]
    assert [word[0] for word in query_terms("die casting", ["de", "en"], "en")] == ["die", "cast"]
    assert len(query_terms("was ist die Straße", ["en"], "de")) == 1


def test_a_query_is_cut_by_six_languages_at_most() -> None:
    present = ["da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "no", "pt", "sv", "tr"]
    (word,) = query_terms("Wanderungen", present, "tr")
    assert len(word) <= 6
    assert word[0] == terms("Wanderungen", "tr")[0]


@pytest.mark.parametrize("flood", ["\u200b" * 1_000_000, "a" + "\u0301" * 1_000_000, "\u0301" * 1_000_000])
def test_floods_of_marks_make_no_terms_of_their_own(flood: str) -> None:
    assert len(terms(f"before {flood} after")) <= 3
