"""What several plans brought is put together: evidence by score or rank, notes, outcomes; and what is asked again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from webrag_core.answering.gathering import Gathered
from webrag_core.result_warnings import Caution
from webrag_core.retrieval.models import RankedChunk, RetrievedChunk
from webrag_core.routing.execute import Execution
from webrag_core.routing.follow_up import follow_up
from webrag_core.routing.plan import Budget, CorpusSearch, ExecutionPlan, PagesWalk, Task
from webrag_core.routing.results import NOT_NEEDED, Finding, Output, TaskError, TaskResult, WalkStep, outcome_of

URL = "https://docs.example/a"


def chunk(number: int, score: float) -> RankedChunk:
    """A passage of which only its number counts."""
    retrieved = RetrievedChunk(
        chunk_id=number,
        document_id=1,
        version_id=1,
        version_sha256="0" * 64,
        source_url=URL,
        title=None,
        text="Text.",
        heading_path=[],
        chunk_index=number,
        char_start=0,
        char_end=5,
        match_start=0,
        match_end=5,
        match_heading_path=[],
        token_count=1,
        score=score,
        raw_similarity=score,
        lexical_score=score,
        depth=0,
        flags=[],
        fetched_at=datetime(2026, 11, 25, tzinfo=UTC),
    )
    return RankedChunk(chunk=retrieved, reranked_score=score)


def finding(start: int) -> Finding:
    return Finding.of("text", group="g", label="l", url=URL, title=None, heading=None, version_id=1, char_start=start)


def execution(*outputs: Output | TaskResult, warnings: tuple[str, ...] = (), **changes: Any) -> Execution:
    """Of searches; an output is a success, or empty."""
    results = [
        one if isinstance(one, TaskResult) else TaskResult(f"t{n}", "empty" if one.is_empty else "success", one)
        for n, one in enumerate(outputs)
    ]
    tasks = [Task(id=one.id, params=CorpusSearch(query=f"about {one.id}")) for one in results]
    given = {"question": "a, b?", "parts": ["a?", "b?"], "budget": Budget(seconds=9, chat_calls=1), **changes}
    plan = ExecutionPlan(**{"tasks": tasks, "made_by": "test", "rationale": "because", **given})
    return Execution(plan, results, outcome_of(results, [t.id for t in plan.tasks if t.required]), list(warnings))


def gathered(*executions: Execution) -> Gathered:
    found = Gathered()
    for iteration, one in enumerate(executions, 1):
        found.add(one, iteration)
    return found


def numbers(found: Gathered) -> list[int]:
    return [one.chunk.chunk_id for one in found.ranked]


ONE = Output(evidence=[chunk(1, 0.9), chunk(2, 0.5), chunk(3, 0.1)], top_score=0.9)
OTHER = Output(evidence=[chunk(4, 0.6), chunk(3, 0.55), chunk(2, 0.3)], top_score=0.6)


def test_evidence_is_merged_by_score_and_what_two_hold_counts_by_its_better_one() -> None:
    found = gathered(execution(ONE, OTHER))
    assert numbers(found) == [1, 4, 3, 2]
    assert [one.reranked_score for one in found.ranked] == [0.9, 0.6, 0.55, 0.5]


def test_evidence_is_merged_by_rank_where_scores_are_of_different_scales() -> None:
    found = gathered(execution(ONE, OTHER, merge="rrf"))
    assert set(numbers(found)[:2]) == {2, 3}, "what both hold comes first, whatever its scores"
    assert len(found.ranked) == 4


def test_a_later_plan_adds_and_repeats_nothing() -> None:
    assert numbers(gathered(execution(ONE), execution(OTHER))) == [1, 4, 3, 2]
    assert numbers(gathered(execution(ONE), execution(ONE))) == [1, 2, 3]
    assert numbers(gathered(execution(ONE), execution(Output()))) == [1, 2, 3]
    assert numbers(gathered(execution(Output(), Output()))) == []


def test_a_lost_task_brings_no_evidence_and_stays_lost() -> None:
    lost = TaskResult("lost", "error", Output(), TaskError(code="x", message="it is down"))
    found = gathered(execution(ONE, lost, warnings=("lost: it is down",)), execution(OTHER))
    assert found.outcome == "degraded"
    assert found.warnings == ["lost: it is down"]
    assert [(one.iteration, one.status) for one in found.tasks] == [(1, "success"), (1, "error"), (2, "success")]


def test_why_there_is_nothing_is_said_only_while_there_is_nothing() -> None:
    nothing = Output(note="nothing is stored yet")
    noted = Output(evidence=ONE.evidence, top_score=0.9, note="calibrated")
    assert gathered(execution(nothing)).note == "nothing is stored yet"
    for order in ((nothing, noted), (noted, nothing)):
        found = gathered(execution(*order))
        assert (found.note, found.complete) == ("calibrated", 0.9)


def test_the_first_walk_judges_the_evidence() -> None:
    step = WalkStep(round=0, pages=[URL], decision="answer", reason="enough")
    walk = Output(evidence=[chunk(9, 0.2)], complete=0.4, note="of the walk", parts=["a?"], steps=[step], pages=1)
    again = Output(evidence=[chunk(8, 0.1)], complete=0.9, note="of the second", steps=[step, step], pages=2)
    found = gathered(execution(ONE, walk), execution(again))
    assert (found.complete, found.note, found.parts) == (0.4, "of the walk", ["a?"])
    assert [one.round for one in found.walk] == [0, 1, 2]
    assert found.pages == 3


def test_findings_and_warnings_are_listed_once() -> None:
    output = Output(findings=[finding(1), finding(9)], warnings=[Caution("w"), Caution("w")])
    found = gathered(
        execution(output, Output(findings=[finding(9), finding(20)], warnings=[Caution("w"), Caution("v")]))
    )
    assert [one.char_start for one in found.findings] == [1, 9, 20]
    assert found.warnings == ["w", "v"]


SEARCH = Task(id="search", params=CorpusSearch(query="a, b?"), required=True)
WALK = Task(id="walk", params=PagesWalk(query="a, b?", urls=[URL]), after=["search"], unless=0.8)
NEEDLESS = TaskResult("walk", "skipped", error=TaskError(code=NOT_NEEDED, message="enough"))


def of_tasks(*tasks: Task, results: tuple[TaskResult, ...], parts: tuple[str, ...] = ("a?", "b?")) -> Execution:
    return execution(*results, tasks=list(tasks), parts=list(parts))


def test_what_is_open_is_searched_part_by_part_and_then_walked() -> None:
    first = of_tasks(SEARCH, WALK, results=(TaskResult("search", "success", ONE), NEEDLESS))
    plan = follow_up([first], [1])
    assert plan is not None
    search, walk = plan.tasks
    assert (search.id, search.params, search.sub_question) == ("search_again_2", CorpusSearch(query="b?"), 1)
    assert (walk.params, walk.after, walk.unless) == (PagesWalk(query="b?", urls=[URL]), ["search_again_2"], 0.8)
    assert not any(task.required for task in plan.tasks)
    assert ExecutionPlan.model_validate_json(plan.model_dump_json()) == plan


def test_after_a_walk_the_open_parts_are_walked_for() -> None:
    first = of_tasks(SEARCH, WALK, results=(TaskResult("search", "empty"), TaskResult("walk", "success", ONE)))
    plan = follow_up([first], [1, 0])
    assert plan is not None
    assert [(task.id, task.after, task.unless) for task in plan.tasks] == [
        ("walk_again_1", [], None),
        ("walk_again_2", [], None),
    ]


def test_nothing_is_done_twice_and_a_whole_question_is_not_asked_again() -> None:
    first = of_tasks(SEARCH, results=(TaskResult("search", "success", ONE),))
    plan = follow_up([first], [0])
    assert plan is not None
    second = of_tasks(*plan.tasks, results=(TaskResult(plan.tasks[0].id, "success", ONE),))
    assert follow_up([first, second], [0]) is None
    assert follow_up([first, second], [0, 1]) is not None
    assert follow_up([first], []) is None
    alone = of_tasks(SEARCH, results=(TaskResult("search", "success", ONE),), parts=("a?",))
    assert follow_up([alone], [0]) is None


def test_a_plan_for_four_open_parts_can_be_run() -> None:
    first = of_tasks(
        SEARCH, WALK, results=(TaskResult("search", "success", ONE), NEEDLESS), parts=("a?", "b?", "c?", "d?")
    )
    plan = follow_up([first], range(4))
    assert plan is not None
    assert len({task.id for task in plan.tasks}) == 8
    assert ExecutionPlan.model_validate(plan.model_dump()) == plan
