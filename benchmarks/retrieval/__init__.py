"""Benchmarks of search."""
