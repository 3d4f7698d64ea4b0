"""A reranker of another package: named by the setting, its rankings checked."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from tests.command_line import Webrag, webrag_here
from tests.conftest import FROZEN_SITE
from tests.local_site import SITE, over_pages, page
from tests.plugin_packages import Install, install
from webrag_core.config import Settings, load_settings
from webrag_core.errors import InvalidInputError, PluginError, RerankError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.providers.rerankers.protocol import Reranked
from webrag_core.retrieval.reranking import make_reranker
from webrag_core.retrieval.search import search_corpus

__all__ = ["install", "webrag_here"]

SOURCE = """
    import asyncio
    from webrag_core.extending import Reranked, RerankResult

    class Shortest:
        name = "shortest"

        def __init__(self, settings, breakers):
            self.model = settings.reranker_model

        async def rerank(self, query, passages, *, term_idf, instruction=None):
            if self.model == "raises":
                raise KeyError("no model")
            if self.model == "hangs":
                await asyncio.Event().wait()
            if self.model == "lists":
                return []
            order = sorted(range(len(passages)), key=lambda at: len(passages[at]))
            if self.model == "forgets":
                order = order[:0]
            if self.model == "strays":
                order = [len(passages)]
            return Reranked([RerankResult(index=at, relevance_score=1 / (1 + place)) for place, at in enumerate(order)],
                            ("by length",))

    class Other(Shortest):
        name = "local"
"""
ENTRIES = {
    "shortest": "tea_rerank:Shortest",
    "other": "tea_rerank:Other",
    "nothing": "builtins:min",
    "broken": "no_such_package:make",
    "local": "tea_rerank:Other",
}
PASSAGES = ["green tea in a long sentence", "green tea", "green tea, black tea"]


@pytest.fixture(autouse=True)
def _installed(install: Install) -> None:
    install("tea_rerank", SOURCE, {"webrag.rerankers": ENTRIES})


def chosen(name: str, **more: object) -> Settings:
    return load_settings(reranker_provider=name, **more)


def rerank(**more: object) -> Reranked:
    reranker = make_reranker(chosen("shortest", **more))
    assert reranker is not None
    return asyncio.run(reranker.rerank("tea", PASSAGES, term_idf={}))


def test_the_setting_names_it() -> None:
    ranking = rerank()
    assert [(row.index, row.relevance_score) for row in ranking.results] == [(1, 1.0), (2, 1 / 2), (0, 1 / 3)]
    assert ranking.warnings == ("by length",)


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ("raises", r"the reranker shortest \(entry point webrag.rerankers: .* fails: KeyError: 'no model'"),
        ("lists", "gives no Reranked"),
        ("forgets", "results for 0 of 3 passages"),
        ("strays", "a passage that was not sent"),
        ("hangs", "no answer within 0.01 s"),
    ],
)
def test_whatever_goes_wrong_is_an_error_that_is_ranked_past(model: str, problem: str) -> None:
    with pytest.raises(RerankError, match=problem):
        rerank(reranker_model=model, reranker_timeout=0.01)


def test_a_search_goes_on_without_it_and_says_so(settings: Settings) -> None:
    pages = {"/tea": page("Tea", "Green tea steeps for two minutes.")}

    async def work(corpus: Corpus) -> None:
        found = await search_corpus(corpus, "How long does green tea steep?")
        assert [row.source_url for row in found.citations] == [f"{SITE}/tea"]
        assert "reranking by shortest failed" in " ".join(map(str, found.warnings))

    more = {"reranker_provider": "shortest", "reranker_model": "raises"}
    over_pages(settings.model_copy(update=more), pages, work)


@pytest.mark.parametrize(
    ("name", "problem"), [("other", "calls itself 'local'"), ("nothing", "fails: TypeError"), ("broken", "no_such")]
)
def test_one_that_cannot_be_used_breaks_no_other(name: str, problem: str) -> None:
    with pytest.raises(PluginError, match=problem):
        make_reranker(chosen(name))
    assert rerank().results


def test_the_local_one_stays_ours_and_imports_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "tea_rerank", raising=False)
    assert type(make_reranker(chosen("local"))).__module__ == "webrag_core.retrieval.local_reranker"
    assert make_reranker(chosen("none")) is None
    assert "tea_rerank" not in sys.modules


def test_an_unknown_one_is_refused_with_those_that_exist() -> None:
    names = "broken, cohere, jina, local, none, nothing, other, shortest, zeroentropy"
    with pytest.raises(InvalidInputError, match=f"RERANKER_PROVIDER: .*no reranker 'longest'; there are: {names}$"):
        chosen("longest")


def test_the_command_line_says_so_too(webrag_here: Webrag) -> None:
    done = webrag_here("search", "tea", "--json", RERANKER_PROVIDER="broken", WEBRAG_WARC=str(FROZEN_SITE))
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == "bad_plugin"
