"""Evaluation: golden queries, frozen sites, scoring. Pure Python over the core; no Dagster."""
