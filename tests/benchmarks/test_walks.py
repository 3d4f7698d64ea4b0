"""Walks over generated sites: what must hold for every walk holds, and the checks see what does not."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from benchmarks.loop.graph_making import generated
from benchmarks.loop.walk_checks import Walked, differences, violations
from benchmarks.loop.walks import POLICIES, Tally, opened, walk_graphs
from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.errors import FetchError, Reason
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.models import OrchestrationResult
from webrag_core.result_warnings import Caution

pytestmark = pytest.mark.slow

GRAPHS = 30
WALKS = 12


def test_nothing_is_violated_on_generated_sites(settings: Settings) -> None:
    async def work() -> Tally:
        async with opened(settings) as (database, embedder):
            return await walk_graphs(database, embedder, settings, range(WALKS), lambda _: None, per_graph=1)

    tally = asyncio.run(work())
    assert tally.violations == []
    assert (tally.walks, tally.rounds > WALKS, tally.pages > WALKS) == (WALKS, True, True)


def test_a_generated_site_is_always_the_same() -> None:
    one, other, third = generated(7), generated(7), generated(8)
    assert (one.pages, one.redirects, one.refused) == (other.pages, other.redirects, other.refused)
    assert one.pages != third.pages


def test_the_first_sites_hold_every_oddity() -> None:
    sites = [generated(seed) for seed in range(GRAPHS)]
    assert any("/calendar/1" in html for site in sites for html in site.pages.values())
    assert any("http://127.0.0.1/steel" in html for site in sites for html in site.pages.values())
    assert any(len(site.redirects) > 20 for site in sites)
    assert any(len(html.split("<a ")) > 100 for site in sites for html in site.pages.values())
    for part in ("refused", "slow", "hanging", "redirects"):
        assert any(getattr(site, part) for site in sites)
    assert len(POLICIES) == 4


@pytest.fixture
def walked(settings: Settings) -> Walked:
    """A good walk over three pages."""
    site = LocalSite(
        {
            "/": page("Bridges", "About bridges.", {"/spans": "longest bridge span", "/tolls": "bridge tolls"}),
            "/spans": page("Spans", "The longest bridge span of all measures 2,023 metres."),
            "/tolls": page("Tolls", "The bridge tolls are paid by lorries alone."),
        }
    )
    request = AnswerRequest((f"{SITE}/",), "longest bridge span", policy="fixed-k:2")

    async def work() -> OrchestrationResult:
        async with Corpus.open(settings, site) as corpus:
            return await OrchestratorEngine(corpus).run(request)

    result = asyncio.run(work())
    return Walked(request, settings, tuple(site.requests), result, None)


def found(walked: Walked) -> list[str]:
    async def work() -> list[str]:
        async with opened(walked.settings) as (database, _), database.connection() as connection:
            return await violations(connection, walked)

    return asyncio.run(work())


def changed(walked: Walked, **changes: object) -> Walked:
    assert walked.result is not None
    return replace(walked, result=walked.result.model_copy(update=changes))


def test_the_checks_see_what_does_not_hold(walked: Walked) -> None:
    result = walked.result
    assert result is not None
    assert found(walked) == []
    first, last = result.rounds[0], result.rounds[-1]
    stops = first.model_copy(update={"decision": last.decision})
    signals = first.model_copy(update={"signals": first.signals.model_copy(update={"candidates_left": 77})})
    other = first.model_copy(update={"decision": first.decision.model_copy(update={"pages": 1})})
    quote = result.citations[0].model_copy(update={"verbatim_text": "2,024 metres"})
    tight = walked.settings.model_copy(update={"webrag_max_pages": 2})
    for broken, said in (
        (replace(walked, request=replace(walked.request, expansion_budget=0)), "0 allowed"),
        (replace(walked, settings=tight), "3 pages, 2 allowed"),
        (replace(walked, requested=(*walked.requested, "https://elsewhere.example/")), "off the site"),
        (replace(walked, requested=walked.requested[:1] * 2), "2 times"),
        (replace(walked, requested=tuple(f"{SITE}/day/{n}" for n in range(12))), "pages like"),
        (replace(walked, requested=tuple(f"{SITE}/x{n}y" for n in range(12))), "in the ledger"),
        (changed(walked, documents=[*result.documents, result.documents[0]]), "2 times"),
        (changed(walked, documents=result.documents[:1]), "did not take in"),
        (changed(walked, rounds=[stops, *result.rounds[1:]]), "decisions are"),
        (changed(walked, rounds=[signals, *result.rounds[1:]]), "stored rounds"),
        (changed(walked, rounds=[other, *result.rounds[1:]]), "replayed"),
        (changed(walked, citations=[quote, *result.citations[1:]]), "does not prove"),
        (changed(walked, citations=result.citations[1:]), "stored citations"),
        (changed(walked, warnings=[Caution("other")]), "stored run"),
        (replace(walked, result=None, error=ValueError("x")), "raised ValueError"),
    ):  # fmt: skip
        assert any(said in line for line in found(broken)), said
    assert (
        found(replace(walked, result=None, error=FetchError(Reason.TIMEOUT, "x"), requested=walked.requested[:1])) == []
    )
    assert differences(result, result.model_copy(update={"rounds": [signals]})) == ["asked again, rounds differ"]
