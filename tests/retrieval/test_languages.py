"""Corpora of several languages: what is found, filtered and said."""

from __future__ import annotations

import pytest

from tests.local_site import page
from tests.retrieval.graph.test_cross_modal import by_path, searching
from webrag_core.answering.manager import Manager, Question
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.terms import TERMS_VERSION
from webrag_core.retrieval.languages import language_warnings, weights_for
from webrag_core.retrieval.request import ScopeFilter, SearchRequest
from webrag_core.retrieval.search import search
from webrag_core.retrieval.weights import SHIPPED

GERMAN = page(
    "Warteschlangen",
    "Die Häuser am Fluss wurden im vergangenen Jahrhundert gebaut. Wer eine Straße überquert, sieht die alten Mühlen"
    " und die neuen Brücken, über die jeden Morgen viele Wagen fahren.",
)
ENGLISH = page("Queues", "A queue holds items until somebody takes them. Houses beside the river were built long ago.")
THAI = page("น้ำ", "แม่น้ำเจ้าพระยาไหลผ่านกรุงเทพมหานครและมีเรือโดยสารวิ่งตลอดทั้งวันเพื่อรับส่งผู้คนที่ทำงานในเมือง")
HINDI = page("नदी", "गंगा नदी हिमालय से निकलकर बंगाल की खाड़ी में गिरती है और इसके किनारे कई पुराने नगर बसे हुए हैं।")
PAGES = {"/de": GERMAN, "/en": ENGLISH, "/th": THAI, "/hi": HINDI}


async def stored_languages(corpus: Corpus) -> dict[str, tuple[str | None, str | None]]:
    async with corpus.database.connection() as connection:
        cursor = await connection.execute(
            "SELECT right(d.canonical_url, 3), v.language, v.detected_language FROM documents d"
            " JOIN document_versions v ON v.id = d.current_version"
        )
        return {row[0]: (row[1], row[2]) for row in await cursor.fetchall()}


QUERIES = {
    "/de": "Welches Haus und welche Brücke stehen am Fluss?",  # Häuser, Brücken
    "/en": "which house is beside a river",
    "/th": "เรือโดยสารวิ่งที่ไหน",
    "/hi": "गंगा नदी कहाँ गिरती है?",
}


def test_each_language_is_found_in_a_mixed_corpus(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        for path, query in QUERIES.items():
            found = await search(corpus, SearchRequest(query=query))
            best = found.chunks[0].chunk
            assert (best.source_url[-3:], best.language) == (path, path[1:])
            assert best.lexical_score > 0.1
            assert [warning for warning in found.warnings if "the question is in" in warning] == []

    searching(settings, work, PAGES)


def test_what_a_text_shows_counts_against_what_its_page_declares(settings: Settings) -> None:
    declared = {"/de": GERMAN.replace("<html", "<html lang='en de fr es it pt nl'"), "/en": ENGLISH}

    async def work(corpus: Corpus) -> None:
        async with corpus.database.connection() as connection:
            await connection.execute("UPDATE document_versions SET language = 'en-US'")
        assert await stored_languages(corpus) == {"/de": ("en-US", "de"), "/en": ("en-US", "en")}
        german = await search(corpus, SearchRequest(query="Brücke", filters=ScopeFilter(languages=["de"])))
        assert list(by_path(german)) == ["/de"]
        assert "pages in 'de' that declare another language, searched: 1" in german.warnings
        english = await search(corpus, SearchRequest(query="river", filters=ScopeFilter(languages=["en-us"])))
        assert list(by_path(english)) == ["/en"]
        assert "pages that declare 'en-us' but are in another language, left out: 1" in english.warnings

    searching(settings, work, declared)


def test_a_question_in_another_language_than_the_pages_is_told_so(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        query = "Wo stehen die alten Häuser neben der queue?"
        found = await search(corpus, SearchRequest(query=query))
        assert any("the question is in German, the pages are in English" in one for one in found.warnings)
        assert (await search(corpus, SearchRequest(query="Where are houses near the river?"))).warnings == []

    searching(settings, work, {"/en": ENGLISH})


def test_nothing_is_said_where_a_page_in_the_language_of_the_question_was_found(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        question = "Wo stehen die alten Mühlen neben der queue?"
        assert "/de" in by_path(await search(corpus, SearchRequest(query=question)))
        answer = await Manager(corpus).answer(Question(question))
        assert not any("the question is in" in one for one in (*answer.notes, *answer.warnings))

    searching(settings, work, {"/en": ENGLISH, "/de": GERMAN})


def test_an_answer_says_once_that_its_pages_are_in_another_language(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        bridging = corpus.settings.model_copy(update={"embedding_languages": "*"})
        question = Question("Wo stehen die alten Häuser neben der queue?")
        answer = await Manager(corpus).answer(question)
        [note] = [one for one in (*answer.notes, *answer.warnings) if "the question is in German" in one]
        assert "ask in English" in note
        found = await search(corpus, SearchRequest(query=question.text))
        [note] = language_warnings(question.text, [one.chunk for one in found.chunks], bridging)
        assert "by meaning" in note

    searching(settings, work, {"/en": ENGLISH})


def test_pages_of_an_earlier_version_are_indexed_again_in_their_language(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        async with corpus.database.connection() as connection:
            await connection.execute("DELETE FROM lexical_rules WHERE rules = 'de'")
            await connection.execute(
                "UPDATE document_versions SET detected_language = NULL, chunker = replace(chunker, %s, 'terms-1')",
                (f"terms-{TERMS_VERSION}",),
            )
            cursor = await connection.execute("SELECT id FROM document_versions")
            versions = [int(row[0]) for row in await cursor.fetchall()]
        assert by_path(await search(corpus, SearchRequest(query="Warteschlangen")))  # opens, and is searched as it is
        assert set(await corpus.indexer.pending(versions, "activate")) == set(versions)
        for version in versions:
            await corpus.indexer.index(version)
        assert await corpus.indexer.pending(versions, "activate") == []
        assert {language for _, language in (await stored_languages(corpus)).values()} == {"de", "en"}
        found = await search(corpus, SearchRequest(query="Welches Haus steht am Fluss?"))
        assert found.chunks[0].chunk.source_url.endswith("/de")

    searching(settings, work, {"/de": GERMAN, "/en": ENGLISH})


def test_what_models_do_not_know_counts_less(settings: Settings) -> None:
    assert weights_for("How does a queue work with several threads?", SHIPPED, settings) == SHIPPED
    chinese = weights_for("队列里有多少个元素？", SHIPPED, settings)
    assert chinese.cosine == 0
    assert chinese.token_match == SHIPPED.token_match / 2
    assert sum(chinese.by_name().values()) == pytest.approx(1)
    multilingual = settings.model_copy(update={"embedding_languages": "*"})
    assert weights_for("队列里有多少个元素？", SHIPPED, multilingual).cosine == SHIPPED.cosine
    german_only = settings.model_copy(update={"embedding_languages": "de, en"})
    assert weights_for("队列里有多少个元素？", SHIPPED, german_only).cosine == 0
