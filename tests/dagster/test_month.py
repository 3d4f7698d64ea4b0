"""Bad days of a site, through sensors, runs and alerts: each is told once, so is each recovery, and no text is lost."""

from __future__ import annotations

import dagster as dg
import pytest

from benchmarks.platform.month import PAGES, Month, environment, load_days, webhook
from benchmarks.platform.versioned_site import versioned_site

pytestmark = pytest.mark.slow

STRETCHES = {
    "down": (1, 3, 6, 7, 8),
    "forbidden": (1, 14, 15, 23, 24),
    "replaced": (1, 16, 17, 18, 20),
}


@pytest.mark.parametrize("name", STRETCHES)
@pytest.mark.usefixtures("corpus_environment")
def test_each_bad_day_is_told_once(
    name: str, definitions: dg.Definitions, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = [day for day in load_days() if day.day in STRETCHES[name]]
    monkeypatch.delenv("WEBRAG_WARC")
    with webhook() as (hook, alerts), versioned_site(PAGES) as site:
        for setting, value in environment(site, hook).items():
            monkeypatch.setenv(setting, value)
        month = Month(site, definitions, instance, alerts)
        results = list(month.run(days))
    assert [(one.event, one.told) for one in results] == [(day.event, day.told) for day in days]
    assert sum(one.recovered for one in results) == (2 if name == "forbidden" else 1)
    assert [one.violations for one in results] == [[]] * len(days)
    assert (results[-1].wrong, results[-1].missing) == ([], [])
    assert month.watched.missed() == []
    assert [one.false_news for one in results] == [[]] * len(days)
    assert max(one.embedded for one in results[1:]) <= 3
