"""The map of a site: sitemaps, feeds, Sphinx inventories, and how they are read."""
