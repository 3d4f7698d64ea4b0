"""Answers in prose: evidence of golden questions, what is made of it, and how right that is."""
