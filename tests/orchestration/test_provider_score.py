"""What a provider's reranker decides: the order of passages, and a veto. The reader and the tables stay beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.local_site import SITE, LocalSite, page
from tests.orchestration.test_calibrated import GOOD, signals
from tests.provider_server import Call, Reply, serving
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.models import COMPLETE_AT, OrchestrationResult
from webrag_core.orchestration.policies import get_policy

QUESTION = "How do I rotate the signing keys, and how long do old keys stay valid?"
LABELS = {"/rotate": "rotate the signing keys", "/valid": "how long do old keys stay valid", "/old": "old signing keys"}
PAGES = {
    "/": page("Rotate the signing keys", "Keys:").replace(
        "<p>Keys:</p>",
        "<ul>" + "".join(f'<li><a href="{path}">{text}</a></li>' for path, text in LABELS.items()) + "</ul>",
    ),
    "/rotate": page("Rotate the signing keys", "To rotate the signing keys, run vault keys rotate as an operator."),
    "/valid": page("How long old keys stay valid", "Old signing keys stay valid for two days after you rotate."),
    "/old": page("Disks", "Disks are full at times."),
}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


@given(st.floats(0, 0.499), st.sampled_from([None, 0.1]), st.sampled_from([None, 0.95]))
def test_what_the_provider_finds_mediocre_is_never_complete(
    score: float, preview: float | None, reading: float | None
) -> None:
    policy = get_policy("calibrated", Settings())
    found = signals(GOOD, preview=preview, reading=reading).model_copy(update={"provider_score": score})
    decision = policy.decide([found])
    assert decision.action != "stop"
    assert decision.probability_complete < COMPLETE_AT
    fine = policy.decide([found.model_copy(update={"provider_score": 0.5})])
    assert (
        fine.probability_complete
        == policy.decide([signals(GOOD, preview=preview, reading=reading)]).probability_complete
    )


def ask(settings: Settings, answer: Callable[[Call], Any] | Reply, start: str, **options: Any) -> OrchestrationResult:
    with serving(answer) as server:
        own = Settings.model_validate(
            settings.model_dump()
            | {"reranker_provider": "jina", "reranker_base_url": server.url, "reranker_timeout": 5.0}
            | {"webrag_reader": "minilm"}
        )

        async def work() -> OrchestrationResult:
            async with Corpus.open(own, LocalSite(PAGES)) as corpus:
                request = AnswerRequest(**{"urls": (SITE + start,), "question": QUESTION, **options})
                return await OrchestratorEngine(corpus).run(request)

        return asyncio.run(work())


def scoring(score: Callable[[str], float]) -> Callable[[Call], Any]:
    return lambda call: {
        "results": [{"index": at, "relevance_score": score(text)} for at, text in enumerate(call.body["documents"])]
    }


def test_evidence_of_which_nothing_is_relevant_is_not_complete_and_is_read_all_the_same(settings: Settings) -> None:
    result = ask(settings, scoring(lambda text: 0.15), "/rotate", expansion_budget=0)
    last = result.rounds[-1]
    assert last.decision.rule == "budget-spent"
    assert result.status != "answered"
    assert last.signals.reading is not None
    assert "the reranker 0.15 (mediocre)" in last.decision.reason


def test_a_page_of_links_that_the_provider_puts_first_takes_nothing_away(settings: Settings) -> None:
    def first(text: str) -> float:
        return 0.97 if "old signing keys" in text else 0.95 if "keys" in text.lower() else 0.05

    seeds = tuple(SITE + path for path in ("/", "/rotate", "/valid"))
    with_links = ask(settings, scoring(first), "/", urls=seeds, expansion_budget=0).rounds[-1]
    without = ask(settings, scoring(first), "/", urls=seeds[1:], expansion_budget=0).rounds[-1]
    assert with_links.signals.reading == pytest.approx(without.signals.reading)
    assert with_links.signals.term_share == without.signals.term_share
    assert with_links.signals.provider_score == pytest.approx(0.95)
    assert with_links.decision.probability_complete == pytest.approx(without.decision.probability_complete, abs=0.1)


def test_previews_are_read_beside_a_provider(settings: Settings) -> None:
    result = ask(settings, scoring(lambda text: 0.9 if "operator" in text else 0.2), "/", expansion_budget=1)
    readings = {one.url: one.reading for done in result.rounds for one in done.previews}
    assert readings[f"{SITE}/valid"] is not None
