"""Benchmarks of the graph."""
