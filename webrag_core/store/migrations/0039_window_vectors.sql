-- Meanings of stored passages by the small encoder, a second dense channel beside the vectors of the embedding model.
-- By text, so that versions and pages with the same words share a row; made in the background, never while indexing.
-- Another encoder or another way to pool needs a migration that empties the table.

CREATE TABLE window_vectors (
    text_sha256 text PRIMARY KEY,                -- as chunks.embed_sha256
    embedding halfvec(384) NOT NULL,             -- of unit length
    cpu_ms real NOT NULL CHECK (cpu_ms >= 0)     -- what it took, for the estimate of what is left
);

COMMENT ON COLUMN window_vectors.text_sha256 IS 'of the text of a child chunk: chunks.embed_sha256';
COMMENT ON COLUMN window_vectors.embedding IS 'mean of the token states of the small encoder, at unit length';
COMMENT ON COLUMN window_vectors.cpu_ms IS 'milliseconds of processor time that it took';
