"""Languages: which one a text is in, and how its words become search terms."""
