"""Failing checks are told once when they begin to fail, once when they get worse, and once when they pass again."""

from collections.abc import Callable, Sequence

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.provider_server import serving
from webrag_dagster.check_states import ERROR, PASSED, WARNING, CheckState, Evaluation, follow
from webrag_dagster.defs.check_alerts import alert_on_checks
from webrag_dagster.resources import CorpusResource

SOURCES = dg.DynamicPartitionsDefinition(name="webrag_source")
WARN, SEVERE = dg.AssetCheckSeverity.WARN, dg.AssetCheckSeverity.ERROR
VERDICTS: dict[str, tuple[bool, dg.AssetCheckSeverity]] = {}


@dg.asset(partitions_def=SOURCES, check_specs=[dg.AssetCheckSpec("answers", asset="pages", partitions_def=SOURCES)])
def pages(context: dg.AssetExecutionContext) -> object:
    """Fails where its check is an error."""
    passed, severity = VERDICTS["answers"]
    yield dg.AssetCheckResult(check_name="answers", passed=passed, severity=severity)
    if not passed and severity is SEVERE:
        raise dg.Failure("no page answers")
    yield dg.MaterializeResult()


def check(name: str, *, blocking: bool = False) -> dg.AssetChecksDefinition:
    """With the verdict that the test sets."""

    @dg.asset_check(asset=pages, name=name, blocking=blocking, partitions_def=SOURCES)
    def verdict() -> dg.AssetCheckResult:
        passed, severity = VERDICTS[name]
        return dg.AssetCheckResult(passed=passed, severity=severity)

    return verdict


DEFINITIONS = dg.Definitions(
    assets=[pages],
    asset_checks=[check("regression"), check("balance", blocking=True)],
    jobs=[dg.define_asset_job("read", selection=[pages], executor_def=dg.in_process_executor)],
)


@pytest.mark.slow
def test_each_verdict_is_told_once_by_run_or_by_check(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance.add_dynamic_partitions("webrag_source", ["tea", "coffee"])
    cursor: str | None = None

    def day(key: str = "tea", **verdicts: dg.AssetCheckSeverity) -> None:
        VERDICTS.update({name: (name not in verdicts, verdicts.get(name, WARN)) for name in NAMES})
        DEFINITIONS.resolve_job_def("read").execute_in_process(
            instance=instance, partition_key=key, raise_on_error=False
        )

    def tick() -> None:
        nonlocal cursor
        with dg.build_sensor_context(instance=instance, cursor=cursor) as context:
            result = alert_on_checks(context, corpus=CorpusResource())
        assert isinstance(result, dg.SensorResult)
        cursor = result.cursor

    for verdicts in ({"regression": SEVERE, "balance": SEVERE}, {"regression": SEVERE}):
        day(**verdicts)
    for verdicts in ({"regression": SEVERE}, {}):
        day("coffee", **verdicts)
    with serving({}) as server:
        tick()  # no address is set
        assert server.calls == []
        monkeypatch.setenv("ALERT_WEBHOOK", server.url)
        tick()  # what fails now is told, what passes again is not
        tick()
        assert [call.body["text"].split("\n")[2:] for call in server.calls] == [
            ["/assets/pages regression: error, source tea"]
        ]

        def said(*steps: Callable[[], None]) -> list[tuple[str, list[str]]]:
            server.calls.clear()
            for step in steps:
                step()
                tick()
                tick()
            return [(call.body["kind"], call.body["text"].split("\n")[2:]) for call in server.calls]

        red = "/assets/pages regression: error, source tea"
        green = "/assets/pages regression: passes, source tea"
        assert said(day, lambda: day(regression=SEVERE), lambda: day(regression=SEVERE)) == [
            ("recovered", [green]),
            ("check_failed", [red]),
        ]
        assert said(lambda: day("coffee", regression=SEVERE)) == [("check_failed", [red.replace("tea", "coffee")])]
        assert said(day) == [("recovered", [green])]
        assert said(lambda: day(regression=WARN), day) == []
        assert said(lambda: day(balance=SEVERE), lambda: day(answers=SEVERE)) == []  # their runs failed
        assert said(day) == [
            ("recovered", ["/assets/pages answers: passes, source tea", "/assets/pages balance: passes, source tea"])
        ]
        monkeypatch.setenv("ALERT_CHECKS", "warn")
        assert said(lambda: day(answers=WARN, regression=WARN)) == [
            (
                "check_failed",
                ["/assets/pages answers: warning, source tea", "/assets/pages regression: warning, source tea"],
            )
        ]


NAMES = ("answers", "regression", "balance")
LEVEL = st.sampled_from([PASSED, WARNING, ERROR])


@given(
    st.lists(
        st.lists(
            st.builds(Evaluation, st.just("a"), st.sampled_from("xy"), st.just(""), LEVEL, st.booleans()),
            max_size=2,
            unique_by=lambda one: one.check,
        ),
        max_size=12,
    ),
    st.sampled_from([WARNING, ERROR]),
)
def test_what_is_told_alternates_and_ends_with_the_truth(runs: Sequence[Sequence[Evaluation]], least: int) -> None:
    states: dict[str, CheckState] = {}
    known: dict[str, bool] = {}
    for run in runs:
        told = follow(states, run, least)
        states = told.states
        for one in run:
            if one.run_failed and one.level > PASSED:
                known[one.check] = True
        for one in told.worse:
            assert one.level >= least
            assert not one.run_failed
            known[one.check] = True
        for one in told.recovered:
            assert known.pop(one.check)
        for one in run:
            if one.level == PASSED:
                assert one.check not in known
            elif one.level >= least:
                assert known[one.check]
    assert not follow(states, runs[-1] if runs else [], least).recovered or not runs
