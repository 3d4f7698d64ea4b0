"""Showing a result: its elements are chosen once, and written for a terminal, as Markdown, as HTML or for a model."""
