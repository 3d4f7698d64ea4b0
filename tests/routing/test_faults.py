"""Agents that fail in every way: nothing comes out of the executor but statuses, in time, and siblings go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from webrag_core.config import Settings
from webrag_core.errors import EmbeddingError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import OrchestratorEngine
from webrag_core.routing.agents.protocol import Context
from webrag_core.routing.budget import Ledger
from webrag_core.routing.execute import Execution, Executor
from webrag_core.routing.plan import Budget, CorpusSearch, ExecutionPlan, Task
from webrag_core.routing.results import Finding, Output, TaskStatus

FAULTS: dict[str, TaskStatus] = {
    "raises": "error",
    "hangs": "timeout",
    "finds nothing": "empty",
    "wrong shape": "error",
    "slow": "success",
    "breaker open": "skipped",
}
OTHER_FAULTS: dict[str, TaskStatus] = {
    "defect": "error",
    "hangs": "timeout",
    "a time limit of its own": "error",
    "waits for what is cancelled": "cancelled",
    "no list": "error",
    "fails when it is cancelled": "timeout",
}
WRONG: dict[str, Any] = {
    "nothing": None,
    "a dictionary": {"evidence": []},
    "a text": "found",
    "findings of numbers": Output(findings=[1]),  # type: ignore[list-item]
    "a text for a probability": Output(complete="high"),  # type: ignore[arg-type]
    "no number": Output(complete=float("nan")),
    "more than certain": Output(complete=2.0),
    "no relevance": Output(top_score=None),  # type: ignore[arg-type]
    "warnings of numbers": Output(warnings=[1]),  # type: ignore[list-item]
    "no note": Output(note=None),  # type: ignore[arg-type]
}
DEADLINE = 5.0  # seconds; what hangs waits for it, and a busy machine never holds the others as long
FINDING = Finding(
    group="g",
    label="l",
    url="https://a.example/",
    title=None,
    heading=None,
    version_id=1,
    char_start=0,
    char_end=1,
    sha256="0" * 64,
)


class Faulty:
    """Does what its task's query says."""

    async def run(self, task: Task, context: Context) -> Output:
        params = task.params
        assert isinstance(params, CorpusSearch)
        match params.query:
            case "raises":
                raise EmbeddingError("the model is down")
            case "defect":
                raise ZeroDivisionError
            case "hangs":
                await asyncio.sleep(3_600)
            case "fails when it is cancelled":
                try:
                    await asyncio.sleep(3_600)
                except asyncio.CancelledError:
                    raise ZeroDivisionError from None
            case query if query in WRONG:
                return WRONG[query]  # type: ignore[no-any-return]
            case "holds a connection":
                async with context.corpus.database.connection() as connection:
                    await connection.execute("SELECT pg_sleep(3600)")
            case "finds nothing":
                return Output()
            case "wrong shape":
                wrong: Any = {"evidence": []}
                return wrong  # type: ignore[no-any-return]
            case "wrong evidence":
                unfit: Any = ["text"]
                return Output(evidence=unfit)
            case "waits for what is cancelled":
                waited = asyncio.get_running_loop().create_future()
                waited.cancel()
                await waited
            case "a time limit of its own":
                raise TimeoutError
            case "no list":
                nothing: Any = None
                return Output(evidence=nothing)
            case "slow":
                await asyncio.sleep(0.02)
            case "breaker open":
                error = EmbeddingError("not asked")
                error.retry_at = datetime.now(UTC)
                raise error
            case "sure":
                return Output(findings=[FINDING], complete=0.9)
        return Output(findings=[FINDING])


@asynccontextmanager
async def executing(settings: Settings) -> AsyncIterator[Executor]:
    async with Corpus.open(settings) as corpus:
        yield Executor(corpus, OrchestratorEngine(corpus), {"corpus": Faulty()})


def task(name: str, query: str, **options: Any) -> Task:
    return Task(id=name, params=CorpusSearch(query=query), **{"deadline": DEADLINE, **options})


