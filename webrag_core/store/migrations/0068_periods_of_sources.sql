-- The source of each period: the latest changes of a source are the end of an index, however many it had.

ALTER TABLE version_periods ADD COLUMN source_id integer;
UPDATE version_periods p SET source_id = d.source_id FROM documents d WHERE d.id = p.document_id;
SET CONSTRAINTS ALL IMMEDIATE;
ALTER TABLE version_periods ALTER COLUMN source_id SET NOT NULL;
CREATE INDEX version_periods_of_source ON version_periods (source_id, seen_from);

CREATE FUNCTION place_period() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT source_id INTO NEW.source_id FROM documents WHERE id = NEW.document_id;
    RETURN NEW;
END $$;
CREATE TRIGGER periods_placed BEFORE INSERT ON version_periods FOR EACH ROW WHEN (NEW.source_id IS NULL)
    EXECUTE FUNCTION place_period();

CREATE FUNCTION move_periods() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE version_periods SET source_id = NEW.source_id WHERE document_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER documents_moved_periods AFTER UPDATE OF source_id ON documents
    FOR EACH ROW WHEN (OLD.source_id IS DISTINCT FROM NEW.source_id) EXECUTE FUNCTION move_periods();
