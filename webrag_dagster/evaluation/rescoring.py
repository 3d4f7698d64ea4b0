"""When evaluations run by themselves: after an edit of what they judge, once."""

from __future__ import annotations

from datetime import timedelta

import dagster as dg

A = dg.AutomationCondition

RESCORE = (
    # latched until it is asked for: an edit while a run is in progress is scored after that run
    (A.code_version_changed() & ~A.missing()).since(A.newly_requested()) & ~A.in_progress()
).with_label("policy or goldens edited")
"""For unpartitioned evaluation assets. An asset that was never scored waits for the nightly schedule."""

NIGHTLY = dg.FreshnessPolicy.time_window(warn_window=timedelta(hours=36), fail_window=timedelta(days=3))
"""Scored every night: one night may be missed, a weekend not. What was never scored has no freshness."""
