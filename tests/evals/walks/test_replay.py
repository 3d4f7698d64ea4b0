"""Replay of real recorded runs, and of histories written down by hand."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from evals.judging.decisions import DecisionGolden, default_settings, history_of
from evals.replay_command import changed_settings
from evals.walks.prefixes import PrefixScores, cut_after, passages_after
from evals.walks.recorded import RecordedRound, RecordedRun, load_run_log
from evals.walks.replay import Replayed, bounded_as_recorded, replay, replay_all
from evals.walks.scoring import score_item
from evals.walks.sitewalk import UNTIL_CAP
from tests.cli.test_cli import ASYNCIO, FROZEN_SITE, QUESTION
from tests.command_line import Webrag, webrag_here
from tests.evals.conftest import Recordings
from tests.evals.recordings import few_goldens, log_of
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.orchestration.models import EvaluationSignals, ExpansionDecision
from webrag_core.orchestration.policies import get_policy

pytestmark = pytest.mark.slow

__all__ = ["webrag_here"]

DEFAULTS = default_settings({})


def signals(**named: Any) -> EvaluationSignals:
    golden = DecisionGolden.model_validate(
        {"id": "x", "policy": "seed-matrix", "rule": "x", "fires": True, "history": [named],
         "expect": {"rule": "x", "action": "stop"}, "why": ""}
    )  # fmt: skip
    return history_of(golden)[0]


def recorded(number: int, action: str = "expand_breadth", rule: str = "x", **more: Any) -> RecordedRound:
    fields = {"pages": 1, **more}
    left = 5 - number
    return RecordedRound(
        signals=signals(round=number, expansion_rounds_left=left, **fields.pop("signals", {})),
        action=action,  # type: ignore[arg-type]
        rule=rule,
        reason="as recorded",
        probability=0.5,
        evidence=None,
        **fields,
    )


def run_with(*rounds: RecordedRound) -> RecordedRun:
    return RecordedRun("one", "by-hand", {}, rounds, {})


def test_the_recorded_policy_decides_every_round_as_it_was_recorded(recordings: Recordings) -> None:
    for runs in (
        recordings.matrix,
        recordings.until_cap,
        recordings.two_rounds,
        recordings.three_pages,
        recordings.floored,
    ):
        for one in replay_all(runs, None, Settings()):
            assert [step.agrees for step in one.steps] == [True] * len(one.run.rounds), one.run.id
            assert (one.end, one.last, one.first_difference) == ("stopped", len(one.run.rounds) - 1, None)
    rules = {done.rule for run in recordings.all for done in run.rounds}
    assert {"2-diminishing-returns", "no-candidates", "page-limit", "fixed-k:2"} <= rules, "limits are replayed too"


def test_a_changed_record_does_not_agree(recordings: Recordings) -> None:
    run = next(one for one in recordings.matrix if len(one.rounds) > 1)
    for field, value in (("rule", "1-saturated"), ("reason", "because"), ("probability", 0.123)):
        first = dataclasses.replace(run.rounds[0], **{field: value})
        (one,) = replay_all([dataclasses.replace(run, rounds=(first, *run.rounds[1:]))], None, DEFAULTS)
        assert [step.agrees for step in one.steps] == [False] + [True] * (len(run.rounds) - 1)
        assert one.first_difference is None, "the same is done, for another reason"


def test_a_policy_replayed_on_a_recording_scores_as_if_it_had_run(recordings: Recordings) -> None:
    known = PrefixScores(few_goldens())
    goldens = {golden.id: golden for golden in few_goldens()}
    replayed = {one.run.id: one for one in replay_all(recordings.until_cap, "seed-matrix", DEFAULTS)}
    for run in recordings.matrix:
        assert replayed[run.id].end == "stopped"
        assert known.of(replayed[run.id]) == score_item(goldens[run.id], run.record)


def test_a_recording_knows_every_shorter_run(recordings: Recordings) -> None:
    known = PrefixScores(few_goldens())
    for one in replay_all(recordings.until_cap, "stop-at-once", DEFAULTS):
        assert (one.end, one.last, known.of(one)["pages"]) == ("stopped", 0, 1)
    goldens = {golden.id: golden for golden in few_goldens()}
    two = {run.id: run for run in recordings.two_rounds}
    for one in replay_all(recordings.until_cap, "fixed-k:2", DEFAULTS):
        assert known.of(one)["pages"] == score_item(goldens[one.run.id], two[one.run.id].record)["pages"]


def test_the_trace_of_the_last_round_holds_the_quotes_of_the_result(recordings: Recordings) -> None:
    goldens = {golden.id: golden for golden in few_goldens()}
    for run in recordings.all:
        last = len(run.rounds) - 1
        traced = {**cut_after(run, last), "evidence": passages_after(run, last)}
        assert score_item(goldens[run.id], traced) == score_item(goldens[run.id], run.record)


def test_dropped_passages_are_kept_once_and_only_if_a_round_ranked_them(recordings: Recordings) -> None:
    for run in recordings.all:
        ranked = {index for done in run.rounds for index, _ in done.evidence or ()}
        first_dropped = len(run.record["evidence"])
        dropped = run.record["dropped"]
        assert set(range(first_dropped, first_dropped + len(dropped))) <= ranked
        assert len({passage["text"] for passage in dropped}) == len(dropped)


def test_what_goes_on_beyond_the_recording_is_not_known(recordings: Recordings) -> None:
    floor = DEFAULTS.link_floor
    shorter = [
        run
        for run in recordings.matrix
        if run.rounds[-1].rule == "2-diminishing-returns"
        and (run.rounds[-1].signals.best_candidate_score or 0) >= floor
    ]
    assert shorter
    for one in replay_all(shorter, "fixed-k:5", DEFAULTS):
        assert (one.end, one.last, one.first_difference) == ("beyond", len(one.run.rounds) - 1, len(one.run.rounds) - 1)


def test_another_way_to_expand_leaves_the_recording() -> None:
    class Rephrases:
        name = "rephrases"

        def decide(self, history: Any) -> ExpansionDecision:
            return ExpansionDecision(
                action="expand_intent", rule="r", reason="", confidence="low", probability_complete=0
            )

    run = run_with(recorded(0), recorded(1, "stop"))
    found = replay(run, Rephrases(), DEFAULTS, budget=5)
    assert (found.end, found.last, found.first_difference) == ("elsewhere", 0, 0)
    assert [step.same_action for step in found.steps] == [False, False]


def test_a_run_cut_off_while_it_ran_goes_on_beyond() -> None:
    found = replay(run_with(recorded(0), recorded(1)), get_policy("fixed-k:3", DEFAULTS), DEFAULTS, budget=5)
    assert (found.end, found.last) == ("beyond", 1)


def want(action: str) -> ExpansionDecision:
    return ExpansionDecision(
        action=action,  # type: ignore[arg-type]
        rule="wanted",
        reason="more",
        confidence="low",
        probability_complete=0.4,
    )


@pytest.mark.parametrize(
    ("action", "done", "budget", "rule", "reason"),
    [
        ("expand_breadth", recorded(0), 5, "wanted", "more"),
        ("stop", recorded(0, rule="timeout"), 0, "wanted", "more"),
        ("expand_breadth", recorded(0, rule="timeout"), 5, "timeout",
         "as recorded (wanted: more)"),
        ("expand_intent", recorded(2), 2, "round-limit", "the budget of 2 expansion rounds is spent (wanted: more)"),
        ("expand_breadth", recorded(1, pages=30), 5, "page-limit",
         "page limit of 30 reached (WEBRAG_MAX_PAGES) (wanted: more)"),
        ("expand_intent", recorded(1, pages=30), 5, "wanted", "more"),
        ("expand_breadth", recorded(1, "stop", "page-limit", pages=None), 5, "page-limit",
         "page limit of 30 reached (WEBRAG_MAX_PAGES) (wanted: more)"),
        ("expand_breadth", recorded(1, signals={"best_candidate_score": 0.01, "candidates_left": 7}), 5,
         "no-candidates", "none of 7 links scores 0.02 or more (wanted: more)"),
        ("expand_breadth", recorded(1, signals={"best_candidate_score": 0.02}), 5, "wanted", "more"),
        ("expand_intent", recorded(1, signals={"can_rewrite": False}), 5, "no-rewrite",
         "no rewriting of the query differs from what was searched (wanted: more)"),
    ],
)  # fmt: skip
def test_the_limits_of_the_loop_bind_every_policy(
    action: str, done: RecordedRound, budget: int, rule: str, reason: str
) -> None:
    decision = bounded_as_recorded(want(action), done, done.signals, DEFAULTS, budget)
    assert (decision.rule, decision.reason, decision.probability_complete) == (rule, reason, 0.4)
    assert decision.action == (action if rule == "wanted" else "stop")


def test_thresholds_and_budget_can_be_changed(recordings: Recordings) -> None:
    longer = [run for run in recordings.until_cap if len(run.rounds) > 2]
    assert longer
    for one in replay_all(longer, "fixed-k:9", DEFAULTS, budget=1):
        assert one.last == 1
    for one in replay_all(longer, "seed-matrix", DEFAULTS, changes={"max_expansion_depth": 0}):
        assert (one.last, one.decision.rule) == (0, "4-max-depth")


def test_recorded_settings_win_over_those_of_the_environment(recordings: Recordings) -> None:
    other = Settings(webrag_max_pages=30, expansion_min_candidate_score=0.9)
    for one in replay_all(recordings.three_pages, None, other):
        assert all(step.agrees for step in one.steps)
    assert "database_url" not in recordings.matrix[0].settings


def test_a_recording_names_itself(recordings: Recordings) -> None:
    assert {run.policy for run in recordings.until_cap} == {UNTIL_CAP}
    for run in recordings.until_cap:
        assert run.rounds[-1].rule in {"page-limit", "no-candidates"}


@pytest.mark.slow
def test_a_stored_answer_is_replayed_from_the_database(webrag_here: Webrag) -> None:
    done = webrag_here("answer", ASYNCIO, QUESTION, "--json", WEBRAG_WARC=str(FROZEN_SITE))
    answer = json.loads(done.stdout)
    same = webrag_here("replay", str(answer["answer_id"]), "--json")
    assert same.returncode == 0, same.stderr
    figures = json.loads(same.stdout)
    assert figures["rounds"] == figures["identical"] == len(answer["rounds"]) > 1
    other = json.loads(webrag_here("replay", str(answer["answer_id"]), "--policy", "stop-at-once", "--json").stdout)
    assert (other["items"][0]["first_difference"], other["items"][0]["end"]) == (0, "stopped")
    unknown = webrag_here("replay", "999999")
    assert (unknown.returncode, "999999" in unknown.stderr) == (2, True)


def test_the_command_scores_where_the_run_stops(webrag_here: Webrag, recordings: Recordings, tmp_path: Path) -> None:
    log_of(recordings.until_cap, tmp_path / "log.jsonl")
    done = webrag_here("replay", "log.jsonl", "--policy", "stop-at-once", "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert (figures["stopped"], figures["scores"]["all"]["pages"]["mean"]) == (len(few_goldens()), 1.0)
    table = webrag_here("replay", "log.jsonl", "--policy", "fixed-k:1", "--set", "max_expansion_depth=0")
    assert (table.returncode, "fixed-k:1" in table.stdout) == (0, True), table.stderr


@pytest.mark.parametrize("change", ["nonsense", "no_such=1", "max_expansion_depth=many", "max_expansion_depth=-1"])
def test_a_change_that_fits_no_setting_is_refused(change: str) -> None:
    with pytest.raises(InvalidInputError, match=change):
        changed_settings([change], DEFAULTS)
    assert changed_settings(["MAX_EXPANSION_DEPTH=3"], DEFAULTS) == {"max_expansion_depth": 3}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rounds": [{"signals": {}, "decision": "stop", "rule": "x", "reason": "y"}]}, "record again"),
        ({"rounds": "none"}, "rounds"),
        ({"fetched": [{"round": 0}]}, "fetched.0.url"),
        ({"fetched": [{"round": 0, "url": "javascript:alert(1)"}]}, "fetched.0.url"),
        ({"id": None}, "id"),
    ],
)
def test_an_unusable_run_log_is_named_by_line(
    recordings: Recordings, tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    path = log_of(recordings.matrix, tmp_path / "log.jsonl")
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[1] = json.dumps({**json.loads(lines[1]), **change})
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"log\.jsonl:2") as caught:
        load_run_log(path)
    assert told in caught.value.message


def test_a_round_that_points_nowhere_is_refused(recordings: Recordings, tmp_path: Path) -> None:
    record = {**recordings.matrix[0].record, "dropped": [], "evidence": []}
    (tmp_path / "log.jsonl").write_text(json.dumps(record))
    with pytest.raises(InvalidInputError, match="does not hold"):
        load_run_log(tmp_path / "log.jsonl")


def test_signals_that_are_gone_are_left_out_and_line_ends_in_texts_are_text(
    recordings: Recordings, tmp_path: Path
) -> None:
    record = json.loads(json.dumps(recordings.matrix[0].record))
    record["rounds"][0]["signals"]["of_long_ago"] = 1
    record["evidence"][0]["text"] = "one\u2028two\x85three"
    (tmp_path / "log.jsonl").write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
    (run,) = load_run_log(tmp_path / "log.jsonl")
    assert run.rounds[0].signals == recordings.matrix[0].rounds[0].signals


def test_runs_without_a_round_are_left_out() -> None:
    found: list[Replayed] = replay_all([RecordedRun("never", "seed-matrix", {}, (), {})], None, DEFAULTS)
    assert found == []
