"""Strings that break programs, as URLs, in pages, as queries and constraints: a result or a typed error, never else."""

from __future__ import annotations

import asyncio
import html
import io
import os
from collections.abc import Awaitable, Iterable

import pytest
from rich.console import Console

from tests.acquisition.local_server import Page, reply, serving
from tests.local_site import SITE, LocalSite, page
from tests.suites import naughty_strings
from webrag_core.acquisition.urls import canonicalise
from webrag_core.cli import output as cli_output
from webrag_core.cli.answer import print_answer
from webrag_core.config import Settings
from webrag_core.corpus.verification import VerificationCounts, verify_corpus
from webrag_core.errors import InvalidInputError, WebragError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.answers import broken_citations
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.query_analyzer import analyze_query
from webrag_core.retrieval.reader import best_window, reading_scores
from webrag_core.retrieval.request import MAX_QUERY_CHARS
from webrag_core.retrieval.search import search_corpus

EVERY = bool(os.environ.get("EVERY_ARGUMENT"))
"""`make bench-naughty`: every string everywhere, which takes minutes."""
STRINGS = naughty_strings()
SHORT = {
    "null": "a\0b",
    "lone surrogate": "a\ud800b",
    "right to left": "\u202e\u2067abc שלום مرحبا\u2066",
    "zalgo": "".join(letter + "\u0301\u0316\u0489" * 20 for letter in "zalgo text"),
    "emoji": "😀👩‍👩‍👧‍👦🏳️‍🌈🇩🇪",
    "stop words": "the of and is to a",
    "sql": "'; DROP TABLE chunks; -- %s %(a)s {0} $1 :x \\'\" ;",
    "tsquery": "a & !(b | c:*) <-> d",
    "format": "%s%n%x %d {0} {} {a.b} ${x} #{y} {{",
    "escapes": "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b31m",
}
LONG = {
    "10,000 tokens": " ".join(f"word{number}" for number in range(10_000)),
    "one word of 1 MB": "x" * 1_000_000,
    "100,000 combining marks": "a" + "\u0301" * 100_000,
    "only combining marks": "\u0301" * 100_000,
    "questions": "what? " * 20_000,
    "comparisons": "a vs b and " * 5_000,
    "commas": "," * 100_000 + "a",
    "open quotes": "“" * 100_000,
    "dots": "a." * 20_000,
}
PER_PAGE = 10
AT_ONCE = 4


async def each(work: Iterable[Awaitable[object]]) -> list[str]:
    """Codes of the typed errors that came out, a few coroutines at a time; any other error ends the test."""
    refused: list[str] = []
    limit = asyncio.Semaphore(AT_ONCE)

    async def one(waiting: Awaitable[object]) -> None:
        async with limit:
            try:
                await waiting
            except WebragError as error:
                refused.append(error.code)

    await asyncio.gather(*map(one, work))
    return refused


async def violations(corpus: Corpus) -> list[object]:
    async with corpus.database.connection() as connection:
        _, broken = await broken_citations(connection)
    return [*[found async for found in verify_corpus(corpus.database, VerificationCounts())], *broken]


@pytest.mark.parametrize("prefix", ["", "http://", "https://site.example/", "https://site.example/?q=", "http://x@"])
def test_as_url_a_string_is_refused_or_has_one_spelling(prefix: str) -> None:
    for string in (*STRINGS, *SHORT.values(), *LONG.values()):
        try:
            canonical = canonicalise(prefix + string, f"{SITE}/a/b")
        except WebragError:
            continue
        assert canonical.isascii()
        assert canonicalise(canonical) == canonical


@pytest.mark.slow
def test_as_url_of_a_page_that_is_asked_for(settings: Settings) -> None:
    urls = [
        *STRINGS[:: 1 if EVERY else 4],
        *SHORT.values(),
        *LONG.values(),
        *(f"{SITE}/{string}" for string in STRINGS[::5]),
    ]

    async def work() -> None:
        async with Corpus.open(settings, LocalSite({})) as corpus:
            refused = await each(corpus.add(url) for url in urls)
            assert len(refused) == len(urls)
            assert set(refused) == {"invalid_url", "not_found"}
            assert not await violations(corpus)

    asyncio.run(work())


def served_pages() -> dict[str, Page]:
    """Each string as title, heading, words of a paragraph and anchor text, and once as HTML of its own."""
    kind = "content-type: text/html; charset=utf-8"
    seed = reply(page("Tea", "Green tea is brewed at eighty degrees.").encode(), kind)
    pages: dict[str, Page] = {"/robots.txt": reply(status="404 Not Found"), "/seed": seed}
    strings = [*STRINGS[:: 1 if EVERY else 8], *SHORT.values()]
    for start in range(0, len(strings), PER_PAGE):
        some = strings[start : start + PER_PAGE]
        texts = [html.escape(string) for string in some]
        body = "".join(
            f"<h2>{text}</h2><p>A sentence with {text} in the middle of words.</p>"
            f'<p>More words about <a href="/{start + PER_PAGE}">{text}</a> follow.</p>'
            for text in texts
        )
        title = " | ".join(texts)
        document = (
            f"<!DOCTYPE html><title>{title}</title><main><h1>{title}</h1>{body}<p>Raw words {''.join(some)}</main>"
        )
        pages[f"/{start}"] = reply(document.encode("utf-8", "surrogatepass"), kind)
    return pages


