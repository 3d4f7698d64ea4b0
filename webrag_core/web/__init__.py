"""The page to ask on, and what else a browser shows of the corpus; REST and the MCP server on the same port."""
