"""The graph: nodes and edges of one version, and the tables that hold them."""
