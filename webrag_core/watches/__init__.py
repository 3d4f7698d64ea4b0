"""Watches: what somebody wants to be told of a page, a section or a question, and when."""
