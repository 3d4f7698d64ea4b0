"""Search of the stored pages: lexical, dense, fused, reranked, with citations. Fetches nothing."""
