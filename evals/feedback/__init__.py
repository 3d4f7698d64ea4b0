"""The gate of releases of scorer weights."""
