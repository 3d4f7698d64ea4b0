"""Proving a sentence against the stored pages. Knows nothing of how it was composed."""
