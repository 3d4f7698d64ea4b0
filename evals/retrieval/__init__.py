"""Retrieval quality on questions with exact evidence spans."""
