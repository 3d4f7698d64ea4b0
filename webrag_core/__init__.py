"""WebRAG core: the library. Knows nothing of Dagster or of any user interface."""
