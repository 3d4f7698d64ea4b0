"""Symbols of a query are looked for as they are, and what holds them is found and said first."""

from __future__ import annotations

import asyncio

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.manager import Manager, Question
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.language.symbols import count_symbol, symbol_tokens
from webrag_core.retrieval.search import search_corpus

PAGES = {
    "/modes": page("Key modes", "Can I use the keys of vi in the shell? You can: set the mode in your settings."),
    "/lists": page(
        "Lists of commands",
        "<p>The shell knows several ways to join commands.</p><p>With <code>&amp;&amp;</code> the second command runs"
        " after a success only.</p><p>With <code>||</code> it runs after a failure only.</p>",
    ),
    "/copy": page(
        "The copy command",
        "<p>Copy a folder with the command copy.</p><dl><dt><code>--dry-run</code></dt><dd>Says what would be copied."
        "</dd><dt><code>--dry-run-log</code></dt><dd>Names the file for it.</dd></dl>",
    ),
    "/run": page("Dry runs", "Run in dry weather. A dry run is a rehearsal, and a dry place is needed to run it."),
    "/args": page(
        "Arguments", "A function that is declared with *rest takes any number of values. The rest is a plain list."
    ),
    "/rest": page("Rest", "Take a rest. The rest of the day is free, and the rest of the week is for values of all."),
    "/server": page(
        "Access files",
        "<p>A folder may have a file named <code>.htaccess</code> with rules of its own.</p><p>The program htaccess"
        " prints them.</p>",
    ),
    "/compare": page("Comparisons", "Two values are told apart by !== in strict and by != in loose comparisons."),
    "/strict": page("Strict", "Only !== is allowed in strict mode, and values of two types are never the same."),
}


WITH_SYMBOLS = {
    "Can I use && in the shell?": "/lists",
    "What does || mean?": "/lists",
    "what is --dry-run": "/copy",
    "what does *rest take": "/args",
    "rules in .htaccess": "/server",
    "which values does != tell apart": "/compare",
}


def test_a_passage_with_the_symbols_comes_first(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, LocalSite(dict(PAGES))) as corpus:
            for path in PAGES:
                await corpus.add(SITE + path)
            for query, path in WITH_SYMBOLS.items():
                found = await search_corpus(corpus, query)
                assert found.chunks[0].chunk.source_url == SITE + path, query
            assert found.citations[0].source_url == SITE + path

    asyncio.run(work())


def test_an_answer_is_made_of_what_holds_the_symbols(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, LocalSite(dict(PAGES))) as corpus:
            for one in PAGES:
                await corpus.add(SITE + one)
            answer = await Manager(corpus).answer(Question("When does the second command run with && in the shell?"))
            assert "after a success" in answer.sentences[0].text
            assert not any("failure" in one.text for one in answer.sentences)

    asyncio.run(work())


@pytest.mark.parametrize(
    ("question", "tokens"),
    [
        ("Can I use && and || in fish?", ["&&", "||"]),
        ("What does (--dry-run) do, and -rf?", ["--dry-run", "-rf"]),
        ("What are *args, **kwargs and $PATH?", ["*args", "**kwargs", "$PATH"]),
        ("what are .htaccess, @property, #include and main()?", [".htaccess", "@property", "#include"]),
        ("What is ::? And $?? Or !=.", ["::", "$?", "!="]),
        ("what does `&` or '!' do", ["&", "!"]),
        ("Help!! Why -- and/or how (e.g. in the U.S.) is it $5, 5%, #1, -3 or .5? :-)", []),
        ("What's AT&T's C++ or C# rock 'n' roll? https://site.example/?a=b mail@site.example", []),
    ],
)
def test_tokens_of_a_question(question: str, tokens: list[str]) -> None:
    assert symbol_tokens(question) == tokens


@pytest.mark.parametrize(
    ("text", "token", "count"),
    [
        ("x !== y", "!=", 0),
        ("a!=b and c != d", "!=", 2),
        ("--perf-rf, rm -rf /", "-rf", 1),
        ("--dry-run-mode, --dry-run", "--dry-run", 1),
        ("f(*args, **kwargs)", "*args", 1),
        ("PATH=/opt:$PATH:$PATHS", "$PATH", 1),
        ("a.htaccess", ".htaccess", 0),
        ("std::move", "::", 1),
    ],
)
def test_tokens_are_counted_as_wholes(text: str, token: str, count: int) -> None:
    assert count_symbol(text, token) == count
