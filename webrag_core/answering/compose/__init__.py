"""Composing an answer: which units of the evidence are said, and how."""
