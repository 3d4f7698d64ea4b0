"""Limits hold for what was asked for, whatever it turned out to be."""

from __future__ import annotations

import asyncio

from tests.local_site import SITE, LocalSite, page
from webrag_core.acquisition.traps import MAX_PAGES_PER_PATTERN
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.models import OrchestrationResult

QUESTION = "Which bridge has the longest span?"


def ask(settings: Settings, site: LocalSite, rounds: int, **limits: object) -> OrchestrationResult:
    async def run() -> OrchestrationResult:
        limited = settings.model_copy(update={"webrag_previews": 10, "expansion_min_candidate_score": 0.0, **limits})
        async with Corpus.open(limited, site) as corpus:
            request = AnswerRequest((f"{SITE}/",), QUESTION, policy=f"fixed-k:{rounds}")
            return await OrchestratorEngine(corpus).run(request)

    return asyncio.run(run())


def test_one_round_does_not_walk_into_a_calendar(settings: Settings) -> None:
    days = {f"/day/{number}": f"bridges on day {number}" for number in range(30)}
    site = LocalSite({"/": page("Bridges", "About bridges.", days)} | {day: page(day, "Nothing more.") for day in days})
    result = ask(settings, site, 1, max_candidates_per_iteration=20)
    assert len(site.requests) == 1 + MAX_PAGES_PER_PATTERN
    assert result.warnings == []


def test_pages_of_one_pattern_count_under_the_url_that_was_asked_for(settings: Settings) -> None:
    days = {f"/day/{number}": f"bridges on day {number}" for number in range(30)}
    moved = {day: f"/bridge-{letter}" for day, letter in zip(days, "abcdefghijklmnopqrstuvwxyzäöüß", strict=True)}
    site = LocalSite({"/": page("Bridges", "Of bridges.", days)} | {to: page(to, "One more.") for to in moved.values()})
    site.redirects.update(moved)
    ask(settings, site, 3, max_candidates_per_iteration=6)
    assert len(site.requests) == 1 + MAX_PAGES_PER_PATTERN


def test_a_page_that_is_there_already_counts_as_one_that_was_asked_for(settings: Settings) -> None:
    names = {f"/{name}": f"the {name} bridge" for name in ("long", "old", "new", "high", "wide")}
    site = LocalSite({"/": page("Bridges", "About bridges.", names), "/all": page("All", "The span of all bridges.")})
    site.redirects.update(dict.fromkeys(names, "/all"))
    result = ask(settings, site, 9, webrag_max_pages=4)
    assert len(site.requests) == 4
    assert [document.outcome for document in result.documents] == ["fetched", "duplicate", "duplicate", "fetched"]
    assert result.documents[1].reason == f"the same page as {SITE}/all"
    assert result.documents[1].url in {f"{SITE}{name}" for name in names}
    assert result.final_decision.rule == "page-limit"


def test_dead_links_take_no_place_from_pages_that_are_there(settings: Settings) -> None:
    dead = {f"/{name}": f"the {name} bridge span" for name in ("long", "old")}
    there = {f"/river-{name}": "of rivers" for name in ("ouse", "tay")}
    pages = {path: page(path, "The river is wide.") for path in there}
    site = LocalSite({"/": page("Bridges", "About bridges.", dead | there), **pages})
    result = ask(settings, site, 9, webrag_max_pages=3)
    outcomes = [document.outcome for document in result.documents]
    assert (outcomes.count("fetched"), outcomes.count("failed")) == (3, 2)


def test_the_limit_that_ended_a_run_is_named(settings: Settings) -> None:
    site = LocalSite(
        {"/": page("Bridges", "About bridges.", {"/long": "the long bridge"}), "/long": page("Long", "Of it.")}
    )

    async def run(**limits: object) -> OrchestrationResult:
        limited = settings.model_copy(update={"expansion_min_candidate_score": 0.0, **limits})
        async with Corpus.open(limited, site) as corpus:
            request = AnswerRequest((f"{SITE}/",), QUESTION, policy="fixed-k:3", seconds=1e-6, scope="run")
            return await OrchestratorEngine(corpus).run(request)

    of_answer = asyncio.run(run())
    assert of_answer.final_decision.rule == "timeout"
    assert "that the answer left for reading pages (ANSWER_SECONDS)" in of_answer.final_decision.reason
    of_run = asyncio.run(run(webrag_answer_timeout=1e-9))
    assert of_run.final_decision.reason.startswith("time limit of 1e-09 s reached (WEBRAG_ANSWER_TIMEOUT)")
