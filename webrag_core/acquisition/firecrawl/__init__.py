"""Pages and page lists through Firecrawl."""
