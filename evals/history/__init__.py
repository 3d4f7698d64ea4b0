"""Measurements of what the corpus knows about time, on releases of real documentation under one address."""
