"""`webrag feedback`: from a word about an answer to golden questions; weights that a search uses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import Webrag, webrag_here
from tests.conftest import FROZEN_SITE
from webrag_core.config import Settings
from webrag_core.retrieval.weights import SHIPPED, ScoreWeights, weights_in_force

__all__ = ["webrag_here"]

QUEUES = "https://docs.python.org/3.11/library/asyncio-queue.html"
QUESTION = "Is asyncio.Queue thread safe?"
QUOTE = "Although asyncio queues are not thread-safe, they are designed to be used specifically in async/await code."
FROZEN = {"WEBRAG_WARC": str(FROZEN_SITE), "WEBRAG_READER": "none"}


@pytest.mark.slow
def test_a_correction_becomes_a_golden_question_to_evaluate_on(webrag_here: Webrag, tmp_path: Path) -> None:
    here = {**FROZEN, "WEBRAG_HOME": str(tmp_path / "home")}
    answer = json.loads(webrag_here("ask", QUESTION, "--url", QUEUES, "--budget", "0", "--json", **here).stdout)
    number = str(answer["answer_id"])

    said = webrag_here("feedback", number, "--kind", "helpful", "--sentence", "1", "--actor", "Ada", **here)
    assert said.returncode == 0, said.stderr
    assert "Feedback 1 on answer" in said.stdout
    better = ("--kind", "better_source", "--better-url", QUEUES, "--quote", QUOTE)
    stored = json.loads(webrag_here("feedback", number, *better, "--json", **here).stdout)
    assert (stored["actor_kind"], stored["suggested"]["quote"]) == ("operator", QUOTE)
    listed = json.loads(webrag_here("feedback", "list", "--answer", number, "--json", **here).stdout)["feedback"]
    assert [(one["id"], one["actor"]) for one in listed][1] == (1, "Ada")
    assert "better_source" in webrag_here("feedback", "list", "--state", "new", **here).stdout

    accepted = webrag_here("feedback", "accept", "2", "1", **here)
    assert accepted.stdout.splitlines() == ["Feedback 2: accepted, weight 1", "Feedback 1: accepted, weight 1"]
    goldens = json.loads(webrag_here("feedback", "goldens", "--json", **here).stdout)
    assert goldens["golden_questions"] == 1
    files = ("--questions", goldens["questions"], "--documents", goldens["documents"])
    out = tmp_path / "retrieval.jsonl"
    scored = webrag_here("eval", "retrieval", *files, "--out", str(out), "--json", **here)
    assert scored.returncode == 0, scored.stderr
    assert json.loads(scored.stdout)["scores"]["local"]["all"]["hits@10"]["mean"] == 1.0

    webrag_here("feedback", "reject", "2", **here)
    assert Path(goldens["questions"]).read_text(encoding="utf-8") == ""
    assert json.loads(webrag_here("verify", "--json", **here).stdout)["violations"] == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("7", "--kind", "helpful"), "there is no answer 7"),
        (("7", "--kind", "praise"), "there is no feedback 'praise'"),
        (("7", "--kind", "helpful", "--value", "-1"), "1 or 2, not -1"),
        (("7", "--kind", "helpful", "--actor", "a\u200bb"), "cannot be seen"),
        (("7", "--kind", "helpful", "--actor", "a" * 200), "200 characters; 100 at most"),
        (("7", "--kind", "missing", "--quote", QUOTE), "need --better-url"),
        (("accept", "5"), "there is no feedback 5"),
        (("list", "--state", "odd"), "--state is new, accepted, rejected"),
        (("withdraw",), "no weights are released"),
        (("release", "nowhere.json"), "cannot be read"),
    ],
)
def test_what_is_wrong_is_said(webrag_here: Webrag, arguments: tuple[str, ...], problem: str) -> None:
    done = webrag_here("feedback", *arguments, "--json", **FROZEN)
    assert done.returncode == 2, done.stderr
    assert problem in json.loads(done.stdout)["error"]["message"]


@pytest.mark.slow
def test_weights_that_pass_the_gate_are_used_by_a_search_and_go_again(
    webrag_here: Webrag, settings: Settings, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    here = {**FROZEN, "WEBRAG_HOME": str(home)}
    own = settings.model_copy(update={"webrag_home": home})
    file = tmp_path / "weights.json"
    weights = ScoreWeights(lexical=0.28, coverage=0.20, proximity=0.10, token_match=0.15, sibling=0.10, cosine=0.17)
    file.write_text(json.dumps({"weights": weights.by_name()}))

    documents, questions = tmp_path / "documents.jsonl", tmp_path / "questions.jsonl"
    texts = {"tea": "# Tea\n\nGreen tea is brewed at eighty degrees.\n", "coffee": "# Coffee\n\nBeans are ground.\n"}
    documents.write_text("".join(json.dumps({"id": key, "text": text}) + "\n" for key, text in texts.items()))
    span = {"document": "tea", "start": 7, "end": 46}
    golden = {"id": "q", "set": "s", "question": "At how many degrees is green tea brewed?", "evidence": [span]}
    questions.write_text(json.dumps(golden) + "\n")
    command = ("feedback", "release", str(file), "--questions", str(questions), "--documents", str(documents))

    tried = webrag_here(*command, "--dry-run", "--json", **here)
    assert tried.returncode == 0, tried.stdout
    assert weights_in_force(own) == SHIPPED
    released = webrag_here(*command, **here)
    assert released.returncode == 0, released.stdout
    assert "in force" in released.stdout
    assert weights_in_force(own) == weights
    found = json.loads(webrag_here("search", "thread safe queue", "--json", **here).stdout)
    assert found["weights"] == weights.digest
    assert any("probabilities were fitted with those that ship" in one for one in found["warnings"])
    assert "in force already" in webrag_here(*command, **here).stderr

    back = json.loads(webrag_here("feedback", "withdraw", "--json", **here).stdout)
    assert back["is_shipped"]
    assert json.loads(webrag_here("search", "thread safe queue", "--json", **here).stdout)["weights"] is None