def plan_of(*tasks: Task, seconds: float = 300.0) -> ExecutionPlan:
    budget = Budget(seconds=seconds, chat_calls=0)
    return ExecutionPlan(
        question="?", parts=["?"], tasks=list(tasks), budget=budget, made_by="test", rationale="because"
    )


def outcome_by(expected: list[TaskStatus]) -> str:
    """Of tasks none of which was needless; the first one is required."""
    lost = [place for place, status in enumerate(expected) if status not in ("success", "empty")]
    if not lost:
        return "complete"
    return "failed" if len(lost) == len(expected) else "partial" if 0 in lost else "degraded"


@pytest.mark.parametrize("statuses", [FAULTS, OTHER_FAULTS])
def test_all_combinations_of_faults(settings: Settings, statuses: dict[str, TaskStatus]) -> None:
    names = list(statuses)
    combinations = list(product([False, True], repeat=len(names)))
    assert len(combinations) == 64

    async def one(executor: Executor, faults: tuple[bool, ...]) -> Execution:
        tasks = [
            task(
                f"t{place}",
                names[place] if is_faulty else "fine",
                # half of them wait for another, whatever becomes of it
                after=[f"t{place - 1}"] if place % 2 else [],
                required=place == 0,
            )
            for place, is_faulty in enumerate(faults)
        ]
        plan = plan_of(*tasks)
        return await executor.execute(plan, Ledger(plan.budget))

    async def work() -> list[Execution]:
        async with executing(settings) as executor:
            return await asyncio.gather(*(one(executor, faults) for faults in combinations))

    for faults, execution in zip(combinations, asyncio.run(work()), strict=True):
        expected = [statuses[name] if is_faulty else "success" for name, is_faulty in zip(names, faults, strict=True)]
        assert [result.status for result in execution.results] == expected
        lost = [status for status in expected if status not in ("success", "empty")]
        assert len(execution.warnings) == len(lost)
        assert execution.outcome == outcome_by(expected)


def test_all_combinations_of_hanging_tasks_when_time_runs_out(settings: Settings) -> None:
    combinations = list(product([False, True], repeat=6))

    async def one(executor: Executor, hanging: tuple[bool, ...]) -> Execution:
        tasks = [
            task(
                f"t{place}",
                "hangs" if hangs else "fine",
                after=[f"t{place - 1}"] if place % 2 else [],
                required=place == 0,
            )
            for place, hangs in enumerate(hanging)
        ]
        plan = plan_of(*tasks, seconds=DEADLINE)
        return await executor.execute(plan, Ledger(plan.budget))

    async def work() -> list[Execution]:
        async with executing(settings) as executor:
            return await asyncio.gather(*(one(executor, hanging) for hanging in combinations))

    for hanging, execution in zip(combinations, asyncio.run(work()), strict=True):
        expected: list[TaskStatus] = []
        for place, hangs in enumerate(hanging):
            is_late = place % 2 and hanging[place - 1]
            expected.append("skipped" if is_late else "timeout" if hangs else "success")
        assert [result.status for result in execution.results] == expected
        assert {result.error.code for result in execution.results if result.error} <= {"timeout", "out_of_time"}
        assert execution.outcome == outcome_by(expected)
        assert len(execution.warnings) == 6 - expected.count("success")


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_result_is_an_error_and_what_waits_for_it_goes_on(settings: Settings, wrong: str) -> None:
    async def work() -> Execution:
        async with executing(settings) as executor:
            plan = plan_of(task("one", wrong), task("two", "fine", after=["one"], unless=0.5))
            return await executor.execute(plan, Ledger(plan.budget))

    one, two = asyncio.run(work()).results
    assert one.error is not None
    assert (one.status, one.error.code) == ("error", "bad_output")
    assert two.status == "success"


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("defect", "internal_error"),
        ("wrong shape", "bad_output"),
        ("wrong evidence", "bad_output"),
        ("no list", "bad_output"),
        ("waits for what is cancelled", "cancelled"),
        ("a time limit of its own", "internal_error"),
        ("hangs", "timeout"),
    ],
)
def test_when_everything_is_lost_the_plan_has_failed(settings: Settings, query: str, code: str) -> None:
    async def work() -> Execution:
        async with executing(settings) as executor:
            plan = plan_of(task("one", query), task("two", query))
            return await executor.execute(plan, Ledger(plan.budget))

    done = asyncio.run(work())
    assert done.outcome == "failed"
    assert {result.error.code for result in done.results if result.error} == {code}


