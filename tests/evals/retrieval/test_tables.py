"""Questions about tables: every gold cell stands on its page, and the report adds up."""

from __future__ import annotations

import asyncio

import pytest

from evals.retrieval.tables import SYSTEMS, Results, baselines, load_questions, shared_words, table
from evals.walks.suites import own_suites
from tests.corpus.corpora import rows
from tests.local_site import SITE, LocalSite
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import Settings
from webrag_core.conversion.html import convert_html
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.tables.lookup import find_tables


@pytest.mark.slow
def test_every_gold_cell_stands_on_its_page() -> None:
    questions = load_questions()
    assert len(questions) >= 30

    async def check() -> None:
        acquirers = {site: WarcAcquirer(own_suites()[site].warc) for site in {one.site for one in questions}}
        converted: dict[str, str] = {}
        for question in questions:
            for answer in question.answers:
                if answer.url not in converted:
                    page = await acquirers[question.site].fetch(answer.url)
                    converted[answer.url] = convert_html(page.body, url=page.final_url).markdown
                markdown = converted[answer.url]
                assert answer.text in markdown, question.id
                assert answer.row in markdown, question.id
                assert question.is_right(answer.url, f"| {answer.row} | {answer.text} |", answer.text)

    asyncio.run(check())


def test_baselines_name_rows_by_shared_words(settings: Settings) -> None:
    html = (
        "<html><head><title>Ports</title></head><body><main><h1>Ports</h1><p>All the ports of the tea server.</p>"
        "<table><tr><th>Service<th>Port<tr><td>brewer<td>4080<tr><td>steamer<td>4081</table></main></body></html>"
    )

    async def work() -> None:
        async with Corpus.open(settings, LocalSite({"/ports": html})) as corpus:
            await corpus.add(f"{SITE}/ports")
            question = "port of the steamer service"
            named = baselines(question, await find_tables(corpus, question))
            ((candidate, row),) = named["nearest row"]
            assert candidate.text[row.start : row.end] == "| steamer | 4081 |"
            assert len(named["first row"]) == 1
            assert baselines("zebra", await find_tables(corpus, "of the")) == {"nearest row": [], "first row": []}
            assert await rows(corpus.database, "SELECT count(*) FROM documents") == [(1,)]

    asyncio.run(work())
    assert shared_words("the port of the steamer", "| steamer | `port` |") == 2


def test_the_report_has_every_system_and_the_held_out_sites_together() -> None:
    questions = load_questions()
    results = Results()
    by_site = {site: [one for one in questions if one.site == site] for site in {one.site for one in questions}}
    for system in SYSTEMS:
        results.listed[system] = {one.id: [False, True] for one in questions}
    lines = table(results, by_site)
    assert sum("@1 0.00" in line and "@5 1.00" in line for line in lines) == len(SYSTEMS) * (len(by_site) + 1)
