"""What pictures need of Dagster's instance: the end of a run, and scores without the hour that walks would take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from webrag_dagster.evaluation.gate import gate, last_passing

SUITE = "sitewalk_python_3_11"


@contextmanager
def _instance(home: Path) -> Iterator[dg.DagsterInstance]:
    """The instance of `webrag up` with this WEBRAG_HOME."""
    with dg.DagsterInstance.from_config(str(home / "dagster")) as instance:
        yield instance


def await_run(home: Path, run_id: str, seconds: float) -> None:
    """Wait until the run has ended. Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    with _instance(home) as instance:
        while (run := instance.get_run_by_id(run_id)) is None or not run.is_finished:
            if time.monotonic() > deadline:
                raise TimeoutError(f"run {run_id} is still at work after {seconds:g} s")
            time.sleep(0.2)


def three_nights(home: Path) -> None:
    """Store scores of three nights on the instance of `webrag up` with this WEBRAG_HOME, as the evaluation asset would:
    of four questions three, four and two succeed."""
    with _instance(home) as instance:
        for successes in (3, 4, 2):
            now = {f"python-00{item}": {"success": float(item < successes)} for item in range(4)}
            result, kept = gate(
                "no_regression",
                last_passing(instance, SUITE),
                now,
                clusters={item: item for item in now},
                metrics=("success",),
                accept=False,
            )
            metadata = {"success": dg.MetadataValue.float(successes / 4), **kept}
            instance.report_runless_asset_event(dg.AssetMaterialization(dg.AssetKey(SUITE), metadata=metadata))
            instance.report_runless_asset_event(
                dg.AssetCheckEvaluation(
                    asset_key=dg.AssetKey(SUITE),
                    check_name="no_regression",
                    passed=result.passed,
                    description=result.description,
                    metadata={name: value for name, value in result.metadata.items() if name != "compared_with"},
                )
            )
