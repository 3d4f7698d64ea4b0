"""Benchmarks of answer runs."""
