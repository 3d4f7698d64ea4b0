"""Benchmarks of the Dagster platform, with its real daemon."""
