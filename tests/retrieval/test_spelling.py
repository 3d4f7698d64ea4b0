"""A mistyped word is searched for as the word that pages write, and this is said; a name that nothing has is not."""

from __future__ import annotations

import asyncio

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.manager import Manager, Question
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.language.typing_errors import errors_between, is_likely_in_a_name, one_error_away
from webrag_core.language.words import DEFAULT, rules
from webrag_core.providers.common_words import is_common_word
from webrag_core.providers.reading_model import VOCABULARY
from webrag_core.retrieval.search import search_corpus

PAGES = {
    "/boiler": page("Boiler", "The thermostat of the boiler is set to 62 degrees. Descaling the boiler takes an hour."),
    "/scale": page("Scale", "Descaling keeps a boiler quiet. The thermostat must be off while you do so."),
    "/brand": page("Ana Brand", "Ana Brand repairs boilers on Mondays. Ana Brand lives in Postgresstrasse."),
    "/brands": page("Brand", "Ask Ana Brand for the price of a repair."),
    "/de": page(
        "Öffnungszeiten",
        "Unsere Öffnungszeiten sind von neun bis siebzehn Uhr. Am Sonntag bleibt die Werkstatt geschlossen, und die"
        " Öffnungszeiten stehen an der Tür.",
    ),
    "/de2": page("Tür", "An der Tür stehen die Öffnungszeiten der Werkstatt. Wir bitten um Geduld am Montag."),
}


@pytest.mark.parametrize(
    ("query", "taken"),
    [
        ("how do I set the termostat of the boiler", {"termostat": "thermostat"}),
        ("how long does decsaling take", {"decsaling": "descaling"}),
        ("how long does desscalign take", {"desscalign": "descaling"}),
        ("is the themrostat off while desclaing", {"themrostat": "thermostat", "desclaing": "descaling"}),
        ("Wie sind Ihre Öffnugszeiten am Montag?", {"Öffnugszeiten": "Öffnungszeiten"}),
        ('is "termostat" written anywhere', {}),
        ("When does Ana Brandt repair boilers?", {}),
        ("When does the shop of Kestrel open?", {}),
        ("what is termo3stat", {}),
        ("is there a boil here", {}),
    ],
)
def test_what_is_written_nowhere_is_taken_for_what_is_near(
    settings: Settings, query: str, taken: dict[str, str]
) -> None:
    async def work() -> None:
        async with Corpus.open(settings, LocalSite(dict(PAGES))) as corpus:
            for path in PAGES:
                await corpus.add(SITE + path)
            found = await search_corpus(corpus, query)
            assert {one.typed: one.taken for one in found.spellings} == taken
            assert found.spelling_note.startswith("showing results for") == bool(taken)
            for word in taken.values():
                assert word in found.searched_for

    asyncio.run(work())


def test_an_answer_says_what_it_took_a_word_for(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, LocalSite(dict(PAGES))) as corpus:
            for path in PAGES:
                await corpus.add(SITE + path)
            answer = await Manager(corpus).answer(Question("How many degrees is the termostat of the boiler set to?"))
            assert any("62 degrees" in one.text for one in answer.sentences)
            assert any(
                note.startswith('showing results for "How many degrees is the thermostat') for note in answer.notes
            )

    asyncio.run(work())


def test_errors_are_counted_as_letters_and_changes_of_order() -> None:
    assert errors_between("recieve", "receive", 2) == 1
    assert errors_between("Termostat", "thermostat", 2) == 1
    assert errors_between("abcdef", "badcfe", 2) == 3
    assert errors_between("abc", "abcdef", 2) == 3
    assert {"prompt", "promt", "romt"} <= {"promt", *one_error_away("promt")}
    assert "über" in set(one_error_away("uber", accents=True))


@pytest.mark.parametrize(("name", "other"), [("Brandt", "Brand"), ("Hansen", "Hanson"), ("Meier", "Meyer")])
def test_names_that_differ_are_no_errors(name: str, other: str) -> None:
    assert not is_likely_in_a_name(name, other)


def test_words_that_are_made_of_common_ones_are_common() -> None:
    assert all(map(is_common_word, ("kettles", "unblocked", "safest", "newsgroup", "browse")))
    assert not any(map(is_common_word, ("promt", "recieve", "abreviation", "batery", "kettels")))


def test_a_stem_begins_with_the_letter_of_its_word() -> None:
    stems = ((word, rules(DEFAULT).term(word)) for word in VOCABULARY.read_text(encoding="utf-8").split()[::10])
    assert all(stem[:1] in ("", word[:1]) for word, stem in stems if word.isalpha())
