"""Search of what is stored: lexical, dense, fused, reranked, with citations. Nothing is fetched."""
