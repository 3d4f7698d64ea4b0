-- What the scorer reads of a child (indexing/passages.py), so that no search has to cut texts into terms and tokens.

ALTER TABLE chunks ADD COLUMN passage bytea;               -- children; NULL where an older version wrote the chunk

-- with everything that BM25 adds up in the index, so that a term's postings lie side by side
ALTER TABLE lexical_postings DROP CONSTRAINT lexical_postings_pkey,
    ADD PRIMARY KEY (term_id, document_id, chunk_id) INCLUDE (frequency, length);
