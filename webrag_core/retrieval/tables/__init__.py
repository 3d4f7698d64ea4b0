"""Values looked up in tables and definition lists of stored pages, each with its exact place."""
