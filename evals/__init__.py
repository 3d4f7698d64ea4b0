"""Evaluation: golden queries, WARC snapshots, scoring. Pure Python over the core; no Dagster."""
