"""A URL becomes bytes: the network gate, URL rules, robots, politeness, sitemaps, WARC replay, Firecrawl."""
