-- What documents hold, counted when they become current: a search must not count half a million chunks to choose its way.

CREATE TABLE document_sizes (
    document_id integer PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    parents     integer NOT NULL,
    children    integer NOT NULL,
    tokens      bigint NOT NULL                            -- of the parents
);
-- the same per combination of chunk flags; chunks without any are left out
CREATE TABLE document_flag_sizes (
    document_id integer NOT NULL REFERENCES documents ON DELETE CASCADE,
    flags       text[] NOT NULL CHECK (flags <> '{}'),
    parents     integer NOT NULL,
    children    integer NOT NULL,
    tokens      bigint NOT NULL,
    PRIMARY KEY (document_id, flags)
);

CREATE FUNCTION measure_document(wanted integer, version integer) RETURNS void LANGUAGE sql AS $$
    DELETE FROM document_sizes WHERE document_id = wanted;
    DELETE FROM document_flag_sizes WHERE document_id = wanted;
    INSERT INTO document_sizes
    SELECT wanted, count(*) FILTER (WHERE level = 'parent'), count(*) FILTER (WHERE level = 'child'),
           coalesce(sum(token_count) FILTER (WHERE level = 'parent'), 0)
    FROM chunks WHERE version_id = version HAVING count(*) > 0;
    INSERT INTO document_flag_sizes
    SELECT wanted, flags, count(*) FILTER (WHERE level = 'parent'), count(*) FILTER (WHERE level = 'child'),
           coalesce(sum(token_count) FILTER (WHERE level = 'parent'), 0)
    FROM chunks WHERE version_id = version AND flags <> '{}' GROUP BY flags;
$$;

-- a trigger, so that no writer can forget it
CREATE FUNCTION measure_current() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM measure_document(NEW.id, NEW.current_version);
    RETURN NULL;
END $$;
CREATE TRIGGER documents_measured AFTER INSERT OR UPDATE OF current_version ON documents
    FOR EACH ROW EXECUTE FUNCTION measure_current();

-- the current version was cut anew: its counts are written after its chunks
CREATE FUNCTION measure_recut() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM measure_document(d.id, d.current_version) FROM documents d
    WHERE d.id = NEW.document_id AND d.current_version = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER versions_measured AFTER UPDATE OF parent_count, child_count ON document_versions
    FOR EACH ROW EXECUTE FUNCTION measure_recut();

SELECT measure_document(id, current_version) FROM documents WHERE current_version IS NOT NULL;

-- a document's chunks (deleting the old ones, too), and the few that carry a rare flag
CREATE INDEX chunks_document ON chunks (document_id);
CREATE INDEX chunks_flags ON chunks USING gin (flags) WHERE level = 'child';

-- graphs over whole vectors: searches now read one over half precision, which the next bulk load builds
DO $$
DECLARE graph text;
BEGIN
    FOR graph IN SELECT indexname FROM pg_indexes WHERE indexname ~ '^vectors_[0-9]+_hnsw$' LOOP
        EXECUTE format('DROP INDEX %I', graph);
    END LOOP;
END $$;
