"""Attacks on every door, with payloads of our own: what must not happen, counted."""
