"""Pages and site maps through Firecrawl."""
