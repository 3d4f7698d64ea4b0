-- Nothing is stored twice: children are slices of their parents, one row of postings per parent, one copy of a vector.

DROP VIEW contract.v_chunk;
ALTER TABLE chunks DROP COLUMN html, ALTER COLUMN body DROP NOT NULL;
-- changing the type writes the table anew, without the bytes of the children
ALTER TABLE chunks ALTER COLUMN body TYPE text USING CASE WHEN level = 'parent' THEN body END;
ALTER TABLE chunks ADD CHECK ((level = 'parent') = (body IS NOT NULL));
CREATE INDEX chunks_embed_sha256 ON chunks (embed_sha256) WHERE embed_sha256 IS NOT NULL;

CREATE VIEW contract.v_chunk AS
SELECT c.id AS chunk_id, c.document_id AS doc_id, v.number AS version, c.level, c.ordinal AS ord,
       c.char_start AS start_off, c.char_end AS end_off,
       coalesce(c.body, substr(p.body, c.char_start - p.char_start + 1, c.char_end - c.char_start)) AS text,
       CASE c.level WHEN 'parent' THEN v.parent_count ELSE v.child_count END AS n_expected
FROM chunks c JOIN document_versions v ON v.id = c.version_id LEFT JOIN chunks p ON p.id = c.parent_id;

-- Term and frequency are one number, so that the index alone tells both and a row is read only for its length.
ALTER TABLE lexical_postings RENAME TO old_postings;
ALTER INDEX lexical_postings_pkey RENAME TO old_postings_pkey;
ALTER INDEX lexical_postings_document RENAME TO old_postings_document;
ALTER TABLE lexical_terms ADD CHECK (id < 268435456);          -- times 8 it is an integer
CREATE TABLE lexical_postings (
    chunk_id    bigint PRIMARY KEY,
    document_id integer NOT NULL,
    length      integer NOT NULL,                              -- terms in the chunk
    terms       integer[] NOT NULL,                            -- 8 * term id + frequency; + 0 for a frequency above 7
    frequent    integer[] NOT NULL                             -- -term id, frequency, … for those frequencies
) WITH (toast_tuple_target = 128);                             -- keeps `terms` out of the rows
ALTER TABLE lexical_postings ALTER terms SET STORAGE EXTERNAL, ALTER frequent SET STORAGE MAIN;
INSERT INTO lexical_postings
SELECT o.chunk_id, o.document_id, max(o.length),
       array_agg(8 * o.term_id + CASE WHEN o.frequency < 8 THEN o.frequency ELSE 0 END ORDER BY o.term_id),
       coalesce(f.pairs, '{}')
FROM old_postings o LEFT JOIN (
    SELECT chunk_id, array_agg(number ORDER BY term_id, place) AS pairs
    FROM old_postings CROSS JOIN LATERAL unnest(ARRAY[-term_id, frequency]) WITH ORDINALITY AS pair (number, place)
    WHERE frequency > 7 GROUP BY chunk_id
) f USING (chunk_id)
GROUP BY o.chunk_id, o.document_id, f.pairs;
DROP TABLE old_postings;
CREATE INDEX lexical_postings_document ON lexical_postings (document_id);
CREATE INDEX lexical_postings_terms ON lexical_postings USING gin (terms) WITH (fastupdate = off);

-- The cache holds only texts whose vector no row of the model's table has; `source_id` of those was never read.
DO $$
DECLARE model integer;
BEGIN
    CREATE TEMP TABLE kept ON COMMIT DROP AS SELECT * FROM embedding_cache WHERE false;
    FOR model IN SELECT id FROM embedding_models LOOP
        EXECUTE format('INSERT INTO kept SELECT k.* FROM embedding_cache k WHERE k.model_id = %1$s AND NOT EXISTS'
            ' (SELECT FROM chunks c JOIN vectors_%1$s e ON e.chunk_id = c.id WHERE c.embed_sha256 = k.text_sha256)', model);
        EXECUTE format('ALTER TABLE vectors_%s DROP COLUMN IF EXISTS source_id', model);
    END LOOP;
    TRUNCATE embedding_cache;
    INSERT INTO embedding_cache SELECT * FROM kept;
END $$;
