"""Layer 3: pure search in scope, no fetching. Faces: `search.Searcher`, `citations.extract_citation`."""