@pytest.mark.slow
def test_in_served_pages_and_as_questions_about_them(database_url: str) -> None:
    """An eighth of them in pages, a sixteenth as questions; in `make bench-naughty` all."""
    pages = served_pages()
    questions = [*STRINGS[:: 1 if EVERY else 16], *SHORT.values()]

    async def work() -> None:
        async with serving(pages) as site:
            here = f"http://127.0.0.1:{site.port}"
            settings = Settings(
                database_url=database_url,
                webrag_allow_hosts=here.removeprefix("http://"),
                retrieval_top_k_children_limit=10,  # a thousand searches: that each ends matters, not what it finds
                reranker_top_n=3,
                webrag_previews=2,
                webrag_reader="none",
            )
            async with Corpus.open(settings) as corpus:
                paths = [path for path in pages if path != "/robots.txt"]
                refused = await each(corpus.add(here + path) for path in paths)
                assert len(refused) == 0
                assert not await violations(corpus)

                no_text = sum(
                    not question.strip() or "\0" in question or "\ud800" in question for question in questions
                )
                refused = await each(search_corpus(corpus, question) for question in questions)
                assert refused == ["invalid_input"] * no_text
                refused = await each(search_corpus(corpus, "words", sources=[name]) for name in questions[::10])
                assert set(refused) == {"invalid_input"}

                engine = OrchestratorEngine(corpus)
                seed = f"{here}/seed"
                refused = await each(
                    engine.run(AnswerRequest((seed,), question, constraints=(question,), expansion_budget=0))
                    for question in questions
                )
                no_word = sum(
                    "\0" in question or "\ud800" in question or not any(map(str.isalnum, question))
                    for question in questions
                )
                assert refused == ["invalid_input"] * no_word
                refused = await each(
                    engine.run(AnswerRequest((here + path,), "Which sentence has words?")) for path in paths[::9]
                )
                assert len(refused) == 0
                assert not await violations(corpus)

    asyncio.run(work())


@pytest.mark.slow
def test_as_questions_and_passages_that_the_model_reads() -> None:
    for string in (*STRINGS[::60], *SHORT.values(), *LONG.values()):
        question = string.replace("\0", "").replace("\ud800", "")  # a query holds neither, a page's text neither
        (score,) = reading_scores(question, [best_window(question, f"Words about {question} here.")])
        assert -1.01 <= score <= 1.01


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_a_query_up_to_the_limit_is_answered_and_a_longer_one_refused(settings: Settings, name: str) -> None:
    site = LocalSite({"/": page("Tea", "Green tea is brewed at eighty degrees, whatever the word.")})

    async def work() -> None:
        async with Corpus.open(settings, site) as corpus:
            engine = OrchestratorEngine(corpus)
            constraints = (LONG[name][:MAX_QUERY_CHARS],)
            query = f"tea {LONG[name]}"
            with pytest.raises(InvalidInputError, match=f"{len(query):,} characters"):
                await engine.run(AnswerRequest((f"{SITE}/",), query, constraints=constraints, expansion_budget=0))
            request = AnswerRequest((f"{SITE}/",), query[:MAX_QUERY_CHARS], constraints=constraints, expansion_budget=0)
            result = await engine.run(request)
            assert [document.outcome for document in result.documents] == ["fetched"]
            assert not await violations(corpus)

    asyncio.run(work())


def test_a_very_long_query_stays_whole() -> None:
    """The grammar's patterns cost the square of what they read: 100,000 commas took them minutes."""
    for string in LONG.values():
        assert len(analyze_query(string).sub_queries) == 1
    question = "pros and cons of tea versus coffee"
    assert len(analyze_query(question).sub_queries) > 1
    assert len(analyze_query(question + " and more" * 1_000).sub_queries) == 1
    with pytest.raises(InvalidInputError):
        analyze_query(" \n" * 1_000_000)


@pytest.mark.slow
def test_no_terminal_escape_of_a_page_reaches_the_terminal(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    attack = "\x1b]0;owned\x07 \x1b[2J \x9b31m \u202e"
    site = LocalSite({"/": page(f"Tea {attack}", f"Green tea {attack} is brewed at eighty degrees.")})
    shown = io.StringIO()
    terminal = Console(file=shown, force_terminal=True, color_system=None, soft_wrap=True)
    monkeypatch.setattr(cli_output, "out", terminal)

    async def work() -> None:
        async with Corpus.open(settings, site) as corpus:
            result = await OrchestratorEngine(corpus).run(AnswerRequest((f"{SITE}/",), f"green tea {attack}"))
            print_answer(result, quotes=5)

    asyncio.run(work())
    assert "eighty degrees" in shown.getvalue()
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown.getvalue())
