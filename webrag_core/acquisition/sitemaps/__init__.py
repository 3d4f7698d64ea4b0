"""Discovery files of a site: sitemaps, feeds and Sphinx inventories."""
