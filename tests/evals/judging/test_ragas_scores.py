"""Ragas metrics: what is asked of Ragas, what becomes of its numbers, and what is said when it is not there."""

from __future__ import annotations

import asyncio
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from evals.judging.ragas_scores import (
    JUDGED,
    OFFLINE,
    Sample,
    judged_scorers,
    offline_scorers,
    samples_of,
    score_samples,
)
from evals.walks.recorded import RecordedRun
from tests.command_line import Webrag, webrag_here
from tests.evals.conftest import Recordings
from tests.evals.recordings import few_goldens, log_of
from tests.evals.walks.test_scoring import BASE, golden, record
from tests.provider_server import Reply, serving
from webrag_core.errors import InvalidInputError

pytestmark = pytest.mark.slow

__all__ = ["webrag_here"]


def quiet(label: str) -> None:
    """No progress."""


def samples(count: int) -> list[Sample]:
    goldens = [golden(id=str(number), seed_url=f"{BASE}{number}.html") for number in range(count)]
    text = "So the answer is known by now.\n\nThe answer is forty-two."
    line = record(("start.html", 0), ("guide/", 1), text=text)
    return samples_of(goldens, [RecordedRun(one.id, "by-hand", {}, (), {**line, "id": one.id}) for one in goldens])


def test_of_alternative_gold_pages_the_one_found_is_the_reference() -> None:
    (sample,) = samples(1)
    assert sample.reference_ids == sample.retrieved_ids == [f"{BASE}guide/"]
    assert sample.sentences == ["So the answer is known by now.", "The answer is forty-two."]
    assert sample.quoted_sentences == ["The answer is forty-two."]
    blind = samples_of([golden()], [RecordedRun("one", "x", {}, (), {**record(("start.html", 0)), "evidence": []})])
    assert (blind[0].retrieved_ids, blind[0].reference_ids) == ([], [f"{BASE}guide/"])


def test_unanswerable_items_are_not_asked() -> None:
    item = golden(kind="unanswerable", gold_pages=[], gold_quotes=[])
    assert samples_of([item], [RecordedRun("one", "x", {}, (), record(("start.html", 0)))]) == []


def test_what_is_not_a_number_enters_no_mean_and_is_counted() -> None:
    async def some(sample: Sample) -> float:
        return {"0": math.nan, "1": 1.0, "2": 0.0}[sample.golden.id]

    async def none(sample: Sample) -> float:
        raise RuntimeError("no such model")

    metrics = asyncio.run(score_samples(samples(3), {"some": some, "none": none}, quiet))
    mean = metrics["some"].mean
    assert mean is not None
    assert (mean.mean, mean.n, metrics["some"].not_a_number) == (0.5, 2, 1)
    assert metrics["some"].values == {"1": 1.0, "2": 0.0}
    assert (metrics["none"].mean, metrics["none"].not_a_number) == (None, 3)
    assert metrics["none"].errors == ("RuntimeError: no such model",)


def test_no_other_command_imports_ragas() -> None:
    code = "import sys, evals.commands, evals.judging.ragas_scores; assert 'ragas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("missing", ["ragas", "rapidfuzz"])
def test_what_is_not_installed_is_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)  # what an import sees when it is not there
    with pytest.raises(InvalidInputError, match=r"webrag\[ragas\]"):
        offline_scorers()


def test_the_command_prints_a_table(webrag_here: Webrag, recordings: Recordings, tmp_path: Path) -> None:
    log_of(recordings.matrix, tmp_path / "log.jsonl")
    done = webrag_here("eval", "ragas", "log.jsonl")
    assert (done.returncode, [name in done.stdout for name in OFFLINE]) == (0, [True] * len(OFFLINE)), done.stderr


def test_offline_metrics_on_real_runs(recordings: Recordings) -> None:
    found = asyncio.run(score_samples(samples_of(few_goldens(), recordings.matrix), offline_scorers(), quiet))
    assert tuple(found) == OFFLINE
    assert all(one.mean is not None and 0 <= one.mean.mean <= 1 for one in found.values())
    perfect = asyncio.run(score_samples(samples(1), offline_scorers(), quiet))
    assert perfect["id_recall"].values == perfect["string_recall"].values == {"0": 1.0}


def test_judged_metrics_ask_the_endpoint_and_survive_it() -> None:
    verdicts = {"reason": "r", "verdict": 1, "classifications": [{"statement": "s", "reason": "r", "attributed": 1}]}
    message = {"role": "assistant", "content": json.dumps(verdicts)}
    answer = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    with serving(answer) as provider:
        found = asyncio.run(score_samples(samples(1), judged_scorers(f"{provider.url}/v1", "m", "k"), quiet))
        assert tuple(found) == JUDGED
        assert found["llm_recall"].values == {"0": 1.0}
    with serving(Reply({"error": {"message": "down"}}, status=500)) as provider:
        found = asyncio.run(score_samples(samples(1), judged_scorers(f"{provider.url}/v1", "m", "k"), quiet))
        assert (found["llm_recall"].mean, found["llm_recall"].not_a_number) == (None, 1)
