"""Layer 2: a stored version becomes chunks, vectors and postings. Faces: `corpus.Corpus`, `indexer.Indexer`."""
