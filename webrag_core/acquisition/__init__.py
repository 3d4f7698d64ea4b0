"""A URL becomes bytes: the network gate, URL rules, robots, politeness, site maps, WARC replay, Firecrawl."""
