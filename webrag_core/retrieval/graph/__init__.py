"""Read the graph: what is near, above, below and linked to a thing, and what was on a date."""
