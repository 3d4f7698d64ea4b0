"""Benchmarks of ingestion, refresh and indexing."""
