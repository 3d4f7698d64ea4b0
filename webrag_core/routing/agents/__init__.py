"""Agents: what can be asked for evidence, behind one protocol."""
