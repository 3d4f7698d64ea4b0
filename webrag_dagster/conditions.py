"""When the corpus assets are made again by themselves: the named automation conditions.

Edges, not levels: a change of a data version or of a code version asks once, for the partition that changed. An edge
that falls into a run waits for its end.
"""

from __future__ import annotations

import dagster as dg

A = dg.AutomationCondition
Condition = dg.AutomationCondition[dg.AssetKey]


def refreshed_when_seen_to_change() -> Condition:
    """For `documents`: its site was seen to change, or the conversion is another one.

    Only a request of its own resets it, and not one from before the change was seen. A refresh that was under way by
    then may have read the page before it changed, so its end settles nothing.
    """
    change = A.any_deps_match(A.data_version_changed())
    seen = change.since(A.newly_requested() & ~change)
    converted_otherwise = (A.code_version_changed() & ~A.missing()).since(A.newly_requested())
    return ((seen | converted_otherwise) & ~A.in_progress()).with_label("refreshed_when_seen_to_change")


def made_again_on_change() -> Condition:
    """For everything below `documents`: what it is made of changed, or will in this tick, or the code is another one.

    An update from anywhere resets it, whether a schedule, a person or an answer run made it. What failed is tried
    again once an hour.
    """
    handled = A.newly_requested() | A.newly_updated()
    upstream = A.any_deps_match(A.data_version_changed()).since(handled)
    together = A.any_deps_match(A.will_be_requested())
    made_otherwise = (A.code_version_changed() & ~A.missing()).since(handled)
    once_more = (A.execution_failed() & A.cron_tick_passed("0 * * * *")).since(handled)
    wanted = upstream | together | made_otherwise | once_more
    return (wanted & ~A.in_progress() & ~A.any_deps_in_progress()).with_label("made_again_on_change")
