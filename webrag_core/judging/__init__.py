"""Decisions whether evidence suffices, by those who read it."""
