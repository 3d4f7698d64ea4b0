"""Answers in prose: every sentence is built from the evidence by moves that code can undo, and proved again."""
