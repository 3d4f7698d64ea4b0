"""A stored version becomes chunks, vectors and postings."""
