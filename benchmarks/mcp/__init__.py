"""Benchmarks of the MCP server."""
