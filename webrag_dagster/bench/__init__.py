"""Benchmarks of the platform. Each is a command of the Makefile."""
