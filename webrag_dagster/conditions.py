"""Automation conditions of the corpus assets.

Conditions react to edges: a change of a data or code version requests one run of the changed partition. A change
during a run is handled after that run.
"""

from __future__ import annotations

import dagster as dg

A = dg.AutomationCondition
Condition = dg.AutomationCondition[dg.AssetKey]


def refresh_on_change() -> Condition:
    """For `documents`: true after an observed change of the site, or a new version of the conversion.

    Only a later request resets it. A refresh already in progress may have read the page before the change, so its end
    does not.
    """
    change = A.any_deps_match(A.data_version_changed())
    seen = change.since(A.newly_requested() & ~change)
    converted_otherwise = (A.code_version_changed() & ~A.missing()).since(A.newly_requested())
    return ((seen | converted_otherwise) & ~A.in_progress()).with_label("refresh_on_change")


def rebuild_on_change() -> Condition:
    """For assets downstream of `documents`: true when an input changed or will change in this tick, or the code did.

    Any update resets it: by schedule, by hand or by an answer run. Failures are retried once an hour. False while an
    input was never made: a source that gave no page has nothing to build.
    """
    handled = A.newly_requested() | A.newly_updated()
    upstream = A.any_deps_match(A.data_version_changed()).since(handled)
    together = A.any_deps_match(A.will_be_requested())
    made_otherwise = (A.code_version_changed() & ~A.missing()).since(handled)
    once_more = (A.execution_failed() & A.cron_tick_passed("0 * * * *")).since(handled)
    stale = upstream | together | made_otherwise | once_more
    nothing_to_build_on = A.any_deps_match(A.missing() & ~A.will_be_requested())
    return (stale & ~nothing_to_build_on & ~A.in_progress() & ~A.any_deps_in_progress()).with_label("rebuild_on_change")
