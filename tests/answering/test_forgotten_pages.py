"""Forget any of the pages that an answer quotes: every face shows the rest as it was, and nothing of them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations

import httpx2
import psycopg
import pytest
from lxml import html

from tests.command_line import Webrag, webrag_here
from tests.conftest import fresh_database
from tests.local_site import SITE, LocalSite, page
from tests.mcp_server.clients import called, connected, text_of
from tests.web.serving import web_server
from webrag_core import WebRAG
from webrag_core.answering.models import (
    Answer,
    AnswerSentence,
    Disagreement,
    Highlight,
    Listed,
    Spent,
)
from webrag_core.answering.stored import finish_answer, load_answer, start_answer, store_citations
from webrag_core.config import Settings
from webrag_core.corpus.forget import forget
from webrag_core.corpus.quotes import Quote
from webrag_core.errors import NotStoredError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration import answers
from webrag_core.orchestration.answers import CitedQuote
from webrag_core.orchestration.models import ExpansionDecision
from webrag_core.routing.results import TaskReport, WalkStep
from webrag_core.showing.html import render_page
from webrag_core.showing.markdown import render_markdown
from webrag_core.showing.model import render_for_model
from webrag_core.showing.wording import FORGOTTEN_SENTENCE
from webrag_core.store.database import Database
from webrag_dagster.prose import prose_markdown

__all__ = ["webrag_here"]

NAMES = ("tea", "tea/pots", "milk")  # an address may begin with that of a forgotten page
SUBSETS = tuple(chain.from_iterable(combinations(NAMES, size) for size in range(len(NAMES) + 1)))
SAID = ((0,), (1,), (2,), (3, 5))
"""The quotes of each sentence by position: the number of each is one more, its page that of the remainder by three."""
_CITED = """
SELECT c.number, d.canonical_url, c.quote_sha256 FROM citations c JOIN document_versions v ON v.id = c.version_id
JOIN documents d ON d.id = v.document_id WHERE c.answer_id = %s ORDER BY c.number
"""


def address(group: int, name: str) -> str:
    return f"{SITE}/{group}/{name}"


def marker(group: int, name: str) -> str:
    """A word of this page alone."""
    return f"quillow{group}x{NAMES.index(name)}y"


def words(group: int, name: str, place: int) -> str:
    return f"The {marker(group, name)} of part {place} stands beside the kettle, and {place + 3} cups stand around it."


def pages() -> dict[str, str]:
    """Three pages for each subset of them that is forgotten."""
    return {
        f"/{group}/{name}": page(
            f"Title {marker(group, name)}", "</p><p>".join(words(group, name, place) for place in range(3))
        )
        for group in range(len(SUBSETS))
        for name in NAMES
    }


@dataclass(frozen=True, slots=True)
class Asked:
    """The answers of a group of pages: in sentences with a list, with the nearest passages alone, and of evidence."""

    said: int
    nearest: int
    evidence: int


async def quotes_of(corpus: Corpus, group: int) -> dict[int, CitedQuote]:
    """The three parts of each page, page by page in turn, numbered from 1."""
    quotes: dict[int, CitedQuote] = {}
    async with corpus.database.connection() as connection:
        for place in range(3):
            for name in NAMES:
                cursor = await connection.execute(
                    "SELECT v.id, v.markdown FROM documents d JOIN document_versions v ON v.id = d.current_version"
                    " WHERE d.canonical_url = %s",
                    (address(group, name),),
                )
                version, markdown = await cursor.fetchone() or (0, "")
                text = words(group, name, place)
                start = markdown.index(text)
                quote = Quote.of(markdown, version, start, start + len(text))
                quotes[len(quotes) + 1] = CitedQuote(quote, f"Section {marker(group, name)}", 0.5)
    return quotes


def answer_of(group: int, *, said: bool) -> Answer:
    """What is stored beside the quotes 1 to 9: the part 0 of each page, then its part 1, then its part 2."""
    urls = [address(group, name) for name in NAMES]

    def sentence(ordinal: int, *places: int) -> AnswerSentence:
        text = " ".join(words(group, NAMES[place % 3], place // 3) for place in places)
        numbers = [place + 1 for place in places]
        return AnswerSentence(ordinal=ordinal, text=text, proof="verbatim", citations=numbers, part=0, support=0.9)

    task = TaskReport(
        iteration=1,
        id="walk",
        agent="pages",
        kind="pages.walk",
        asked=f"read {', '.join(urls)} and follow links",
        status="success",
        milliseconds=1,
        passages=9,
        findings=0,
        pages=3,
        note=f"{urls[0]} has had one text. {urls[1]} too",
    )
    return Answer(
        question=f"What stands beside kettle {group}?",
        parts=["What stands beside the kettle?"],
        form="explain",
        status="answered" if said else "not_found",
        band="high" if said else "insufficient",
        confidence=0.9 if said else 0.2,
        confidence_note="calibrated",
        final_reason="it was found",
        sentences=[sentence(ordinal, *places) for ordinal, places in enumerate(SAID, start=1)] if said else [],
        highlights=[] if said else [Highlight(citation=number, marks=[(4, 20)]) for number in range(1, 10)],
        citations=[],
        missing=[],
        disagreements=[Disagreement(sentences=(1, 2), about="a number")] if said else [],
        notes=[f"{urls[2]} was read"],
        look_next=urls,
        walk=[WalkStep(round=0, pages=urls, decision="stop", reason=f"{urls[0]} and {urls[1]} suffice")],
        listed=[
            Listed(group=f"Changed on {url}", label=f"label {marker(group, name)}", citation=place + 7)
            for place, (url, name) in enumerate(zip(urls, NAMES, strict=True))
        ]
        if said
        else [],
        tasks=[task],
        spent=Spent(),
        warnings=[f"{urls[1]}: slow"],
        evidence_ids=[],
    )


async def stored_prose(corpus: Corpus, group: int, *, said: bool) -> int:
    quotes = await quotes_of(corpus, group)
    async with corpus.database.transaction() as connection:
        answer_id = await answers.new_id(connection)
        answer = answer_of(group, said=said)
        await start_answer(connection, answer_id, question=answer.question, seed_url=None, options={})
        await store_citations(connection, answer_id, quotes)
        await finish_answer(connection, answer.model_copy(update={"answer_id": answer_id}))
    return answer_id


async def stored_evidence(corpus: Corpus, group: int) -> int:
    quotes = await quotes_of(corpus, group)
    decision = ExpansionDecision(
        action="stop", rule="complete", reason="enough", confidence="high", probability_complete=0.9
    )
    async with corpus.database.transaction() as connection:
        answer_id = await answers.new_id(connection)
        await answers.start_run(
            connection, answer_id, seed_url=f"{SITE}/", query=f"Kettle {group}?", policy="calibrated", options={}
        )
        await store_citations(connection, answer_id, quotes)
        await answers.finish_run(connection, answer_id, decision, status="answered", confidence=0.9)
    return answer_id


@pytest.fixture(scope="module")
def database_url(server_url: str) -> Iterator[str]:
    with fresh_database(server_url) as url:
        yield url


def made(database_url: str) -> Settings:
    return Settings(database_url=database_url, webrag_reader="none", webrag_previews=0)


@pytest.fixture(scope="module")
def asked(database_url: str) -> list[Asked]:
    """The answers of each group, after its subset of pages was forgotten."""

    async def work() -> list[Asked]:
        async with Corpus.open(made(database_url), LocalSite(pages())) as corpus:
            groups = []
            for path in pages():
                await corpus.add(SITE + path)
            for group, subset in enumerate(SUBSETS):
                said, nearest = [await stored_prose(corpus, group, said=said) for said in (True, False)]
                groups.append(Asked(said, nearest, await stored_evidence(corpus, group)))
                for name in subset:
                    await forget(corpus.database, address(group, name), removed_by="a test")
            return groups

    return asyncio.run(work())


Cited = dict[int, tuple[str, str]]
"""Address and sha256 by number."""


@pytest.fixture(scope="module")
def cited(database_url: str, asked: list[Asked]) -> dict[int, Cited]:
    """What the table holds of each answer."""
    with psycopg.connect(database_url) as connection:
        return {
            answer: {number: (url, digest) for number, url, digest in connection.execute(_CITED, (answer,))}
            for group in asked
            for answer in (group.said, group.nearest, group.evidence)
        }


def check_silence(group: int, shown: str, face: str) -> None:
    """Nothing of a forgotten page is shown: no word of it, and not its address (which others may begin with)."""
    for name in SUBSETS[group]:
        assert marker(group, name) not in shown, face
        assert not re.search(re.escape(address(group, name)) + r"(?![\w/])", shown), face


def check_quotes(shown: dict[int, tuple[str, str]], stored: Cited, face: str) -> None:
    """What is printed of quotes, digests cut short, is what the table holds of them, and all of it."""
    cut = {number: (url, digest[:12]) for number, (url, digest) in stored.items()}
    assert {number: (url.partition("#")[0], digest[:12]) for number, (url, digest) in shown.items()} == cut, face


def lost_of(group: int) -> tuple[list[int], list[int]]:
    """Ordinals of the sentences and numbers of the quotes that went with the pages."""
    gone = {NAMES.index(name) for name in SUBSETS[group]}
    sentences = [ordinal for ordinal, places in enumerate(SAID, start=1) if gone & {place % 3 for place in places}]
    return sentences, [number for number in range(1, 10) if (number - 1) % 3 in gone]


def by_number(citations: list[dict[str, str]]) -> dict[int, tuple[str, str]]:
    return {int(one["number"]): (one["url"], one["sha256"]) for one in citations}


@pytest.mark.slow
def test_the_library(database_url: str, asked: list[Asked], cited: dict[int, Cited]) -> None:
    with WebRAG(made(database_url), LocalSite({})) as rag:
        for group, ids in enumerate(asked):
            sentences, quotes = lost_of(group)
            for number in (ids.said, ids.nearest):

                async def load(corpus: Corpus, number: int = number) -> Answer:
                    async with corpus.database.connection() as connection:
                        return await load_answer(connection, number)

                answer = rag.run(load)
                shown = {one.number: (one.url, one.sha256) for one in answer.citations}
                assert shown == cited[number]
                assert answer.forgotten_citations == quotes
                assert answer.forgotten_sentences == (sentences if number == ids.said else [])
                for one in range(1, 10):
                    if one in quotes:
                        with pytest.raises(NotStoredError, match=f"no quote {one}: its page was forgotten"):
                            answer.citation(one)
                    else:
                        found = answer.citation(one)
                        assert (found.number, found.quote) == (one, words(group, NAMES[(one - 1) % 3], (one - 1) // 3))
                for face in (answer.to_markdown(), answer.summary(), render_for_model(answer), prose_markdown(answer)):
                    check_silence(group, face, "library")
                assert answer.to_markdown().count(FORGOTTEN_SENTENCE) == len(answer.forgotten_sentences)
                assert render_for_model(answer).count(FORGOTTEN_SENTENCE) == len(answer.forgotten_sentences)
                assert prose_markdown(answer).count(FORGOTTEN_SENTENCE) == len(answer.forgotten_sentences)
                lines = re.findall(r"^\[(\d+)\] (\S+) version", render_for_model(answer), re.MULTILINE)
                assert {int(one): url for one, url in lines} == {one: url for one, (url, _) in cited[number].items()}
            for state in rag.citations(ids.said, ids.nearest, ids.evidence):
                assert state.url == cited[state.answer_id][state.number][0]
                check_silence(group, state.model_dump_json(), "library")


def test_the_files_to_keep(database_url: str, asked: list[Asked], cited: dict[int, Cited]) -> None:
    async def work() -> dict[int, Answer]:
        async with await Database.open(made(database_url)) as database, database.connection() as connection:
            return {
                number: await load_answer(connection, number)
                for group in asked
                for number in (group.said, group.nearest)
            }

    for number, answer in asyncio.run(work()).items():
        group = next(place for place, one in enumerate(asked) if number in (one.said, one.nearest))
        markdown, page_html = render_markdown(answer), render_page(answer)
        entries = re.findall(
            r"^\*\*(\d+)\.\*\* .*?\[.*?\]\(<?(\S+?)>?\): version .*? sha256 (\w+)$", markdown, re.MULTILINE
        )
        check_quotes({int(one): (url, digest) for one, url, digest in entries}, cited[number], "Markdown")
        document = html.document_fromstring(page_html)
        figures = {
            int(figure.findtext(".//b") or 0): (
                figure.find(".//figcaption/a").get("href"),
                figure.text_content().rpartition("sha256 ")[2].strip(),
            )
            for figure in document.iter("figure")
        }
        check_quotes(figures, cited[number], "HTML")
        assert page_html.count(FORGOTTEN_SENTENCE) == len(answer.forgotten_sentences)
        check_silence(group, markdown, "Markdown")
        check_silence(group, page_html, "HTML")


@pytest.mark.slow
def test_the_command_line(webrag_here: Webrag, asked: list[Asked], cited: dict[int, Cited]) -> None:
    for group, ids in enumerate(asked):
        sentences, _ = lost_of(group)
        for number in (ids.said, ids.nearest, ids.evidence):
            done = webrag_here("answers", "show", str(number), "--all", "--proof", COLUMNS="400")
            assert done.returncode == 0, done.stderr
            check_silence(group, done.stdout, "command line")
            assert done.stdout.count(FORGOTTEN_SENTENCE) == (len(sentences) if number == ids.said else 0)
            printed = re.findall(r"^  \[(\d+)\] (?:.*\n      )*?.*?(https://\S+)\n.* sha256 (\w+)$", done.stdout, re.M)
            shown = {int(one): (url, digest) for one, url, digest in printed}
            check_quotes(shown, {} if number == ids.evidence else cited[number], "command line")
            states = re.findall(rf"^\[{number}\.(\d+)\] valid\n    (\S+) version", done.stdout, re.MULTILINE)
            assert {int(one): url for one, url in states} == {one: url for one, (url, _) in cited[number].items()}
        done = webrag_here("answers", "show", str(ids.said), "--json")
        answer = json.loads(done.stdout)
        assert by_number(answer["citations"]) == cited[ids.said]
        assert answer["forgotten_sentences"] == sentences
        check_silence(group, done.stdout, "command line, JSON")


@pytest.fixture(scope="module")
def client(database_url: str, asked: list[Asked]) -> Iterator[httpx2.Client]:
    with web_server(made(database_url), LocalSite({})) as client:
        yield client


def got(client: httpx2.Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status, response.text
    return response.text


@pytest.mark.slow
def test_the_web_pages(client: httpx2.Client, asked: list[Asked], cited: dict[int, Cited]) -> None:
    for group, ids in enumerate(asked):
        sentences, quotes = lost_of(group)
        for number in (ids.said, ids.nearest, ids.evidence):
            text = got(client, f"/answers/{number}")
            check_silence(group, text, "web page")
            assert text.count(FORGOTTEN_SENTENCE) == (len(sentences) if number == ids.said else 0)
            document = html.document_fromstring(text)
            listed = {int(one.get("value")) for one in document.xpath("//ol[contains(@class, 'quotes')]/li")}
            assert listed == {*cited[number]}
            for figure in document.xpath("//figure[not(@class)]"):  # the others are pictures of data
                (quote,) = figure.xpath(".//a[@class = 'number']/text()")
                (link,) = figure.xpath(".//figcaption/a[@rel]/@href")
                assert link.partition("#")[0] == cited[number][int(quote)][0]
        number = ids.said
        for one in range(1, 10):
            beside = got(client, f"/answers/{number}/quotes/{one}", 404 if one in quotes else 200)
            check_silence(group, beside, "quote beside its answer")
            if one not in quotes:
                assert words(group, NAMES[(one - 1) % 3], (one - 1) // 3) in beside
                assert marker(group, NAMES[(one - 1) % 3]) in beside
        for suffix in ("md", "html"):
            check_silence(group, got(client, f"/answers/{number}.{suffix}"), "download")


def test_rest(client: httpx2.Client, asked: list[Asked], cited: dict[int, Cited]) -> None:
    for group, ids in enumerate(asked):
        sentences, quotes = lost_of(group)
        for number in (ids.said, ids.nearest, ids.evidence):
            text = got(client, f"/api/answers/{number}")
            check_silence(group, text, "REST")
            reply = json.loads(text)
            states = {one["number"]: one["url"] for one in reply["citations"]}
            assert states == {one: url for one, (url, _) in cited[number].items()}
            if number != ids.evidence:
                assert by_number(reply["answer"]["citations"]) == cited[number]
                assert reply["answer"]["forgotten_citations"] == quotes
            everything = len(SUBSETS[group]) == len(NAMES)
            status = {ids.said: "answered", ids.nearest: "not_found", ids.evidence: "answered"}[number]
            verdict = reply["run"] if number == ids.evidence else reply["answer"]
            assert verdict["status"] == ("forgotten" if everything and number != ids.nearest else status)
        assert json.loads(got(client, f"/api/answers/{ids.said}"))["answer"]["forgotten_sentences"] == sentences


def test_mcp(database_url: str, asked: list[Asked], cited: dict[int, Cited]) -> None:
    async def work() -> dict[int, str]:
        async with connected(made(database_url), LocalSite({})) as client:
            return {number: text_of(await called(client, "history", answer=number)) for number in cited}

    for number, text in asyncio.run(work()).items():
        group = next(place for place, one in enumerate(asked) if number in (one.said, one.nearest, one.evidence))
        check_silence(group, text, "MCP")
        lines = re.findall(r"^\[(\d+)\] valid, (\S+) version", text, re.MULTILINE)
        assert {int(one): url for one, url in lines} == {one: url for one, (url, _) in cited[number].items()}


def test_nothing_of_a_forgotten_page_is_left_in_the_tables_of_answers(database_url: str, asked: list[Asked]) -> None:
    with psycopg.connect(database_url) as connection:
        for group, ids in enumerate(asked):
            rows = connection.execute(
                "SELECT to_jsonb(a)::text FROM answer_runs a WHERE id = ANY(%s)", ([ids.said, ids.nearest],)
            ).fetchall()
            for (text,) in rows:
                check_silence(group, text, "table")