def test_a_task_is_skipped_when_the_others_found_enough_and_nothing_is_lost(settings: Settings) -> None:
    async def work(query: str) -> Execution:
        async with executing(settings) as executor:
            plan = plan_of(task("one", query), task("two", "raises", after=["one"], unless=0.8))
            return await executor.execute(plan, Ledger(plan.budget))

    enough, too_little = asyncio.run(work("sure")), asyncio.run(work("fine"))
    assert [result.status for result in enough.results] == ["success", "skipped"]
    assert (enough.outcome, enough.warnings) == ("complete", [])
    assert [result.status for result in too_little.results] == ["success", "error"]
    assert too_little.outcome == "degraded"


def test_the_time_of_the_answer_limits_every_task(settings: Settings) -> None:
    async def work() -> Execution:
        async with executing(settings) as executor:
            plan = plan_of(task("one", "hangs"), task("two", "hangs", after=["one"]), seconds=0.3)
            return await executor.execute(plan, Ledger(plan.budget))

    done = asyncio.run(work())
    assert [result.status for result in done.results] == ["timeout", "skipped"]
    assert done.results[1].error is not None
    assert done.results[1].error.code == "out_of_time"


def test_a_cancelled_plan_leaves_no_connection_taken(settings: Settings) -> None:
    async def work() -> int:
        async with Corpus.open(settings) as corpus:
            before = len(asyncio.all_tasks())
            executor = Executor(corpus, OrchestratorEngine(corpus), {"corpus": Faulty()})
            plan = plan_of(*(task(f"t{n}", "holds a connection", deadline=9) for n in range(8)))
            running = asyncio.create_task(executor.execute(plan, Ledger(plan.budget)))
            await asyncio.sleep(0.3)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert len(asyncio.all_tasks()) <= before + 1, "one more may give connections back"
            free = 0
            for _ in range(8):
                async with corpus.database.connection():
                    free += 1
            return free

    assert asyncio.run(work()) == 8


def test_a_task_that_is_late_with_a_connection_ends_in_time(settings: Settings) -> None:
    async def work() -> Execution:
        async with executing(settings) as executor:
            plan = plan_of(*(task(f"t{n}", "holds a connection") for n in range(8)))
            return await executor.execute(plan, Ledger(plan.budget))

    done = asyncio.run(work())
    assert [result.status for result in done.results] == ["timeout"] * 8


def test_every_task_is_told_of_once_as_it_ends(settings: Settings) -> None:
    told: list[tuple[str, str]] = []

    async def work() -> None:
        async with executing(settings) as executor:
            plan = plan_of(
                task("last", "fine", after=["sure"], unless=0.5), task("sure", "sure"), task("bad", "raises")
            )
            await executor.execute(
                plan, Ledger(plan.budget), on_end=lambda task, result: told.append((task.id, result.status))
            )

    asyncio.run(work())
    assert sorted(told) == [("bad", "error"), ("last", "skipped"), ("sure", "success")]


def test_an_unknown_agent_is_an_error(settings: Settings) -> None:
    async def work() -> Execution:
        async with Corpus.open(settings) as corpus:
            plan = plan_of(task("one", "fine"))
            return await Executor(corpus, OrchestratorEngine(corpus), {}).execute(plan, Ledger(plan.budget))

    [result] = asyncio.run(work()).results
    assert result.error is not None
    assert (result.status, result.error.code) == ("error", "unknown_agent")
