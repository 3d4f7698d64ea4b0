"""Bytes become Markdown, links and metadata: pure functions, run in worker processes that can be killed."""
