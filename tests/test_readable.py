"""Results as people read them: one line as `repr`, and Markdown in which page text stays text."""

from __future__ import annotations

import asyncio

import pytest
from markdown_it import MarkdownIt

from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.manager import Manager, Question
from webrag_core.config import Settings
from webrag_core.history.compare import compare
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.readable import Readable
from webrag_core.retrieval.search import CorpusSearch, search_corpus
from webrag_core.retrieval.text_fragments import fragment_url

ASKED = "How are the `signing` <keys> rotated?"
HOSTILE = (
    "The signing keys are rotated with the command rotate-keys, once a week at night.</p>"
    '<p>The signing keys <a href="https://evil.example/">click here</a> <img src="https://evil.example/x.png" alt="y">'
    " ``` ~~~ &lt;script&gt;alert(1)&lt;/script&gt; ](https://evil.example/) # rotated | $x$ **keys** @everyone"
)


@pytest.fixture
def results(settings: Settings) -> list[Readable]:
    async def work() -> list[Readable]:
        site = LocalSite({"/": page("Keys ](https://evil.example/) `<b>`", HOSTILE)})
        async with Corpus.open(settings, site) as corpus:
            answer = await Manager(corpus).answer(Question(ASKED, urls=(f"{SITE}/",)))
            evidence = await OrchestratorEngine(corpus).run(AnswerRequest((f"{SITE}/",), ASKED))
            rows = await search_corpus(corpus, ASKED)
            site.pages["/"] = page("Keys", HOSTILE.replace("once a week", "twice a week"))
            await corpus.add(f"{SITE}/", refresh=True)
            async with corpus.database.connection() as connection:
                difference = await compare(connection, f"{SITE}/", "1", "2")
        return [answer, evidence, rows, difference, difference.after]

    return asyncio.run(work())


def test_page_text_stays_text_and_reprs_are_one_line(results: list[Readable]) -> None:
    for result in results:
        assert repr(result) == str(result)
        assert repr(result).startswith(f"<{type(result).__name__} ")
        assert "\n" not in repr(result)
        assert len(repr(result)) < 200
        markdown = result.to_markdown()
        assert markdown == result._repr_markdown_()
        html = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown)
        assert "rotate" in html
        for mark in ("<script", "<img", "<b>", 'href="https://evil', "<table"):
            assert mark not in html, type(result)
        assert html.count("<h1>") == 1
        assert html.count("<a ") == html.count(f'<a href="{SITE}/')
    answer, evidence, rows, *_ = results
    assert isinstance(rows, CorpusSearch)
    assert rows.status == "partial"
    for one in (answer, evidence, rows):
        assert "#:~:text=" in one.to_markdown()
        assert "characters " in one.to_markdown()


@pytest.mark.parametrize(
    ("quote", "fragment"),
    [
        ("A *short* [quote](x).", "A%20short%20quote."),
        ("# Head\n\nOne two three four five six seven.", "Head,two%20three%20four%20five%20six%20seven."),
        ("| a | b |\n|---|---|\n| c-1 | d, e |", "a,d%2C%20e"),
        ("- one\n- two & three", "one,two%20%26%20three"),
    ],
)
def test_a_fragment_names_words_that_stand_in_one_block(quote: str, fragment: str) -> None:
    assert fragment_url("https://a.example/", quote) == f"https://a.example/#:~:text={fragment}"


def test_a_quote_without_words_has_no_fragment() -> None:
    assert fragment_url("https://a.example/", "```\n```\n---") == "https://a.example/"
