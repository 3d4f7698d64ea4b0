"""Charsets that nothing declares: read by how likely their letters are in each language."""
