"""Benchmarks: speed, memory, crashes, hostile pages. Each is a command of the Makefile."""
