"""A corpus as one file, and the way back: `webrag backup`, `webrag restore`."""
