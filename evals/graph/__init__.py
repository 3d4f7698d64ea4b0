"""Judge the graph by structures of the pages that extraction never sees."""
