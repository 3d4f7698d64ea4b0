"""The retrieval benchmark: metrics on rankings whose scores are known by construction, bad files, one real run."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
from pathlib import Path

import numpy as np
import pytest

from evals.fitting.calibration import Asking, fit, report, sample_of, stored_table
from evals.fitting.fits import isotonic
from evals.fitting.token_weights import weights_of
from evals.retrieval.data import (
    DEFAULT_DOCUMENTS,
    DEFAULT_QUESTIONS,
    BenchDocument,
    EvidenceSpan,
    RetrievalQuestion,
    load_documents,
    load_questions,
)
from evals.retrieval.quality import ask, bench_settings, open_bench
from evals.retrieval.scoring import Unit, aggregate, covers, lexical_overlap, lowest_third, score_question
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.providers.embedder import identity_of
from webrag_core.providers.static_model import token_ids, token_weights
from webrag_core.reliability import expected_calibration_error
from webrag_core.retrieval.calibration import relevance_provenance

SPAN = EvidenceSpan(document="a", start=100, end=200)


def unit(start: int, end: int, document: str = "a", tokens: int = 1000) -> Unit:
    return Unit(document, start, end, tokens, 0.5)


def test_half_of_a_span_is_enough() -> None:
    assert covers("a", 150, 900, SPAN)
    assert not covers("a", 151, 900, SPAN)
    assert not covers("b", 0, 900, SPAN)


def test_the_first_unit_that_counts_gives_the_reciprocal_rank() -> None:
    found = score_question([SPAN], [unit(500, 600), unit(0, 300), unit(700, 800)], relevant=1)
    assert found == {"hits@4": 1.0, "hits@10": 1.0, "mrr@10": 0.5, "map@10": 0.5, "evrec@4k": 1.0}


def test_the_eleventh_unit_counts_for_nothing_but_tokens() -> None:
    units = [unit(500, 600, tokens=10)] * 10 + [unit(0, 300, tokens=10)]
    found = score_question([SPAN], units, relevant=1)
    assert found == {"hits@4": 0.0, "hits@10": 0.0, "mrr@10": 0.0, "map@10": 0.0, "evrec@4k": 1.0}


def test_evidence_beyond_four_thousand_tokens_is_not_recalled() -> None:
    second = EvidenceSpan(document="b", start=0, end=10)
    units = [unit(0, 300, tokens=3000), unit(0, 10, "c", 1001), unit(0, 10, "b", 10)]
    found = score_question([SPAN, second], units, relevant=2)
    assert found["evrec@4k"] == 0.5
    assert found["map@10"] == pytest.approx((1 + 2 / 3) / 2)


def question(name: str, text: str, group: str = "one") -> RetrievalQuestion:
    evidence = [EvidenceSpan(document="a", start=0, end=18)]
    return RetrievalQuestion(id=name, set=group, question=text, evidence=evidence)


def test_the_lowest_third_shares_the_fewest_words_with_its_evidence() -> None:
    documents = {"a": BenchDocument(id="a", text="Whales eat krill. And other things.")}
    asked = [question("x", "whales krill?"), question("y", "cetacean food?", "two"), question("z", "whale diet?")]
    assert [lexical_overlap(one, documents) for one in asked] == [1.0, 0.0, 0.5]
    assert lowest_third(asked, documents) == {"y"}
    scores = {one.id: score_question(one.evidence, [unit(0, 18)], 1) for one in asked}
    table = aggregate(asked, scores, {"y"})
    assert {group: row["mrr@10"].n for group, row in table.items()} == {"all": 3, "one": 2, "two": 1, "low overlap": 1}


def test_the_shipped_questions_have_their_evidence_in_the_shipped_documents() -> None:
    documents = load_documents(DEFAULT_DOCUMENTS)
    questions = load_questions(DEFAULT_QUESTIONS, documents)
    assert (len(documents), len(questions)) == (95, 720)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not a question"),
        ('{"id": "q", "set": "s", "question": "?", "evidence": []}', "is not a question"),
        (
            '{"id": "q", "set": "s", "question": "?", "evidence": [{"document": "a", "start": 0, "end": 99}]}',
            "lies outside",
        ),
        ("", "is empty"),
    ],
)
def test_bad_questions_are_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "questions.jsonl.gz"
    path.write_bytes(gzip.compress(line.encode(), mtime=0))
    with pytest.raises(InvalidInputError, match=message):
        load_questions(path, [BenchDocument(id="a", text="short")])


@pytest.mark.parametrize("content", [b"\xff", b'{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}'])
def test_bad_documents_are_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"documents\.jsonl"):
        load_documents(path)
    with pytest.raises(InvalidInputError, match="cannot be read"):
        load_documents(tmp_path / "none.jsonl")


def test_a_run_asks_every_system_and_writes_every_ranking(settings: Settings) -> None:
    documents = [
        BenchDocument(id="ü/1", text="# Whales\n\nThe blue whale filters krill from the sea.\n"),
        BenchDocument(id="b", text="# Lions\n\nThe lion lives in prides on the savannah.\n"),
    ]
    span = EvidenceSpan(document="ü/1", start=10, end=52)
    asked = [RetrievalQuestion(id="q", set="s", question="Which animal filters krill?", evidence=[span])]
    out = io.StringIO()

    async def work() -> dict[str, dict[str, dict[str, float]]]:
        async with open_bench(documents, settings) as bench:
            assert bench.relevant(asked[0]) == 1
            return await ask(bench, asked, out)

    scores = asyncio.run(work())
    patterns = ["semantic_search", "hybrid_search", "hybrid_search, alpha 0.3", "hybrid_search, rrf"]
    assert list(scores) == ["local", *patterns, "multi_query_retrieval", "bm25", "dense", "rrf"]
    assert all(found["q"]["mrr@10"] == 1.0 for found in scores.values())
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["system"] for line in lines] == list(scores)
    best = lines[0]["units"][0]
    assert documents[0].text[best["start"] : best["end"]] == documents[0].text.strip()


def test_every_benchmark_has_a_database_of_its_own(settings: Settings) -> None:
    one, other = BenchDocument(id="a", text="x"), BenchDocument(id="a", text="y")
    homes = {bench_settings(settings, documents).webrag_home for documents in ([one], [other], [one, other])}
    assert len(homes) == 3
    assert bench_settings(settings, [one]).database_url is None
    remote = settings.model_copy(update={"embedding_base_url": "http://127.0.0.1:9/v1"})
    plain, other_model = (bench_settings(chosen, [one]).webrag_home.name for chosen in (settings, remote))
    assert other_model.startswith(f"{plain}-"), "a database holds the vectors of one model"


# --- calibration ---


def askings() -> list[Asking]:
    """Chunks that are relevant as often as their raw score says, in lists of one."""
    draw = np.random.default_rng(3)
    scores = draw.uniform(0.05, 0.95, 4000)
    relevant = draw.uniform(size=4000) < scores
    return [
        Asking(str(i), "even" if i % 2 else "odd", "all", np.array([score]), np.array([hit]))
        for i, (score, hit) in enumerate(zip(scores, relevant, strict=True))
    ]


@pytest.mark.slow
def test_a_fit_finds_the_probabilities_it_was_drawn_from() -> None:
    table = fit(sample_of(askings()))
    for score in (0.2, 0.5, 0.8):
        (found,) = table.probabilities(np.array([score]))
        assert found == pytest.approx(score, abs=0.08)
    assert np.all(np.diff(table.knots) > 0)
    assert np.all(np.diff(table.levels) >= 0)


@pytest.mark.slow
def test_a_report_judges_each_set_by_the_others() -> None:
    figures = report(askings())
    assert {"in_domain", "reliability", "unseen_even", "unseen_odd"} <= set(figures)
    assert all(float(str(figures[name])) < 0.06 for name in ("in_domain", "unseen_even", "unseen_odd"))


@pytest.mark.slow
def test_pooling_adjacent_violators_by_hand() -> None:
    x, y = np.array([3.0, 1.0, 2.0, 4.0]), np.array([0.0, 0.0, 1.0, 1.0])
    knots, levels = isotonic(x, y, np.array([1.0, 1.0, 3.0, 1.0]))
    assert knots.tolist() == [1.0, 2.5, 4.0]
    assert levels.tolist() == [0.0, 0.75, 1.0]


def test_calibration_error_by_hand() -> None:
    found = expected_calibration_error(np.array([0.91, 0.99, 0.11, 1.0]), np.array([1.0, 0.0, 0.0, 1.0]))
    assert found == pytest.approx(0.75 * abs(2.9 / 3 - 2 / 3) + 0.25 * 0.11)


def test_the_shipped_relevance_says_where_it_comes_from() -> None:
    settings = Settings()
    made, shipped = stored_table(askings()[:400], settings)["provenance"], relevance_provenance()
    assert isinstance(made, dict)
    assert (shipped.label, shipped.n) == (made["label"], 720)
    assert shipped.features == tuple(made["features"])
    assert {"in_domain", *(f"unseen_{name}" for name in shipped.data)} <= set(shipped.figures)
    assert shipped.holds_for(identity_of(settings), settings.reranker_provider)


def test_a_token_weighs_less_the_more_often_its_word_is_used() -> None:
    weights = weights_of({"the": 0.05, "whale": 1e-4, "krill": 1e-7, "000": 1e-3})
    the, whale, krill = (token_ids([word])[0][0] for word in ("the", "whale", "krill"))
    assert weights[the] < 0.1 < weights[whale] < weights[krill] <= np.float16(np.log(20_001))
    assert weights[token_ids(["Whale"])[0][0]] > weights[whale], "the rarer spelling"
    digits = {float(weights[token_ids([f"x{digit}"])[0][-1]]) for digit in range(10)}
    assert len(digits) == 1, "the lists write every number with zeros"
    assert weights[token_ids(["?"])[0][-1]] == 0


def test_the_shipped_weights_know_no_site() -> None:
    weights = token_weights()
    python, patient = (weights[token_ids([word])[0][0]] for word in ("python", "patient"))
    assert python > patient, "it was the other way round: they came from the Python manual"
